package theory

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/matrix"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

// ErrNoClosedForm is wrapped by the errors that say that a bound or an exact value does
// not exist, or is out of reach, for a code and decoder.
var ErrNoClosedForm = errors.New("no closed form")

// Bound is an upper bound on the expected error of one label. It holds scratch
// memory: use one on one goroutine at a time.
type Bound struct {
	// Name says which bound it is, for people.
	Name string
	// Row gives the bound for row i of the code (level i+1), whose bits err with probabilities e,
	// of length M.
	Row func(ctx context.Context, i int, e []float64) (float64, error)
	// OfTable gives the bounds of the rows of a table whose weight is above zero, of all without weights; nil where
	// there is no way that is faster than Row.
	OfTable func(e mat.Matrix, weights []float64) []float64
}

// Window returns the sequence of which each row of e is a window: the probabilities of bits by their distance from
// the label, of length M, as a mixture has for the unary code. It is nil elsewhere.
func Window(e mat.Matrix) []float64 {
	if w, ok := e.(interface{ Window() []float64 }); ok {
		return w.Window()
	}
	return nil
}

// boundOf gives the bound for a row. The error is the context's.
type boundOf func(ctx context.Context, i int, e []float64) (float64, error)

// noWait is a boundOf of a formula that takes no time.
func noWait(row func(i int, e []float64) float64) boundOf {
	return func(_ context.Context, i int, e []float64) (float64, error) { return row(i, e), nil }
}

// Largest is the largest cost that a decoder of a code can have at row i (level n = i+1). No bound is
// above it.
func Largest(c *code.Code, d decode.Decoder, cost cost.Cost, i int) float64 {
	lo, hi := decode.Range(c, d)
	return cost.Largest(i+1, lo, hi)
}

// cut is the bound that is never above the largest cost of a row.
func (b *Bound) cut(c *code.Code, d decode.Decoder, cost cost.Cost) *Bound {
	row, ofTable := b.Row, b.OfTable
	b.Row = func(ctx context.Context, i int, e []float64) (float64, error) {
		v, err := row(ctx, i, e)
		return min(v, Largest(c, d, cost, i)), err
	}
	if ofTable == nil {
		return b
	}
	var largest []float64
	b.OfTable = func(e mat.Matrix, weights []float64) []float64 {
		out := ofTable(e, weights)
		for i := range out {
			if len(largest) == i {
				largest = append(largest, Largest(c, d, cost, i))
			}
			out[i] = min(out[i], largest[i])
		}
		return out
	}
	return b
}

// NewBound returns the bound of the mean cost for a code and its decoder on hard decisions: Eq. 2 for
// bel-u, Eq. 26 for bel-j and the absolute error, the union bound for gen, each at most Largest. The
// error wraps ErrNoClosedForm when there is none. Eq. 26 and the union bound hold for bits that err
// independently: package anylaw has what holds for all.
func NewBound(c *code.Code, d decode.Decoder, cost cost.Cost) (*Bound, error) {
	if c.Real() {
		return nil, fmt.Errorf("%w: no bound for the hard outputs of a code of real numbers", ErrNoClosedForm)
	}
	b := &Bound{}
	switch d := d.(type) {
	case decode.BelU:
		if b.Name, b.Row, b.OfTable = "Eq. 2", noWait(belUBound), belUBounds; !cost.Absolute() {
			b.Row, b.OfTable = noWait(newStepsBound(c, cost)), nil
		}
	case decode.BelJ:
		if !cost.Absolute() {
			break
		}
		row, ofTable := newBelJBound(d)
		if b.Name, b.Row, b.OfTable = "Eq. 26", noWait(row), ofTable; d.First() == 0 {
			b.Name = "Eq. 26, one level lower, with terms for the all-zero word"
		}
	case decode.Gen:
		b.Name, b.Row = "union bound", newUnionBound(c, cost)
	}
	if b.Row != nil {
		return b.cut(c, d, cost), nil
	}
	return nil, fmt.Errorf("%w: no bound of the %s cost for decoder %s", ErrNoClosedForm, cost.Name(), d.Name())
}

// Fold moves the weight of mirrored words of johnson-nonzero, whose errors are equal, to one of each pair. Means of
// bounds and of |error| are the same by these weights, also for multiples of the table.
func Fold(d decode.Decoder, e mat.Matrix, weights []float64) []float64 {
	j, ok := d.(decode.BelJ)
	if !ok || j.First() == 0 {
		return weights
	}
	weights = slices.Clone(weights)
	var row, image []float64
	for i := range j.Bits() - 1 {
		other := 2*(j.Bits()-1) - i
		if other >= len(weights) {
			continue
		}
		row, image = matrix.Row(row, i, e), matrix.Row(image, other, e)
		if slices.Reverse(image); slices.Equal(row, image) {
			weights[i], weights[other] = weights[i]+weights[other], 0
		}
	}
	return weights
}
