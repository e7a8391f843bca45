package scenario

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"belsim/montecarlo"
	"belsim/theory"
	"belsim/theory/base/table"
	"belsim/theory/enclose"
)

// ExactWidth is the largest relative width of an interval whose middle is an exact value: it is
// right to four digits.
const ExactWidth = 1e-5

// enclosed returns an interval that holds the exact error of a problem with error probabilities e
// over the weights of its labels, in levels. The error wraps theory.ErrNoClosedForm where there is
// none, enclose.ErrTooWide where errors are so frequent that it would be wide, or is the context's.
func enclosed(ctx context.Context, workers int, p *montecarlo.Problem, weights []float64, e mat.Matrix,
	o enclose.Options) (enclose.Interval, error) {
	rows, err := enclose.Rows(ctx, workers, p.Code, p.Decoder, weights, tablesOf(p, e), o)
	if err != nil {
		return enclose.Interval{}, err
	}
	return enclose.Mean(weights, rows), nil
}

// forCells are the options of intervals in maps, which have many cells.
var forCells = enclose.Options{Width: ExactWidth / 10, Work: 1 << 21}

// enclosedMean is the middle of an interval; NaN where it is wide.
func enclosedMean(p *montecarlo.Problem) *Mean {
	return &Mean{Width: ExactWidth, of: func(ctx context.Context, prior []float64, e mat.Matrix) (float64, error) {
		v, err := enclosed(ctx, 1, p, prior, e, forCells) // cells are computed on all processors
		if errors.Is(err, enclose.ErrTooWide) || err == nil && v.Width() > ExactWidth {
			return math.NaN(), nil
		}
		return v.Middle(), err
	}}
}

// Expected is what theory knows of the mean |error| over the labels, in levels.
type Expected struct {
	Bound float64 `json:"bound" text:"bound"`
	Exact float64 `json:"exact" text:"exact"`
	// the exact mean lies in an interval from here; missing where a formula gives exact, or where
	// there is no interval
	ExactLo *float64 `json:"exact_lo,omitempty" csv:"-"`
	// end of the interval; exact is its middle where it is narrow
	ExactHi *float64 `json:"exact_hi,omitempty" csv:"-"`
	// smallest and largest mean |error|, in levels, over all joint laws of the bits with these
	// error probabilities; missing where there are no such bounds, or where they take long
	AnyLaw *[2]float64 `json:"any_law,omitempty" csv:"-" text:"any law"`
}

// Averages is Average of Theory, but where no formula gives the exact value it is the middle of an
// interval, if that is relatively not wider than ExactWidth.
func Averages(ctx context.Context, workers int, p *montecarlo.Problem, prior []float64) (bound, exact float64,
	err error) {
	th, err := Theory(ctx, workers, p, Omit{})
	if err != nil {
		return math.NaN(), math.NaN(), err
	}
	x, err := Expect(ctx, workers, p, prior, th, Omit{})
	return x.Bound, x.Exact, err
}

// Expect is Averages of what Theory says, with the interval where there is one. What holds under
// any law is not there.
func Expect(ctx context.Context, workers int, p *montecarlo.Problem, prior []float64, th []montecarlo.Theory,
	omit Omit) (x Expected, err error) {
	if x.Bound, x.Exact = Average(th, prior); !table.Missing(x.Exact) || !HasExact(p) || omit.Intervals {
		return x, nil
	}
	o := enclose.DefaultOptions()
	if omit.Slow {
		rows := len(prior) * tableCount(p)
		if o.Work = min(o.Work, quickInterval/rows); len(prior)*rows > quickPairs && !enclose.Path(p.Code, p.Decoder) {
			return x, nil
		}
	}
	v, err := enclosed(ctx, workers, p, prior, p.Errors, o)
	if errors.Is(err, theory.ErrNoClosedForm) || errors.Is(err, enclose.ErrTooWide) {
		return x, nil
	}
	if err != nil {
		return x, err
	}
	if v.Width() <= ExactWidth {
		x.Exact = v.Middle()
	}
	x.ExactLo, x.ExactHi = &v.Lo, &v.Hi
	return x, nil
}

// ExactText is the exact value for people: one number where four digits are known, or the interval.
func (x Expected) ExactText() string {
	if x.ExactLo == nil || !table.Missing(x.Exact) {
		return table.Short(x.Exact)
	}
	return table.Short(*x.ExactLo) + " to " + table.Short(*x.ExactHi)
}
