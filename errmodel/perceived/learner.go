package perceived

import (
	"context"
	"fmt"

	"belsim/theory/code"
)

// Learner learns codes of one number of levels, one after another. Use a Learner on one goroutine.
type Learner struct {
	p       Model
	workers int // goroutines that learn all columns
	ch      *channel
	basis   *basis
	cs      *columns
}

// NewLearner returns a learner of binary codes of as many levels as the prior has, on so many goroutines.
// The error is about the parameters or the prior.
func (p Model) NewLearner(workers int, prior []float64) (*Learner, error) {
	levels := len(prior)
	if err := p.Check(levels); err != nil {
		return nil, err
	}
	p = p.defaults(levels)
	share, err := shares(prior)
	if err != nil {
		return nil, err
	}
	if p.Training != BCE {
		share = seldom(share)
	}
	ch := newChannel(levels, p.aroundLevel(), share)
	b := newBasis(ch)
	return &Learner{p: p, workers: workers, ch: ch, basis: b}, nil
}

// Learn learns a code from the beginning, as Model.Learn does. The errors are
// about the code, say that memory is short, or are the context's.
func (l *Learner) Learn(ctx context.Context, c *code.Code) (*Network, error) {
	if c.Real() || c.Levels() != l.ch.levels {
		return nil, fmt.Errorf("%s: want a binary code of %d levels", c.Name(), l.ch.levels)
	}
	if err := l.p.CheckMemory(c); err != nil {
		return nil, err
	}
	var err error
	if l.cs, err = newColumns(ctx, l.workers, c, l.ch, l.basis, l.p); err != nil {
		return nil, err
	}
	return l.learn(ctx, decoderSteps, false)
}

// learn learns all columns with their penalty.
func (l *Learner) learn(ctx context.Context, steps int, kept bool) (*Network, error) {
	if err := l.cs.learn(ctx, l.workers, steps, kept); err != nil {
		return nil, err
	}
	return newNetwork(l.p, l.cs.c, l.ch, l.cs), nil
}

// recutSteps is the number of steps of L-BFGS with which networks that are trained for the decoder
// follow a change of the cutoff.
const recutSteps = 30

// Recut learns the last code under another cutoff κ, in cycles over the range of labels, from the
// functions that are there. For the decoder it takes 30 steps of the optimizer. It holds for
// what is learnt later. The error is about the cutoff, or the context's.
func (l *Learner) Recut(ctx context.Context, cutoff float64) (*Network, error) {
	p := l.p
	p.Cutoff = cutoff
	if err := p.Check(l.ch.levels); err != nil {
		return nil, err
	}
	l.p = p.defaults(l.ch.levels)
	l.cs.setPenalty(l.p.Cutoff)
	return l.learn(ctx, recutSteps, true)
}
