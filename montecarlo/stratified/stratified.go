// Package stratified estimates the error of gen on hard decisions by samples of what an enclosure
// leaves over. Outcomes that package enclose decides are exact; random numbers are drawn for
// the others alone.
//
// What is left of a level has probability P, and is divided into K strata of the same probability,
// of outcomes that are alike. Two samples are drawn from each. With x and y their errors,
//
//	mean = known + P/K · Σ (x + y)/2
//	standard error = P/K · √(Σ (x − y)²/4)
//
// without bias, but for words that enclose leaves out, whose bound is added to the standard error.
// The variance is at most P times that of 2K plain samples of the level: strata of the same
// probability take away the variance between them, and the variance V of all outcomes is P times the one of
// those left plus terms that are not negative, so that P²·V(left)/2K ≤ P·V/2K.
//
// A sample depends on the seed, its level, the number of strata and its own, and on nothing else. Sums are
// integers, so that any number of workers gives the same result.
package stratified

import (
	"context"
	"errors"
	"fmt"
	"math"

	"belsim/montecarlo"
	"belsim/montecarlo/philox"
	"belsim/theory"
	"belsim/theory/base/parallel"
	"belsim/theory/enclose"
)

// Sums are the raw results of samples of one level. Those of different strata are added up.
type Sums struct {
	Pairs  uint64 // number of strata
	Abs    uint64 // Σ (x + y)
	Apart  uint64 // Σ (x − y)²
	Square uint64 // Σ (x² + y²)
	Within uint64 // number of samples of at most θ levels
}

// Add adds the samples of t.
func (s *Sums) Add(t Sums) {
	s.Pairs += t.Pairs
	s.Abs += t.Abs
	s.Apart += t.Apart
	s.Square += t.Square
	s.Within += t.Within
}

// Level is what is known of the |error| of a level, in levels.
type Level struct {
	Interval   enclose.Interval // holds the mean
	Left       float64          // the probability of what was sampled
	Mean       float64
	StdErr     float64 // its standard error, but for Slack
	Slack      float64 // by how much Mean can be wrong besides
	MeanSquare float64 // mean squared error, in levels²
	Within     float64 // share of outcomes with |error| ≤ θ
	Sums       Sums    // of what was sampled
}

// mostLeft is the largest part of a few levels that may be left over: beyond it, standard errors
// would hardly be smaller than those of plain samples, which are faster.
const mostLeft = 0.1

// trials is the number of levels that are tried first, with half of the work.
const trials = 4

// Fits reports whether a problem can be sampled so: hard decisions by gen, of bits that err
// independently.
func Fits(p *montecarlo.Problem) bool { return p.Latent == nil && enclose.Fits(p.Code, p.Decoder) }

