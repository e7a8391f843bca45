package search

import (
	"context"
	"math"
	"math/bits"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/theory/code"
)

// evaluator computes the expected error of gen on bits that err independently, for a matrix that
// changes little from one call to the next. The error is +Inf where a probability is above 1, and where
// the context has ended.
type evaluator interface {
	// reset evaluates a matrix from the beginning.
	reset(ctx context.Context, w *words) float64
	// update evaluates the matrix after a move. Everything else is as reset or the last update has
	// seen it.
	update(ctx context.Context, w *words, m *move) float64
	// reject takes back the last update: the matrix is again as it was before.
	reject()
	// noise estimates the standard error of the difference that the last update made.
	noise() float64
}

// maxOutputs is the largest L·2^M at which a sum over all outputs is about as fast as samples.
const maxOutputs = 1 << 16

// exact reports whether codes have exact errors.
func (o *Options) exact() bool { return o.Bits <= 16 && o.Levels<<o.Bits <= maxOutputs }

// evaluator returns the evaluator of the codes: it is exact, or has a number of samples of a level and
// the random numbers of a seed.
func (o *Options) evaluator(samples int, seed uint64) evaluator {
	if o.exact() {
		return o.newExact()
	}
	return o.newSampled(samples, seed)
}

// probabilities makes the error probabilities of a column.
type probabilities struct {
	column errmodel.Column
	e      []float64 // length L: the probabilities of the column last made
	at     []int     // scratch: the transitions of this column
}

// of sets p.e to the error probabilities of column k. It reports whether they are probabilities.
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

// exact is the expected error as a sum over all 2^M outputs.
type exact struct {
	probabilities
	prior   []float64
	table   *mat.Dense // e[n,k] of the matrix last seen, except the columns in changed
	last    []uint64   // the words of that matrix
	changed uint64
	prob    []float64 // by output
	price   []float64 // L × L: what an answer costs, by label
}

func (o *Options) newExact() *exact {
	x := &exact{
		probabilities: probabilities{column: o.Column, e: make([]float64, o.Levels)}, prior: o.Prior,
		table: mat.NewDense(o.Levels, o.Bits, nil), last: make([]uint64, o.Levels), changed: 1<<o.Bits - 1,
		prob: make([]float64, 1<<o.Bits), price: make([]float64, o.Levels*o.Levels),
	}
	for n := range o.Levels {
		for m := range o.Levels {
			x.price[n*o.Levels+m] = o.Cost.Of(n+1, float64(m+1))
		}
	}
	return x
}

func (x *exact) update(ctx context.Context, w *words, _ *move) float64 { return x.reset(ctx, w) }
func (x *exact) reject()                                               {} // reset finds what has changed
func (x *exact) noise() float64                                        { return 0 }

func (x *exact) reset(_ context.Context, w *words) float64 {
	for n, word := range w.rows {
		x.changed |= x.last[n] ^ word
		x.last[n] = word
	}
	for ; x.changed != 0; x.changed &= x.changed - 1 {
		k := bits.TrailingZeros64(x.changed)
		if !x.of(w, k) {
			return math.Inf(1)
		}
		x.table.SetCol(k, x.e)
	}
	answers := code.NearestRows(w.rows, w.bits)
	sum := 0.0
	for n, p := range x.prior {
		if p == 0 {
			continue
		}
		x.prob[0] = 1
		for k, e := range x.table.RawRowView(n) {
			zero, one, half := 1-e, e, 1<<k
			if w.bit(n, k) {
				zero, one = one, zero
			}
			for output, q := range x.prob[:half] { // the bits before k
				x.prob[output], x.prob[half+output] = q*zero, q*one
			}
		}
		level, price := 0.0, x.price[n*w.levels:]
		for output, q := range x.prob {
			level += q * price[answers[output]]
		}
		sum += p * level
	}
	return sum
}
