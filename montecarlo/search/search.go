// Package search looks for code matrices with a small expected error.
//
// Shah, Xue and Aamodt (ICLR 2022) leave the systematic optimization of encoding functions to
// future work. Two older problems are close to it:
//
//   - Output codes for classification. Randomized hill climbing found such codes (Dietterich
//     and Bakiri, "Solving multiclass learning problems via error-correcting output codes",
//     JAIR 2, 1995).
//   - The assignment of binary indices to the levels of a quantizer, so that errors of a
//     channel cost little. It was solved by swapping the words of two levels: greedily
//     (Zeger and Gersho, "Pseudo-Gray coding", IEEE Trans. Commun. 38, 1990), and by
//     simulated annealing, which finds better assignments (Farvardin, "A study of vector
//     quantization for noisy channels", IEEE Trans. Inf. Theory 36, 1990). El Gamal,
//     Hemachandra, Shperling and Wei ("Using simulated annealing to design good codes",
//     IEEE Trans. Inf. Theory 33, 1987) anneal the code words themselves.
//
// This package uses simulated annealing, too, with moves for this problem. Here the channel
// depends on the code, because each transition of a bit brings its own errors.
//
// A search is a tournament of annealings. Each round anneals a fixed number of chains. Each
// chain has its own random numbers. After a round, other samples judge the codes of the
// chains, and the better codes replace the others. Chains never look at each other or at
// the clock, so a number of steps gives the same result on any number of processors.
//
// An [Optimizer] searches for a scenario, and reports what was found beside the named codes.
package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"belsim/errmodel"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
	"belsim/theory/cost"
)

// Options describe the code to search for, and the length of the search.
type Options struct {
	Levels, Bits int
	Circular     bool      // level 1 follows level L
	Prior        []float64 // length L
	Cost         cost.Cost // of answers
	// Column gives the error probabilities of a bit with given transitions.
	Column errmodel.Column
	Codes  []*code.Code // to begin from, and to compare with, besides the named ones

	MaxTransitions int  // largest number of transitions of a bit; 0 or less: any number
	Repeat         bool // columns with transitions may be equal or complementary

	// Limit is what no code has less than. A search ends before its steps where the best code has no more.
	Limit float64

	Workers int // goroutines; 0: as many as there are processors

	Seed  uint64
	Steps uint64 // number of moves

	// Progress, when set, is called from time to time with the number of moves since the
	// last call, and with the smallest error so far, estimated from the samples of the
	// search. Calls come from several goroutines, one after another.
	Progress progress
}

// progress is told how many moves were tried since the last call, and the smallest error.
type progress = func(steps uint64, best float64)

// candidate is a code of a search: one to begin from, one of a chain, or the result.
type candidate struct {
	Code  *code.Code // of the result; nil before
	Mean  float64    // |error| in levels; +Inf before it is known
	Start string     // the code that the search began from

	words *words
}

func newCandidate(start string, w *words) candidate {
	return candidate{Start: start, words: w, Mean: math.Inf(1)}
}

// The result of a seed depends on the number of rounds and of chains in each.
const (
	rounds     = 3
	chainCount = 8
)

// Numbers of samples of a level.
const (
	guides = 256              // that chains optimize on in the first round; twice as many in the next, and so on
	judges = guides << rounds // that choose among the codes of the chains: twice as many as in the last round
)

// maxBits is the largest number of bits of a search: a word of the machine.
const maxBits = 64

// Check returns an error where no code can satisfy the options.
func (o *Options) Check() error {
	switch {
	case o.Bits < 1:
		return fmt.Errorf("%d bits: impossible; want at least %d for %d levels", o.Bits, leastBits(o.Levels), o.Levels)
	case o.Bits < leastBits(o.Levels):
		return fmt.Errorf("impossible: %d bits have %d words; %d levels need at least %d bits", o.Bits, 1<<o.Bits,
			o.Levels, leastBits(o.Levels))
	case o.Bits > maxBits:
		return fmt.Errorf("%d bits: want at most %d", o.Bits, maxBits)
	case o.MaxTransitions > 0 && o.MaxTransitions < o.Levels && o.Bits*o.MaxTransitions < o.Levels-1:
		// Neighbouring words differ in a bit, so there are at least L−1 transitions.
		return fmt.Errorf("impossible: %d bits with at most %d each have at most %d transitions; %d levels need at least %d",
			o.Bits, o.MaxTransitions, o.Bits*o.MaxTransitions, o.Levels, o.Levels-1)
	}
	return nil
}