// Estimate estimates the error of every level whose prior is above zero, with the given number of
// samples, at least 2, of each level that needs some; an odd number is rounded up. The error
// wraps theory.ErrNoClosedForm unless Fits, or enclose.ErrTooWide where errors are so frequent
// that plain samples do as well. Or it is the context's. done, which may be nil, is told of samples.
func Estimate(ctx context.Context, workers int, p *montecarlo.Problem, prior []float64, samples uint64, o enclose.Options, done func(samples uint64)) ([]Level, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	switch limit := p.MaxSamples() / 2; {
	case !Fits(p):
		return nil, fmt.Errorf("%w: stratified samples are for gen with a binary code, whose bits err independently", theory.ErrNoClosedForm)
	case len(prior) != p.Code.Levels():
		return nil, fmt.Errorf("prior of %d labels for a code of %d levels", len(prior), p.Code.Levels())
	case samples < 2 || samples > limit:
		return nil, fmt.Errorf("%d stratified samples of a label: want 2 to %d", samples, limit)
	}
	var rows []int
	for i, w := range prior {
		if w > 0 {
			rows = append(rows, i)
		}
	}
	half := o
	half.Work /= 2
	left := make([]float64, min(trials, len(rows)))
	err := each(ctx, workers, len(left), p, half, func(ctx context.Context, s *sampler, j int) error {
		part, err := s.part(ctx, rows[(2*j+1)*len(rows)/(2*len(left))])
		if errors.Is(err, enclose.ErrTooWide) {
			return nil // it takes more than half of the work to begin; this is found out soon enough
		}
		if err == nil {
			left[j] = part.Left
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	sum := 0.0
	for _, l := range left {
		sum += l
	}
	if sum > mostLeft*float64(len(left)) {
		return nil, fmt.Errorf("%w: %.0f %% of the outcomes of %s with %s would be left", enclose.ErrTooWide, 100*sum/float64(len(left)), p.Code.Name(), p.Decoder.Name())
	}
	levels := make([]Level, len(prior))
	return levels, each(ctx, workers, len(rows), p, o, func(ctx context.Context, s *sampler, j int) error {
		part, err := s.part(ctx, rows[j])
		if err != nil {
			return err
		}
		if levels[rows[j]], err = s.level(ctx, rows[j], part, (samples+1)/2); err == nil && done != nil {
			done(samples)
		}
		return err
	})
}

// each calls work for numbers below n, each with the sampler of its goroutine.
func each(ctx context.Context, workers, n int, p *montecarlo.Problem, o enclose.Options, work func(ctx context.Context, s *sampler, j int) error) error {
	return parallel.Each(ctx, workers, n, func() (func(context.Context, int) error, error) {
		x, err := enclose.New(p.Code, p.Decoder, o)
		if err != nil {
			return nil, err
		}
		s := &sampler{problem: p, encloser: x, words: words{keys: philox.NewKeys(p.Seed)}}
		return func(ctx context.Context, j int) error { return work(ctx, s, j) }, nil
	})
}

// sampler works on one level at a time.
type sampler struct {
	problem  *montecarlo.Problem
	encloser *enclose.Encloser
	e        []float64
	words    words
}

// part encloses a level.
func (s *sampler) part(ctx context.Context, row int) (*enclose.Part, error) {
	var err error
	if s.e, err = s.problem.Row(s.e, row); err != nil {
		return nil, err
	}
	return s.encloser.Part(ctx, row, s.e)
}

// level estimates the error of a level with a number of pairs.
func (s *sampler) level(ctx context.Context, row int, part *enclose.Part, pairs uint64) (Level, error) {
	out := Level{Interval: part.Interval, Left: part.Left, Mean: part.Known, Slack: part.Slack}
	for _, o := range part.Decided {
		out.MeanSquare += o.P * o.Error * o.Error
		if o.Error <= float64(s.problem.Within) {
			out.Within += o.P
		}
	}
	if part.Left == 0 {
		return out, nil
	}
	var err error
	if out.Sums, err = s.strata(ctx, row, part, 0, pairs, pairs); err != nil {
		return Level{}, err
	}
	k := float64(pairs)
	out.Mean += part.Left * float64(out.Sums.Abs) / (2 * k)
	out.StdErr = part.Left / k * math.Sqrt(float64(out.Sums.Apart)/4)
	out.MeanSquare += part.Left * float64(out.Sums.Square) / (2 * k)
	out.Within = min(1, out.Within+part.Left*float64(out.Sums.Within)/(2*k))
	return out, nil
}

// strata samples the strata from first up to last of what is left of a level, out of all.
func (s *sampler) strata(ctx context.Context, row int, part *enclose.Part, first, last, all uint64) (Sums, error) {
	out := Sums{Pairs: last - first}
	within := float64(s.problem.Within)
	next := s.words.next
	for t := first; t < last; t++ {
		if t%1024 == 0 && ctx.Err() != nil {
			return Sums{}, ctx.Err()
		}
		var x [2]float64
		for i := range x {
			s.words.start(row, uint32(t), i)
			x[i] = part.Draw((float64(t)+float64(next()>>11)*0x1p-53)/float64(all), next)
			if x[i] <= within {
				out.Within++
			}
		}
		out.Abs += uint64(x[0] + x[1])
		out.Apart += uint64((x[0] - x[1]) * (x[0] - x[1]))
		out.Square += uint64(x[0]*x[0] + x[1]*x[1])
	}
	return out, nil
}

// words are the random words of a sample. Element 0 of a counter is the number of the call, element
// 1 the kind of stream and which sample of the pair it is; then follow the row and the stratum.
type words struct {
	keys *philox.Keys
	at   philox.Counter
	odd  uint64
	full bool
}

func (w *words) start(row int, pair uint32, which int) {
	w.at = philox.Counter{0, montecarlo.StreamStratified | uint32(which), uint32(row), pair}
	w.full = false
}

func (w *words) next() uint64 {
	if w.full = !w.full; !w.full {
		return w.odd
	}
	x := philox.Call(w.keys, w.at)
	w.at[0]++
	w.odd = uint64(x[2]) | uint64(x[3])<<32
	return uint64(x[0]) | uint64(x[1])<<32
}

// Interval returns an interval that holds the mean over the prior.
func Interval(prior []float64, levels []Level) enclose.Interval {
	rows := make([]enclose.Interval, len(levels))
	for i, l := range levels {
		rows[i] = l.Interval
	}
	return enclose.Mean(prior, rows)
}

// Average returns the estimates over all levels. Levels are sampled independently; their slacks
// are added to the standard error.
func Average(prior []float64, levels []Level) montecarlo.Overall {
	var o montecarlo.Overall
	var variance, square, slack float64
	for i, l := range levels {
		p := prior[i]
		if p == 0 {
			continue
		}
		o.Samples += 2 * l.Sums.Pairs
		o.Mean += p * l.Mean
		square += p * l.MeanSquare
		o.Within += p * l.Within
		variance += p * p * l.StdErr * l.StdErr
		slack += p * l.Slack
		if o.WorstLevel == 0 || l.Mean > o.WorstMean {
			o.WorstLevel, o.WorstMean = i+1, l.Mean
		}
	}
	o.StdErr = math.Sqrt(variance) + slack
	o.RMS = math.Sqrt(square)
	o.Within = min(1, o.Within)
	return o
}
