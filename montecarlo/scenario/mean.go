package scenario

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/theory"
	"belsim/theory/anylaw"
	"belsim/theory/base/matrix"
	"belsim/theory/code"
	"belsim/theory/decode"
	"belsim/theory/enclose"
)

// Invalid reports whether an error says that the error model gives a probability above 1.
func Invalid(err error) bool {
	var invalid *errmodel.InvalidError
	return errors.As(err, &invalid)
}

// Method says how an expected error is computed.
type Method string

// The methods.
const (
	Bound  Method = "bound"
	Exact  Method = "exact"
	Sample Method = "mc"
)

// MeanOf is the mean of a method with a formula: BoundOf or ExactOf.
func (m Method) MeanOf(ctx context.Context, p *montecarlo.Problem) (*Mean, error) {
	if m == Exact {
		return ExactOf(ctx, p)
	}
	return BoundOf(p)
}

// Mean computes a mean over the labels: of a bound, or of exact values. It holds scratch memory:
// use one on one goroutine at a time.
type Mean struct {
	Name   string  // which bound it is, for people; "" for exact values
	Linear bool    // the value of r·e is r times the value of e
	Width  float64 // values may be wrong by this relative amount; 0 for formulas

	rows func(e mat.Matrix) (theory.RowValue, error) // the bounds of the rows of a table; nil for exact values
	of   meanOf                                      // of exact values
}

// Kind is what bounds that may be compared have in common: the paper's formulas for its decoders
// are one kind, and count how often bits are wrong; a union bound counts all other levels, and is
// looser.
func (m *Mean) Kind() string {
	if strings.HasPrefix(m.Name, "Eq. ") {
		return "the paper's"
	}
	return m.Name
}

// meanOf gives Σ prior·value over the rows of a table e, L × M.
type meanOf func(ctx context.Context, prior []float64, e mat.Matrix) (float64, error)

// Mean returns Σ prior·value over the rows of a table e, L × M, of the problem's error model. The
// error is the context's.
func (m *Mean) Mean(ctx context.Context, prior []float64, e mat.Matrix) (float64, error) {
	if m.rows == nil {
		return m.of(ctx, prior, e)
	}
	row, err := m.rows(e)
	if err != nil {
		return 0, err
	}
	return theory.Mean(ctx, prior, row)
}

// BoundOf returns the bound that holds for a problem: the bound for hard decisions, or the union
// bound on logits. At a perceived label bits err independently, and the bound
// is the mean over its strata. The error wraps theory.ErrNoClosedForm where there is none.
func BoundOf(p *montecarlo.Problem) (*Mean, error) {
	of := theory.NewBound
	_, joint := p.Errors.(*anylaw.Table)
	_, counts := p.Decoder.(decode.BelU)
	switch {
	case joint && !counts:
		return nil, fmt.Errorf("%w: the bound of decoder %s is for bits that err independently", theory.ErrNoClosedForm,
			p.Decoder.Name())
	case p.Kind.Perceived():
		return perceivedBound(p)
	case !p.Kind.Hard():
		of = theory.NewSoftBound
	}
	b, err := of(p.Code, p.Decoder)
	if err != nil {
		return nil, err
	}
	return &Mean{Name: b.Name, Linear: b.Linear, rows: func(e mat.Matrix) (theory.RowValue, error) {
		var row []float64
		return func(ctx context.Context, i int) (float64, error) {
			row = matrix.Row(row, i, e)
			return b.Row(ctx, i, row)
		}, nil
	}}, nil
}

// HasExact reports whether exact values describe a problem: bits err independently, given a
// perceived label where there is one. The signs of logits are such bits.
func HasExact(p *montecarlo.Problem) bool {
	return p.Kind.Hard() || signsDecide(p.Code, p.Decoder)
}

// signsDecide reports whether a decoder takes logits for the bits that their signs are: gen does,
// for codes that have all 2^M words of the M bits that are not constant, such as each code of one
// bit. The largest correlation Σ z_k·c_k is then that of c_k = 1 where z_k > 0, bit by bit, as with
// outputs of ±1. A word that is missing changes this: unary of 3 levels lacks 01, takes logits (−1,
// 3) for 11, and their signs for 00. Words tie where a logit is 0, which has the probability 0;
// that it is rounded to 0 montecarlo.Problem.Rounding knows.
func signsDecide(c *code.Code, d decode.Decoder) bool {
	if _, gen := d.(decode.Gen); !gen || c.Real() || c.Levels()&(c.Levels()-1) != 0 {
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
func ExactOf(ctx context.Context, p *montecarlo.Problem) (*Mean, error) {
	if !HasExact(p) {
		return nil, fmt.Errorf("%w: exact values are for bits that err independently, or logits whose signs decide",
			theory.ErrNoClosedForm)
	}
	if d, ok := p.Decoder.(decode.Informed); ok { // which is another decoder for every table
		return &Mean{of: func(ctx context.Context, prior []float64, e mat.Matrix) (float64, error) {
			informed, err := inform(d, prior, e, false)
			if err != nil {
				return 0, err
			}
			x, err := theory.NewExact(ctx, p.Code, informed)
			if err != nil {
				return 0, err
			}
			return overTables(ctx, p.Code, x.Mean, prior, e)
		}}, theory.Enumerable(p.Code, d)
	}
	x, err := theory.NewExact(ctx, p.Code, p.Decoder)
	switch {
	case errors.Is(err, theory.ErrNoClosedForm) && enclose.Fits(p.Code, p.Decoder):
		return enclosedMean(p), nil
	case err != nil:
		return nil, err
	}
	return &Mean{of: func(ctx context.Context, prior []float64, e mat.Matrix) (float64, error) {
		return overTables(ctx, p.Code, x.Mean, prior, e)
	}}, nil
}

// overTables is the mean of a mean over the tables of error probabilities e: see tablesOf.
func overTables(ctx context.Context, c *code.Code, mean meanOf, prior []float64, e mat.Matrix) (float64, error) {
	sum, tables := 0.0, tablesOf(c, e)
	for _, t := range tables {
		v, err := mean(ctx, prior, t)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum / float64(len(tables)), nil
}

// enclosedMean is the middle of an interval; NaN where it is wide.
func enclosedMean(p *montecarlo.Problem) *Mean {
	// Maps have many cells, which are computed on all processors.
	o := enclose.Options{Width: ExactWidth / 10, Work: 1 << 21}
	return &Mean{Width: ExactWidth, of: func(ctx context.Context, prior []float64, e mat.Matrix) (float64, error) {
		rows, err := enclose.Rows(ctx, 1, p.Code, p.Decoder, prior, tablesOf(p.Code, e), o)
		if errors.Is(err, enclose.ErrTooWide) {
			return math.NaN(), nil
		}
		if err != nil {
			return 0, err
		}
		v := enclose.Mean(prior, rows)
		if v.Width() > ExactWidth {
			return math.NaN(), nil
		}
		return v.Middle(), nil
	}}
}

// ExactWidth is the largest relative width of an interval whose middle is an exact value: it is
// right to four digits.
const ExactWidth = 1e-5
