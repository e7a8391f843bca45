package search

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"

	"belsim/theory/base/parallel"
)

// anneal runs the chains of a round, each from one of the codes. Where there are more chains than
// codes, several chains begin from one code with different random numbers. When the context ends,
// the chains end.
func (o *Options) anneal(ctx context.Context, round int, from []candidate) ([]candidate, error) {
	out := make([]candidate, chainCount)
	for i := range out {
		out[i] = from[i%len(from)]
		out[i].words = out[i].words.clone()
	}
	report := o.reporter(from[0].Mean)
	err := parallel.Each(ctx, o.workers(), chainCount, func() (func(context.Context, int) error, error) {
		return func(ctx context.Context, i int) error {
			const all = rounds * chainCount
			steps := (o.Steps + uint64(all-1-round*chainCount-i)) / all
			hot := coldest * math.Pow(hottest/coldest, float64(i/len(from)+1)/float64(chainCount/len(from)+1))
			return o.chain(ctx, round, o.rng(uint64(round), uint64(i)), &out[i], hot, report, steps)
		}, nil
	})
	if ctx.Err() != nil {
		err = nil
	}
	return out, err
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

// The temperature of a chain falls to coldest. Its unit is the error of the code that the chain
// begins from. Of several chains that begin from one code, the first is cold enough to descend from
// it to the next minimum, and the last is hot enough to leave this code.
const (
	hottest = 0.03
	coldest = 2e-5
)

// annealing is a chain with the evaluators of its code.
type annealing struct {
	*chain
	rng   *rand.Rand
	x     evaluator
	best  *candidate // the best code until now; its Mean is by the chain's samples
	error float64    // of the chain's code
	// A few samples are enough to reject most moves, and fewer reject half of these. They are other samples
	// than those that decide (delayed acceptance; Christen and Fox, J. Comput. Graph. Stat. 14, 2005).
	screens []*screen // none where x does not sample
}

// screen evaluates moves by few samples.
type screen struct {
	*sampled
	error, seen float64 // of the chain's code, and of the move
}

// chain anneals a code from a temperature in a number of steps, and stores the best code that it has seen.
func (o *Options) chain(ctx context.Context, round int, rng *rand.Rand, c *candidate, hot float64, report progress,
	steps uint64) error {
	samples := guides << round
	x, err := o.evaluator(samples, o.seed(forGuides+uint64(round)))
	if err != nil {
		return err
	}
	a := &annealing{chain: newChain(c.words.clone(), o), rng: rng, x: x, best: c}
	if a.error, err = x.reset(ctx, c.words); err != nil {
		return err
	}
	if _, ok := x.(*sampled); ok {
		for i, times := range [...]int{32, 8} { // fewer samples than decide
			s := &screen{sampled: o.newSampled(samples/times, o.seed(forScreens+uint64(round+i*rounds)))}
			if s.error, err = s.reset(ctx, c.words); err != nil {
				return err
			}
			a.screens = append(a.screens, s)
		}
	}
	scale := a.error
	c.Mean = a.error
	const look = 16 // steps between two reports
	for step := uint64(0); ctx.Err() == nil; step++ {
		if step%look == 0 && step > 0 {
			report(look, c.Mean)
		}
		if step == steps || c.Mean == 0 { // no error is below 0
			report(step%look, c.Mean)
			break
		}
		accepted, err := a.step(ctx, scale*hot*math.Pow(coldest/hot, float64(step)/float64(steps)))
		if err != nil {
			return err
		}
		if !accepted {
			a.undo()
		}
	}
	return nil
}

// out reports whether a move is rejected by the screen alone: where it is worse than accepted by two
// standard errors of the difference, which few moves are by chance.
func (s *screen) out(loss float64) bool { return s.seen > s.error+loss+2*s.noise() }

// step tries a move at a temperature. It reports whether the move is accepted.
func (a *annealing) step(ctx context.Context, temperature float64) (accepted bool, err error) {
	if !a.propose(a.rng) {
		return false, nil
	}
	loss := temperature * a.rng.ExpFloat64() // the largest that is accepted
	for i, s := range a.screens {
		if s.seen, err = s.update(ctx, a.words, &a.move); err != nil {
			return false, err
		}
		if s.out(loss) {
			a.reject(i + 1)
			return false, nil
		}
	}
	changed, err := a.x.update(ctx, a.words, &a.move)
	if err != nil {
		return false, err
	}
	if !(changed <= a.error+loss) {
		a.x.reject()
		a.reject(len(a.screens))
		return false, nil
	}
	a.error = changed
	for _, s := range a.screens {
		s.error = s.seen
	}
	if a.error < a.best.Mean {
		a.best.Mean = a.error
		a.best.words.copyFrom(a.words)
	}
	return true, nil
}

// reject takes a move back from the first n screens.
func (a *annealing) reject(n int) {
	for _, s := range a.screens[:n] {
		s.reject()
	}
}
