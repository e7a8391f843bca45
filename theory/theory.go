package theory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/matrix"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
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
	// Linear is true when the bound of r·e is r times the bound of e (Eq. 2).
	Linear bool

	row boundOf
}

// boundOf gives the bound for row i, whose bits err with probabilities e. The error is the
// context's.
type boundOf func(ctx context.Context, i int, e []float64) (float64, error)

// noWait is a boundOf of a formula that takes no time.
func noWait(row func(i int, e []float64) float64) boundOf {
	return func(_ context.Context, i int, e []float64) (float64, error) { return row(i, e), nil }
}

// RowValue gives a value of row i of a table. It may hold scratch memory. The error is the
// context's.
type RowValue func(ctx context.Context, i int) (float64, error)

// Mean returns Σ prior·value over the rows whose prior is above zero. The error is the context's.
func Mean(ctx context.Context, prior []float64, value RowValue) (float64, error) {
	sum := 0.0
	for i, p := range prior {
		if p > 0 {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			v, err := value(ctx, i)
			if err != nil {
				return 0, err
			}
			sum = math.FMA(p, v, sum)
		}
	}
	return sum, nil
}

// Row returns the bound for row i of the code (level i+1), whose bits err with
// probabilities e, of length M. The error is the context's.
func (b *Bound) Row(ctx context.Context, i int, e []float64) (float64, error) {
	return b.row(ctx, i, e)
}

// bounds are the bounds on hard decisions, each beside its formula. A decoder without
// one has no bound.
var bounds = []func(c *code.Code, d decode.Decoder) (*Bound, bool){belUBoundOf, belJBoundOf, unionBoundOf}

// NewBound returns the bound for a code and its decoder on hard decisions: Eq. 2 for bel-u, Eq. 26
// for bel-j, the union bound for gen. The error wraps ErrNoClosedForm when there is none. Eq. 26
// and the union bound hold for bits that err independently: package anylaw has what holds for all.
func NewBound(c *code.Code, d decode.Decoder) (*Bound, error) {
	if c.Real() {
		return nil, fmt.Errorf("%w: no bound for the hard outputs of a code of real numbers", ErrNoClosedForm)
	}
	if _, gen := d.(decode.Gen); c.Uneven() && !gen {
		return nil, fmt.Errorf("%w: no bound for decoder %s of uneven levels: it counts levels, however wide they are",
			ErrNoClosedForm, d.Name())
	}
	for _, of := range bounds {
		if b, ok := of(c, d); ok {
			return b, nil
		}
	}
	return nil, fmt.Errorf("%w: no bound for decoder %s", ErrNoClosedForm, d.Name())
}

// Exact is the exact expected error of one label. It holds scratch memory: use
// one on one goroutine at a time.
type Exact struct {
	moments momentsOf
	row     []float64
}

// Row returns the moments of |error| for row i of the code (level i+1), whose
// bits err independently with probabilities e, of length M. The error is the context's.
func (x *Exact) Row(ctx context.Context, i int, e []float64) (Moments, error) {
	return x.moments(ctx, i, e)
}

// Mean returns Σ prior·E|error| over the rows of a table e, L × M. The error is the context's.
func (x *Exact) Mean(ctx context.Context, prior []float64, e mat.Matrix) (float64, error) {
	return Mean(ctx, prior, func(ctx context.Context, i int) (float64, error) {
		x.row = matrix.Row(x.row, i, e)
		m, err := x.Row(ctx, i, x.row)
		return m.Mean, err
	})
}

// momentsOf gives the moments of |error| for row i, whose bits err independently with
// probabilities e. It has scratch memory of its own. The error is the context's.
type momentsOf func(ctx context.Context, i int, e []float64) (Moments, error)

// closedForms are the exact values that are not enumerated, each beside its formula.
// What a form returns makes a momentsOf for one goroutine.
var closedForms = []func(c *code.Code, d decode.Decoder) (form func() momentsOf, ok bool){belUExactOf, belJExactOf}

// exactForm prepares the exact values of a code and its decoder: the closed form, or
// the enumeration, whose diagram of outcomes is made here, once. It may have so many nodes.
func exactForm(ctx context.Context, c *code.Code, d decode.Decoder, nodes int) (func() momentsOf, error) {
	for _, of := range closedForms {
		if form, ok := of(c, d); ok {
			return form, nil
		}
	}
	t, err := newOutcomes(ctx, c, d)
	if err != nil {
		return nil, err
	}
	if n := t.nodes(); n > nodes {
		return nil, fmt.Errorf("%w: an exact value takes a decision diagram of %d nodes, and only %d are quick",
			ErrNoClosedForm, n, nodes)
	}
	return t.exact, nil
}

// NewExact returns the exact expectation for a code and its decoder: for bel-u and
// bel-j of any size, for any other decoder by enumeration of all 2^M outputs where
// that is at most 2³¹ operations and M ≤ 20. The error wraps ErrNoClosedForm elsewhere, or is the
// context's.
func NewExact(ctx context.Context, c *code.Code, d decode.Decoder) (*Exact, error) {
	form, err := exactForm(ctx, c, d, math.MaxInt)
	if err != nil {
		return nil, err
	}
	return &Exact{moments: form()}, nil
}

// QuickMoments returns the exact moments of the error of every level of a code. Each table e is L ×
// M; of several the moments are the means, as where nature draws one of them for every sample.
// workers is the number of goroutines, 0 for all processors; it changes no number. The error wraps
// ErrNoClosedForm when the moments are out of reach, or where those that are enumerated take more
// than most sums of two products, beside the enumeration itself; or it is the context's. The rows
// of one level are on one goroutine, in the order of the tables.
func QuickMoments(ctx context.Context, workers, most int, c *code.Code, d decode.Decoder, e ...mat.Matrix) ([]Moments,
	error) {
	out := make([]Moments, c.Levels())
	form, err := exactForm(ctx, c, d, most/(len(out)*max(1, len(e))))
	for _, t := range e {
		err = cmp.Or(err, c.CheckTable(t))
	}
	if err == nil {
		err = parallel.Each(ctx, workers, len(out), func() (func(context.Context, int) error, error) {
			exact, row := form(), []float64(nil)
			return func(ctx context.Context, i int) (err error) {
				for _, t := range e {
					if row, err = matrix.Probabilities(row, i, t); err != nil {
						return err
					}
					m, err := exact(ctx, i, row)
					if err != nil {
						return err
					}
					out[i].Mean += m.Mean / float64(len(e))
					out[i].MeanSquare += m.MeanSquare / float64(len(e))
				}
				return nil
			}, nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("exact error of %s with %s: %w", c.Name(), d.Name(), err)
	}
	return out, nil
}
