package search

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"belsim/theory/base/parallel"
)

// anneal runs the chains of a round. Where there are more chains than codes, several chains
// begin from one code with different random numbers.
func (o *Options) anneal(ctx context.Context, round int, from []candidate, steps uint64, until time.Time, report progress) ([]candidate, error) {
	out := make([]candidate, chainCount)
	workers := o.workers()
	began := time.Now()
	err := parallel.Each(ctx, workers, chainCount, func() (func(context.Context, int) error, error) {
		return func(ctx context.Context, i int) error {
			begin := from[i%len(from)]
			out[i] = newCandidate(begin.Start, begin.words.clone())
			own := steps / chainCount
			if uint64(i) < steps%chainCount {
				own++
			}
			used := func(step uint64) float64 { return share(step, own) }
			if !until.IsZero() {
				// A worker runs its chains one after another.
				turn, start := time.Duration(i/workers)+1, time.Now()
				end := began.Add(until.Sub(began) * turn / time.Duration((chainCount+workers-1)/workers))
				used = func(uint64) float64 { return share(time.Since(start), end.Sub(start)) }
			}
			return o.chain(ctx, round, i, len(from), &out[i], used, report)
		}, nil
	})
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	return slices.DeleteFunc(out, func(c candidate) bool { return c.words == nil }), err
}

// share is how much of all is used; where all is nothing, it is used.
func share[N uint64 | time.Duration](used, all N) float64 {
	if all <= 0 {
		return 1
	}
	return float64(used) / float64(all)
}

// The temperature of a chain falls to coldest. Its unit is the error of the code that the
// chain begins from.
const (
	hottest = 0.03
	coldest = 2e-5
)

// heat is the temperature at which a chain begins, in a round with the given number of
// codes, the best first. Of several chains that begin from one code, the first is cold
// enough to descend from it to the next minimum, and the last is hot enough to leave this
// code. Where every code has one chain, the chains of better codes are colder, and no chain
// begins hotter than half-way.
func heat(number, codes int) float64 {
	which, several := number/codes, (chainCount-number%codes+codes-1)/codes
	if several == 1 {
		which, several = number, 2*codes
	}
	return coldest * math.Pow(hottest/coldest, float64(which+1)/float64(several))
}

// annealing is a chain with the evaluators of its code.
type annealing struct {
	*chain
	rng   *rand.Rand
	x     evaluator
	best  *candidate // the best code until now; its guide is its error
	error float64    // of the chain's code
	// A few samples are enough to reject most moves. They are other samples than those that
	// decide (delayed acceptance; Christen and Fox, J. Comput. Graph. Stat. 14, 2005).
	screen   *sampled // nil where x does not sample
	screened float64  // the error by screen
	pending  int      // approximate errors since the last exact one
}

// chain anneals a code, and stores the best code that it has seen. used is the share of the chain's steps, or
// of its time, that is used up.
func (o *Options) chain(ctx context.Context, round, number, among int, c *candidate, used func(step uint64) float64, report progress) error {
	x, err := o.evaluator(rounds[round].samples, o.seed(forSamples+uint64(round)), false)
	if err != nil {
		return err
	}
	a := &annealing{
		chain: newChain(c.words.clone(), o.free(), o.MaxTransitions), rng: o.rng(uint64(round), uint64(number)),
		x: x, best: c,
	}
	if a.error, err = x.reset(ctx, c.words); err != nil || math.IsInf(a.error, 1) {
		return err
	}
	if _, ok := x.(*sampled); ok {
		a.screen = o.newSampled(rounds[round].samples/screening, o.seed(forScreens+uint64(round)), false)
		if a.screened, err = a.screen.reset(ctx, c.words); err != nil {
			return err
		}
	}
	c.guide = a.error
	scale, hot := a.error, heat(number, among)
	const look = 16 // steps between two looks at the clock
	f := 0.0
	for step := uint64(0); ctx.Err() == nil; step++ {
		if step%look == 0 || o.Time == 0 {
			f = used(step)
		}
		if step%look == 0 && step > 0 {
			report(look, c.guide)
		}
		if f >= 1 || c.guide == 0 { // no error is below 0
			report(step%look, c.guide)
			break
		}
		accepted, err := a.step(ctx, scale*hot*math.Pow(coldest/hot, f))
		if err != nil {
			return err
		}
		if !accepted {
			a.undo()
		}
	}
	return nil
}

// step tries a move at a temperature. It reports whether the move is accepted.
func (a *annealing) step(ctx context.Context, temperature float64) (accepted bool, err error) {
	if !a.propose(a.rng) {
		return false, nil
	}
	loss := temperature * a.rng.ExpFloat64() // the largest that is accepted
	seen := 0.0
	if a.screen != nil {
		if seen, err = a.screen.update(ctx, a.words, a.move, math.Inf(1)); err != nil {
			return false, err
		}
		if seen > a.screened+loss+2*a.screen.noise() {
			a.screen.reject()
			return false, nil
		}
	}
	changed, err := a.x.update(ctx, a.words, a.move, a.error+loss)
	if err != nil {
		return false, err
	}
	if !(changed <= a.error+loss) {
		a.x.reject()
		if a.screen != nil {
			a.screen.reject()
		}
		return false, nil
	}
	a.error, a.screened = changed, seen
	a.pending++
	if x, ok := a.x.(*learned); ok && (a.error < a.best.guide || a.pending >= a.bits) {
		if a.error, err = x.settle(ctx); err != nil {
			return false, err
		}
		a.pending = 0
	}
	if a.error < a.best.guide {
		a.best.guide = a.error
		a.best.words.copyFrom(a.words)
	}
	return true, nil
}
