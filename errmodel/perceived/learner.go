package perceived

import (
	"context"
	"fmt"

	"belsim/theory/code"
)

// Learner learns codes that differ from one another in few columns, as a search for codes tries
// them. Learn and Refresh are exact. Relearn is an approximation, and many times faster. Use a
// Learner on one goroutine.
type Learner struct {
	p       Model
	workers int // goroutines that learn all columns
	ch      *channel
	basis   *basis
	cs      *columns
	loss    *columnLoss
	grid    []float64 // scratch, of length G

	before   columns // those before the last Relearn
	undoable bool    // it can be taken back
}

// NewLearner returns a learner of binary codes of as many levels as the prior has. The error is
// about the parameters or the prior.
func (p Model) NewLearner(prior []float64) (*Learner, error) {
	return p.newLearner(1, len(prior), prior)
}

// newLearner is NewLearner for so many goroutines and levels, with a prior as Model.Learn has it.
func (p Model) newLearner(workers, levels int, prior []float64) (*Learner, error) {
	if err := p.Check(levels); err != nil {
		return nil, err
	}
	p = p.defaults(levels)
	share, err := shares(prior, levels)
	if err != nil {
		return nil, err
	}
	if p.Training != BCE {
		share = seldom(share)
	}
	ch := newChannel(levels, p.aroundLevel(), share)
	b := newBasis(ch)
	return &Learner{p: p, workers: workers, ch: ch, basis: b, loss: newColumnLoss(ch, b),
		grid: make([]float64, len(ch.weight))}, nil
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
	l.undoable = false
	return l.learn(ctx, decoderSteps, false)
}

// learn learns all columns with their penalty.
func (l *Learner) learn(ctx context.Context, steps int, kept bool) (*Network, error) {
	if err := l.cs.learn(ctx, l.workers, steps, kept); err != nil {
		return nil, err
	}
	return newNetwork(l.p, l.cs.c, l.ch, l.cs), nil
}

// relearnSteps is the number of steps of L-BFGS with which networks that are trained for the
// decoder follow a change of some columns, from what was learnt before.
const relearnSteps = 10

// Relearn learns a code that differs from the last one only in the given columns, from 0. Bit by
// bit it learns these columns again, under the penalty that the other columns have: how easy a
// component is to learn depends on all columns, and little on one. For the decoder it takes ten
// steps of the optimizer from the functions of the last code. Reject takes it back. The errors
// are the context's.
func (l *Learner) Relearn(ctx context.Context, c *code.Code, columns []int) (*Network, error) {
	l.before.copy(l.cs)
	l.undoable = true
	l.cs.c = c
	for _, bit := range columns {
		l.cs.see(bit, l.grid)
	}
	if l.p.Training != BCE {
		l.cs.setPenalty(l.p.Cutoff)
		return l.learn(ctx, relearnSteps, true)
	}
	for _, bit := range columns {
		l.loss.learnColumn(l.cs, bit, true)
	}
	return newNetwork(l.p, c, l.ch, l.cs), nil
}

// Refresh learns the last code exactly, from the functions that are there. It cannot be taken back.
func (l *Learner) Refresh(ctx context.Context) (*Network, error) {
	l.undoable = false
	l.cs.setPenalty(l.p.Cutoff)
	return l.learn(ctx, decoderSteps, true)
}

// recutSteps is the number of steps of L-BFGS with which networks that are trained for the decoder
// follow a change of the cutoff.
const recutSteps = 30

// Recut learns the last code under another cutoff κ, in cycles over the range of labels, from the
// functions that are there. For the decoder it takes 30 steps of the optimizer. It cannot be taken
// back, and holds for what is learnt later. The error is about the cutoff, or the context's.
func (l *Learner) Recut(ctx context.Context, cutoff float64) (*Network, error) {
	p := l.p
	p.Cutoff = cutoff
	if err := p.Check(l.ch.levels); err != nil {
		return nil, err
	}
	l.p, l.undoable = p.defaults(l.ch.levels), false
	l.cs.setPenalty(l.p.Cutoff)
	return l.learn(ctx, recutSteps, true)
}

// Keep makes the last Relearn one that cannot be taken back.
func (l *Learner) Keep() { l.undoable = false }

// Reject takes back the last Relearn: the last code is the one before. It does nothing after
// Learn, Refresh, Recut, Keep and Reject.
func (l *Learner) Reject() {
	if l.undoable {
		l.cs.copy(&l.before)
	}
	l.undoable = false
}