// search returns the code with the smallest error. When the context ends, it returns the best code
// so far and the error of the context.
func search(ctx context.Context, o Options) (*candidate, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	all, err := o.starts(ctx, o.rng(forStarts, 0))
	if err != nil {
		return nil, err
	}
	return o.from(ctx, all)
}

// from is a search from some codes.
func (o *Options) from(ctx context.Context, all []candidate) (*candidate, error) {
	all, err := o.rank(ctx, all, guides, forGuides)
	if err != nil {
		return nil, err
	}
	for round := range rounds {
		if all[0].Mean <= o.Limit {
			break
		}
		begin := all[:min(len(all), chainCount>>round)]
		chains := o.anneal(ctx, round, begin)
		// The codes from which chains begin are judged, too: a search never ends with a worse code
		// than it began with.
		if all, err = o.rank(ctx, slices.Concat(chains, begin), judges, forJudges); err != nil {
			return nil, err
		}
	}
	best := &all[0]
	if best.Code, err = best.words.code("found"); err != nil {
		return nil, fmt.Errorf("from %s: %w", best.Start, err)
	}
	return best, ctx.Err()
}

// Purposes of random numbers. The chains have the numbers 0, 1, …
const (
	forStarts = 1<<40 + iota
	forJudges
	forGuides // by round, of each evaluator of a chain
)

// seed returns the seed for a purpose. Seeds for different purposes are unrelated.
func (o *Options) seed(purpose uint64) uint64 { return mix(mix(o.Seed) + purpose) }

// rng returns the random numbers for a purpose.
func (o *Options) rng(purpose, number uint64) *rand.Rand {
	return rand.New(rand.NewPCG(o.seed(purpose), number))
}

// rank evaluates codes from a number of samples of a level, leaves out invalid codes, and sorts the
// others, the best first; there is at least one. When the context ends, it does not wait: the
// errors stay as they were.
func (o *Options) rank(ctx context.Context, all []candidate, samples int, purpose uint64) ([]candidate, error) {
	means := make([]float64, len(all))
	err := parallel.Each(ctx, o.workers(), len(all), func() (func(context.Context, int) error, error) {
		x := o.evaluator(samples, o.seed(purpose))
		return func(ctx context.Context, i int) error {
			means[i] = x.reset(ctx, all[i].words)
			return ctx.Err()
		}, nil
	})
	for i := range all {
		if err == nil {
			all[i].Mean = means[i]
		}
	}
	all = slices.DeleteFunc(all, func(c candidate) bool { return math.IsInf(c.Mean, 1) })
	if len(all) == 0 {
		return nil, cmp.Or(ctx.Err(), fmt.Errorf("impossible: no code of %d levels and %d bits was found that keeps to "+
			"the limits and has error probabilities of at most 1", o.Levels, o.Bits))
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.Mean, b.Mean) })
	return all, nil
}

// workers is the number of goroutines. It is at most the number of chains, because
// evaluators are large.
func (o *Options) workers() int { return min(parallel.Workers(o.Workers), chainCount) }

// Bytes estimates the memory of a search with Options.Workers workers: evaluators and a
// matrix of numbers for each worker, and the codes that the search begins from.
func Bytes(levels, bitCount, workers int) int64 {
	chains := int64(min(parallel.Workers(workers), chainCount) + 1)
	return chains*(sampledBytes(levels, bitCount, judges)+8*int64(levels)*int64(bitCount)) +
		64*int64(levels)*8
}
