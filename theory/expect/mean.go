package expect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"belsim/theory"
	"belsim/theory/base/matrix"
	"belsim/theory/code"
	"belsim/theory/decode"
	"belsim/theory/enclose"
)

// Mean computes means over the labels, of a bound or of exact values, as Of does. It is
// prepared for many problems of a code and a decoder, and safe for concurrent use.
type Mean struct {
	Name   string  // which bound it is, for people; "" for exact values
	Linear bool    // the value of r·e is r times the value of e, until a level reaches theory.Largest
	Width  float64 // values may be wrong by this relative amount; 0 for formulas
	Work   int     // of an interval, where there is no formula: see enclose.Options

	omit  Omit
	rows  func(e mat.Matrix) (rowBound, error) // the bounds of the rows of a table; nil for exact values
	exact *theory.Exact                        // nil for bounds, intervals and decoders that know the error model
}

// rowBound gives the bound of row i of a table. It may hold scratch memory. The error is the
// context's.
type rowBound func(ctx context.Context, i int) (float64, error)

// newBound is the mean of a bound.
func newBound(name string, linear bool, rows func(e mat.Matrix) (rowBound, error)) *Mean {
	return &Mean{Name: name, Linear: linear, rows: rows, omit: Omit{Exact: true, Intervals: true, AnyLaw: true}}
}

// PaperBound is the kind of the paper's formulas for its decoders, which count how often bits are
// wrong.
const PaperBound = "the paper's"

// BoundKind is what bounds that may be compared have in common, by the name of one: the paper's
// formulas are one kind. A union bound counts all other levels, and is looser.
func BoundKind(name string) string {
	if strings.HasPrefix(name, "Eq. ") {
		return PaperBound
	}
	return name
}

// Mean returns Σ prior·value over the levels of a problem of the code and the decoder. It is NaN
// where an interval is relatively wider than ExactWidth. The error is the context's.
func (m *Mean) Mean(ctx context.Context, p *Problem, prior []float64) (float64, error) {
	q := theorist{workers: 1, p: p, prior: prior, omit: m.omit, onlyMean: true, exact: m.exact,
		enclosing: enclose.Options{Width: ExactWidth / 10, Work: m.Work}}
	t, err := q.theory(ctx)
	switch {
	case err != nil:
		return 0, err
	case m.rows != nil:
		return t.Mean.Bound, nil
	}
	return t.Mean.Exact, nil
}

// BoundOf returns the bound that holds for a problem: the bound for hard decisions, or the union
// bound on logits. The error wraps theory.ErrNoClosedForm where there is none.
func BoundOf(p *Problem) (*Mean, error) {
	of := theory.NewBound
	if p.Logits {
		of = theory.NewSoftBound
	}
	b, err := of(p.Code, p.Decoder)
	if err != nil {
		return nil, err
	}
	return newBound(b.Name, b.Linear, func(e mat.Matrix) (rowBound, error) {
		var row []float64
		return func(ctx context.Context, i int) (float64, error) {
			row = matrix.Row(row, i, e)
			return b.Row(ctx, i, row)
		}, nil
	}), nil
}

// HasExact reports whether exact values describe a problem: its bits err independently. The signs of
// logits are such bits.
func HasExact(p *Problem) bool {
	return !p.Logits || signsDecide(p.Code, p.Decoder)
}

// signsDecide reports whether a decoder takes logits for the bits that their signs are: gen does,
// for codes that have all 2^M words of the M bits that are not constant, such as each code of one
// bit. The largest correlation Σ z_k·c_k is then that of c_k = 1 where z_k > 0, bit by bit, as with
// outputs of ±1. A word that is missing changes this: unary of 3 levels lacks 01, takes logits (−1,
// 3) for 11, and their signs for 00. Words tie where a logit is 0, which has the probability 0;
// that it is rounded to 0 montecarlo.Problem.Rounding knows.
func signsDecide(c *code.Code, d decode.Decoder) bool {
	if _, gen := d.(decode.Gen); !gen || c.Real() {
		return false
	}
	change := 0
	for _, at := range c.Transitions() {
		if len(at) > 0 {
			change++
		}
	}
	return c.Levels() == 1<<change // no two words are the same
}

// ExactOf prepares the exact values of a problem: the formulas of package theory, or else the
// middles of intervals, which are NaN where an interval is relatively wider than ExactWidth.
// The error wraps theory.ErrNoClosedForm where there are neither, or is the context's.
func ExactOf(ctx context.Context, p *Problem) (*Mean, error) {
	if !HasExact(p) {
		return nil, fmt.Errorf("%w: exact values are for bits that err independently, or logits whose signs decide",
			theory.ErrNoClosedForm)
	}
	m := &Mean{omit: Omit{Bounds: true, Intervals: true, AnyLaw: true}}
	if _, ok := p.Decoder.(decode.Informed); ok { // which is another decoder for every table
		return m, theory.Enumerable(p.Code, p.Decoder)
	}
	var err error
	m.exact, err = theory.NewExact(ctx, math.MaxInt, p.Code, p.Decoder)
	if errors.Is(err, theory.ErrNoClosedForm) && enclose.Fits(p.Code, p.Decoder) {
		const work = 1 << 21 // maps have many cells
		return &Mean{Width: ExactWidth, Work: work, omit: Omit{Bounds: true, Exact: true, AnyLaw: true}}, nil
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// ExactWidth is the largest relative width of an interval whose middle is an exact value: it is
// right to four digits.
const ExactWidth = 1e-5
