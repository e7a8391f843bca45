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
	"belsim/theory/base/parallel"
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

	of meanOf
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
	return m.of(ctx, prior, e)
}

// bound is an upper bound of the error of every level.
type bound struct {
	name   string // for people
	linear bool   // see Mean
	// rows makes the bounds of the rows of a table.
	rows func(e mat.Matrix) (theory.RowValue, error)
}

// boundOf returns the bound that holds for a problem: see BoundOf.
func boundOf(p *montecarlo.Problem) (*bound, error) {
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
	return &bound{b.Name, b.Linear, func(e mat.Matrix) (theory.RowValue, error) {
		var row []float64
		return func(ctx context.Context, i int) (float64, error) {
			row = matrix.Row(row, i, e)
			return b.Row(ctx, i, row)
		}, nil
	}}, nil
}

// BoundOf returns the bound that holds for a problem: the bound for hard decisions, or the union
// bound on logits. At a perceived label bits err independently, and the bound
// is the mean over its strata. The error wraps theory.ErrNoClosedForm where there is none.
func BoundOf(p *montecarlo.Problem) (*Mean, error) {
	b, err := boundOf(p)
	if err != nil {
		return nil, err
	}
	return &Mean{Name: b.name, Linear: b.linear, of: func(ctx context.Context, prior []float64, e mat.Matrix) (float64,
		error) {
		row, err := b.rows(e)
		if err != nil {
			return 0, err
		}
		return theory.Mean(ctx, prior, row)
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
	d, ok := p.Decoder.(decode.Informed)
	if !ok {
		mean, err := exactMean(ctx, p, p.Decoder)
		if errors.Is(err, theory.ErrNoClosedForm) && enclose.Fits(p.Code, p.Decoder) {
			return enclosedMean(p), nil
		}
		return &Mean{of: mean}, err
	}
	if err := theory.Enumerable(p.Code, d); err != nil {
		return nil, err
	}
	// It is another decoder for every table.
	return &Mean{of: func(ctx context.Context, prior []float64, e mat.Matrix) (float64, error) {
		informed, err := inform(d, prior, e, false)
		if err != nil {
			return 0, err
		}
		mean, err := exactMean(ctx, p, informed)
		if err != nil {
			return 0, err
		}
		return mean(ctx, prior, e)
	}}, nil
}

// exactMean gives the exact values of a problem with a decoder, by formulas.
func exactMean(ctx context.Context, p *montecarlo.Problem, d decode.Decoder) (meanOf, error) {
	x, err := theory.NewExact(ctx, p.Code, d)
	switch {
	case err != nil:
		return nil, err
	case p.Kind.Perceived():
		return overStrata(p.Code, x.Mean), nil
	}
	return x.Mean, nil
}

// Omit says which values are left out, because they take long.
type Omit struct {
	Bounds, Exact, Intervals, AnyLaw bool
	Slow                             bool // of all of these, what takes more than about a second of a processor
}

// The work that is done where what is slow is left out: products of probabilities of a union bound,
// outputs that are compared with words, nodes of decision diagrams, and scores of candidates of an
// interval.
const (
	quickUnion    = 1 << 18
	quickOutcomes = 1 << 26
	quickNodes    = 1 << 28
	quickInterval = 1 << 28
	quickPairs    = 1 << 20 // of a true word and another one, unless the words form a path
)

// tableCount is the number of tables of tablesOf.
func tableCount(p *montecarlo.Problem) int {
	if p.Kind.Perceived() {
		return decode.Strata
	}
	return 1
}

// slowBound reports whether the bound takes long: at a perceived label, where it is that of pairs
// of words.
func slowBound(p *montecarlo.Problem) bool {
	m := p.Code.Bits()
	return p.Kind.Perceived() && enclose.Fits(p.Code, p.Decoder) && p.Code.Levels()*m*m > quickUnion
}

// exactWork is how much work exact values may take where slow ones are left out: any amount where
// there is no interval instead, and none where the enumeration of all outputs takes long.
func exactWork(p *montecarlo.Problem) int {
	switch {
	case !enclose.Fits(p.Code, p.Decoder):
		return math.MaxInt
	case p.Code.Levels()<<min(p.Code.Bits(), 32) > quickOutcomes:
		return 0
	}
	return quickNodes
}

// QuickExact reports whether exact values take no more than about a second of a processor, unless
// they are intervals.
func QuickExact(p *montecarlo.Problem) bool {
	m := p.Code.Bits()
	return exactWork(p) > 0 && (!p.Kind.Perceived() || p.Code.Levels()*m*m <= quickUnion)
}

// Theory returns the bound and the exact moments of every level, in levels; NaN where there
// are none, or where they are left out. workers is the number of goroutines, 0 for one on each
// processor.
func Theory(ctx context.Context, workers int, p *montecarlo.Problem, omit Omit) ([]montecarlo.Theory, error) {
	out := make([]montecarlo.Theory, p.Code.Levels())
	for i := range out {
		out[i] = montecarlo.Theory{Bound: math.NaN(), Mean: math.NaN(), MeanSquare: math.NaN()}
	}
	if _, err := boundOf(p); err == nil && !omit.Bounds && !(omit.Slow && slowBound(p)) {
		if err := parallel.Each(ctx, workers, len(out), func() (func(context.Context, int) error, error) {
			b, err := boundOf(p)
			if err != nil {
				return nil, err
			}
			row, err := b.rows(p.Errors)
			return func(ctx context.Context, i int) (err error) {
				out[i].Bound, err = row(ctx, i)
				return err
			}, err
		}); err != nil {
			return nil, err
		}
	}
	if law, ok := p.Errors.(*anylaw.Table); ok {
		for i := range out {
			out[i].Mean, out[i].MeanSquare = law.Moments(p.Code, p.Decoder, i)
		}
		return out, ctx.Err()
	}
	most := math.MaxInt
	if omit.Slow {
		most = exactWork(p)
	}
	if HasExact(p) && !omit.Exact && most > 0 {
		exacts, err := theory.QuickMoments(ctx, workers, most, p.Code, p.Decoder, tablesOf(p, p.Errors)...)
		if err != nil && !errors.Is(err, theory.ErrNoClosedForm) {
			return nil, err
		}
		for i, x := range exacts {
			out[i].Mean, out[i].MeanSquare = x.Mean, x.MeanSquare
			if out[i].Rounding, err = p.Rounding(ctx, i); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// Average returns the means of the bounds and of the exact values over a prior, without the levels
// whose prior is zero. A mean is missing where another level lacks the value.
func Average(th []montecarlo.Theory, prior []float64) (bound, exact float64) {
	for i, p := range prior {
		if p > 0 {
			bound = math.FMA(p, th[i].Bound, bound)
			exact = math.FMA(p, th[i].Mean, exact)
		}
	}
	return bound, exact
}
