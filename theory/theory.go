package theory

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/matrix"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

// Moments are the first two moments of the absolute error of one label, in
// levels and levels².
type Moments struct{ Mean, MeanSquare float64 }

// ErrNoClosedForm is wrapped by the errors that say that a bound or an exact value does
// not exist, or is out of reach, for a code and decoder.
var ErrNoClosedForm = errors.New("no closed form")

// Bound is an upper bound on the expected error of one label. It holds scratch
// memory: use one on one goroutine at a time.
type Bound struct {
	// Name says which bound it is, for people.
	Name string
	// Linear is true when the bound of r·e is r times the bound of e, below Largest (Eq. 2).
	Linear bool
	// Row gives the bound for row i of the code (level i+1), whose bits err with probabilities e,
	// of length M.
	Row func(ctx context.Context, i int, e []float64) (float64, error)
}

// boundOf gives the bound for a row. The error is the context's.
type boundOf func(ctx context.Context, i int, e []float64) (float64, error)

// noWait is a boundOf of a formula that takes no time.
func noWait(row func(i int, e []float64) float64) boundOf {
	return func(_ context.Context, i int, e []float64) (float64, error) { return row(i, e), nil }
}

// bounds are the bounds on hard decisions, each beside its formula. A decoder without
// one has no bound.
var bounds = []func(c *code.Code, d decode.Decoder, cost cost.Cost) (*Bound, bool){belUBoundOf, belJBoundOf,
	unionBoundOf}

// Largest is the largest cost that a decoder of a code can have at row i (level n = i+1). No bound is
// above it.
func Largest(c *code.Code, d decode.Decoder, cost cost.Cost, i int) float64 {
	lo, hi := decode.Range(c, d)
	return cost.Largest(i+1, lo, hi)
}

// cut is the bound that is never above the largest cost of a row.
func (b *Bound) cut(c *code.Code, d decode.Decoder, cost cost.Cost) *Bound {
	row := b.Row
	b.Row = func(ctx context.Context, i int, e []float64) (float64, error) {
		v, err := row(ctx, i, e)
		return min(v, Largest(c, d, cost, i)), err
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
	for _, of := range bounds {
		if b, ok := of(c, d, cost); ok {
			return b.cut(c, d, cost), nil
		}
	}
	return nil, fmt.Errorf("%w: no bound of the %s cost for decoder %s", ErrNoClosedForm, cost.Name(), d.Name())
}

// Exact has the exact moments of |error| of a code and its decoder, prepared for many tables. It is
// safe for concurrent use.
type Exact struct {
	code    *code.Code
	decoder decode.Decoder
	forms   sync.Pool // of momentsOf: one for each goroutine
}

// Row returns the moments of |error| for row i of the code (level i+1), whose
// bits err independently with probabilities e, of length M. The error is the context's.
func (x *Exact) Row(ctx context.Context, i int, e []float64) (Moments, error) {
	form := x.forms.Get().(momentsOf)
	defer x.forms.Put(form)
	return form(ctx, i, e)
}

// momentsOf gives the moments of |error| for row i, whose bits err independently with
// probabilities e. It has scratch memory of its own. The error is the context's.
type momentsOf func(ctx context.Context, i int, e []float64) (Moments, error)

// closedForms are the exact values that are not enumerated, each beside its formula.
// What a form returns makes a momentsOf for one goroutine.
var closedForms = []func(c *code.Code, d decode.Decoder) (form func() momentsOf, ok bool){belUExactOf, belJExactOf}

// NewExact prepares the exact expectation for a code and its decoder: for bel-u and
// bel-j of any size, for any other decoder by enumeration of all 2^M outputs where
// that is at most 2³¹ operations and M ≤ 20. The error wraps ErrNoClosedForm elsewhere, and where
// a row takes more than most sums of two products, beside the enumeration itself; or it is the
// context's.
func NewExact(ctx context.Context, most int, c *code.Code, d decode.Decoder) (*Exact, error) {
	prepared := func(form func() momentsOf) *Exact {
		return &Exact{code: c, decoder: d, forms: sync.Pool{New: func() any { return form() }}}
	}
	for _, of := range closedForms {
		if form, ok := of(c, d); ok {
			return prepared(form), nil
		}
	}
	t, err := newOutcomes(ctx, c, d)
	if err != nil {
		return nil, err
	}
	if n := t.nodes(); n > most {
		return nil, fmt.Errorf("%w: an exact value takes a decision diagram of %d nodes, and only %d are quick",
			ErrNoClosedForm, n, most)
	}
	return prepared(t.exact), nil
}

// Levels returns the exact moments of the error of every level whose weight is above zero; of all
// where weights are nil. The table e is L × M. workers is the number of goroutines, 0 for all
// processors; it changes no number. The error may be the context's.
func (x *Exact) Levels(ctx context.Context, workers int, weights []float64, e mat.Matrix) ([]Moments, error) {
	out := make([]Moments, x.code.Levels())
	err := x.code.CheckTable(e)
	if err == nil {
		err = parallel.Each(ctx, workers, len(out), func() (func(context.Context, int) error, error) {
			var row []float64
			return func(ctx context.Context, i int) (err error) {
				if weights != nil && weights[i] == 0 {
					return nil
				}
				if row, err = matrix.Probabilities(row, i, e); err != nil {
					return err
				}
				out[i], err = x.Row(ctx, i, row)
				return err
			}, nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("exact error of %s with %s: %w", x.code.Name(), x.decoder.Name(), err)
	}
	return out, nil
}

// ExactLevels returns the exact moments of the error of every level of a code: see NewExact and
// Exact.Levels.
func ExactLevels(ctx context.Context, workers int, c *code.Code, d decode.Decoder, e mat.Matrix) ([]Moments,
	error) {
	x, err := NewExact(ctx, math.MaxInt, c, d)
	if err != nil {
		return nil, err
	}
	return x.Levels(ctx, workers, nil, e)
}
