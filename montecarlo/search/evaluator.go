package search

import (
	"context"
	"math"
	"math/bits"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/theory/code"
)

// evaluator computes the expected error of a matrix that changes little from one
// call to the next.
type evaluator interface {
	// reset evaluates a matrix from the beginning. The expected error is +Inf where a
	// probability is above 1. When the context ends, reset returns the error of the context.
	reset(ctx context.Context, w *words) (float64, error)
	// update evaluates the matrix after a move. Everything else is as reset or the last update
	// has seen it.
	update(ctx context.Context, w *words, m *move) (float64, error)
	// reject takes back the last update: the matrix is again as it was before.
	reject()
}

// evaluator returns an evaluator with the given number of samples of a level and the random
// numbers of a seed.
func (o *Options) evaluator(samples int, seed uint64) (evaluator, error) {
	switch {
	case o.Objective != nil:
		of, err := o.Objective(o.Bits, samples, seed)
		return whole(func(ctx context.Context, w *words) (float64, error) {
			c, err := w.code("candidate")
			if err != nil {
				return 0, err
			}
			return of(ctx, c)
		}), err
	case o.Bits <= 16 && o.Levels<<o.Bits <= maxOutputs:
		return o.exactly(), nil
	}
	return o.newSampled(samples, seed), nil
}

// whole is an evaluator that takes the whole matrix each time.
type whole func(ctx context.Context, w *words) (float64, error)

func (f whole) reset(ctx context.Context, w *words) (float64, error)           { return f(ctx, w) }
func (f whole) update(ctx context.Context, w *words, _ *move) (float64, error) { return f(ctx, w) }
func (whole) reject()                                                          {}

// Objective makes a function that estimates the expected error of codes of a number of bits from a
// number of samples of each level: +Inf where a code is invalid. One goroutine calls the function,
// and several call Objective. The function should use the same random numbers for all codes.
type Objective func(bits, samples int, seed uint64) (func(context.Context, *code.Code) (float64, error), error)

// probabilities makes the error probabilities of a column.
type probabilities struct {
	column errmodel.Column
	e      []float64 // length L: the probabilities of the column last made
	at     []int     // scratch: the transitions of this column
}

// of sets p.e to the error probabilities of column k. It reports whether they are
// probabilities.
func (p *probabilities) of(w *words, k int) bool {
	p.at = w.transitions(p.at[:0], k)
	p.column(p.e, k, p.at)
	for _, e := range p.e {
		if !(e <= 1) {
			return false
		}
	}
	return true
}

// maxOutputs is the largest L·2^M at which a sum over all outputs is about as fast as samples.
const maxOutputs = 1 << 16

// exactly computes the exact expected error of gen on bits that err independently, as a sum over
// all 2^M outputs: a move changes the labels of many, so that what theory prepares for a code would
// be prepared for one value.
func (o *Options) exactly() whole {
	column := probabilities{column: o.Column, e: make([]float64, o.Levels)}
	e := mat.NewDense(o.Levels, o.Bits, nil)
	prob := make([]float64, 1<<o.Bits)          // by output
	price := make([]float64, o.Levels*o.Levels) // of an answer, by label
	for n := range o.Levels {
		for m := range o.Levels {
			price[n*o.Levels+m] = o.Cost.Of(n+1, float64(m+1))
		}
	}
	// the words of the last call, and columns of which e is not
	last, changed := make([]uint64, o.Levels), uint64(1)<<o.Bits-1
	return func(_ context.Context, w *words) (float64, error) {
		for n, word := range w.rows {
			changed |= last[n] ^ word
			last[n] = word
		}
		for ; changed != 0; changed &= changed - 1 {
			k := bits.TrailingZeros64(changed)
			if !column.of(w, k) {
				return math.Inf(1), nil
			}
			e.SetCol(k, column.e)
		}
		rows := code.NearestRows(w.rows, w.bits)
		sum := 0.0
		for n, p := range o.Prior {
			if p == 0 {
				continue
			}
			prob[0] = 1
			for k, e := range e.RawRowView(n) {
				zero, one, half := 1-e, e, 1<<k
				if w.bit(n, k) {
					zero, one = one, zero
				}
				for output, q := range prob[:half] { // the bits before k
					prob[output], prob[half+output] = q*zero, q*one
				}
			}
			level, price := 0.0, price[n*o.Levels:]
			for output, q := range prob {
				level += q * price[rows[output]]
			}
			sum += p * level
		}
		return sum, nil
	}
}
