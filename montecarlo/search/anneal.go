package search

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"belsim/theory/base/parallel"
)

// anneal runs the chains of a round, each from one of the codes. Where there are more chains than
// codes, several chains begin from one code with different random numbers. When the context ends,
// the chains end.
func (o *Options) anneal(ctx context.Context, round int, from []candidate) []candidate {
	out := make([]candidate, chainCount)
	for i := range out {
		out[i] = from[i%len(from)]
		out[i].words = from[i%len(from)].words.clone()
	}
	report := o.reporter(from[0].Mean)
	_ = parallel.Each(ctx, o.workers(), chainCount, func() (func(context.Context, int) error, error) {
		return func(ctx context.Context, i int) error {
			const all = rounds * chainCount
			steps := (o.Steps + uint64(all-1-round*chainCount-i)) / all
			o.start(ctx, round, o.rng(uint64(round), uint64(i)), &out[i]).anneal(ctx, report, steps)
			return nil
		}, nil
	})
	return out
}

// reporter returns what chains tell their progress, one after another.
func (o *Options) reporter(smallest float64) progress {
	var mu sync.Mutex
	report := func(steps uint64, best float64) {
		if o.Progress != nil {
			mu.Lock()
			defer mu.Unlock()
			smallest = min(smallest, best)
			o.Progress(steps, smallest)
		}
	}
	report(0, smallest)
	return report
}

// The temperature of a chain falls from hottest to coldest. Its unit is the error of the code that the chain
// begins from.
const (
	hottest = 0.005
	coldest = 2e-5
)

// annealing is a chain with the evaluators of its code. Where codes are sampled, a few samples are enough
// to reject most moves, and fewer reject half of these. They are other samples than those that decide,
// which are the last (delayed acceptance; Christen and Fox, J. Comput. Graph. Stat. 14, 2005).
type annealing struct {
	*chain
	rng          *rand.Rand
	evaluators   []evaluator
	errors, seen []float64  // of the chain's code, and of the move, by evaluator
	best         *candidate // the best code until now; its Mean is by the chain's samples
}

// start begins a chain at a code.
func (o *Options) start(ctx context.Context, round int, rng *rand.Rand, c *candidate) *annealing {
	a := &annealing{chain: newChain(c.words.clone(), o), rng: rng, best: c}
	for i, fewer := range [...]int{32, 8, 1} {
		if fewer == 1 || !o.exact() {
			a.evaluators = append(a.evaluators, o.evaluator(guides<<round/fewer, o.seed(forGuides+uint64(round+i*rounds))))
		}
	}
	for _, x := range a.evaluators {
		a.errors = append(a.errors, x.reset(ctx, c.words))
	}
	a.seen = slices.Clone(a.errors)
	c.Mean = a.errors[len(a.errors)-1]
	return a
}

// anneal tries a number of moves, and stores the best code that it has seen.
func (a *annealing) anneal(ctx context.Context, report progress, steps uint64) {
	scale := a.best.Mean
	const look = 16 // steps between two reports
	for step := uint64(0); ctx.Err() == nil; step++ {
		if step%look == 0 && step > 0 {
			report(look, a.best.Mean)
		}
		if step == steps || a.best.Mean == 0 { // no error is below 0
			report(step%look, a.best.Mean)
			break
		}
		if !a.step(ctx, scale*hottest*math.Pow(coldest/hottest, float64(step)/float64(steps))) {
			a.undo()
		}
	}
}

// step tries a move at a temperature. It reports whether the move is accepted. A few samples reject a move
// that is worse than accepted by two standard errors of the difference, which few moves are by chance.
func (a *annealing) step(ctx context.Context, temperature float64) (accepted bool) {
	if !a.propose(a.rng) {
		return false
	}
	loss := temperature * a.rng.ExpFloat64() // the largest that is accepted
	last := len(a.evaluators) - 1
	for i, x := range a.evaluators {
		a.seen[i] = x.update(ctx, a.words, a.move)
		doubt := 0.0
		if i < last {
			doubt = 2 * x.noise()
		}
		if !(a.seen[i] <= a.errors[i]+loss+doubt) {
			for _, x := range a.evaluators[:i+1] {
				x.reject()
			}
			return false
		}
	}
	copy(a.errors, a.seen)
	if a.errors[last] < a.best.Mean {
		a.best.Mean = a.errors[last]
		copy(a.best.words.rows, a.rows)
	}
	return true
}
