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

// exactFields is what results say about an exact value that no formula gives.
type exactFields struct {
	// the exact mean lies in an interval from here; missing where a formula gives exact, or where
	// there is no interval
	ExactLo *float64 `json:"exact_lo,omitempty" csv:"-"`
	// end of the interval; exact is its middle where it is narrow
	ExactHi *float64 `json:"exact_hi,omitempty" csv:"-"`
}

// Averages is Average of Theory, but where no formula gives the exact value it is the middle of an
// interval, if that is relatively not wider than ExactWidth.
func Averages(ctx context.Context, workers int, p *montecarlo.Problem, prior []float64) (bound, exact float64,
	err error) {
	th, err := Theory(ctx, workers, p, Omit{})
	if err != nil {
		return math.NaN(), math.NaN(), err
	}
	bound, exact, _, err = averages(ctx, workers, p, prior, th, Omit{})
	return bound, exact, err
}

// averages is Averages of what theory says, with the interval where there is one.
func averages(ctx context.Context, workers int, p *montecarlo.Problem, prior []float64, th []montecarlo.Theory,
	omit Omit) (bound, exact float64, interval exactFields, err error) {
	if bound, exact = Average(th, prior); !table.Missing(exact) || !HasExact(p) || omit.Intervals {
		return bound, exact, interval, nil
	}
	o := enclose.DefaultOptions()
	if omit.Slow {
		rows := len(prior) * tableCount(p)
		if o.Work = min(o.Work, quickInterval/rows); len(prior)*rows > quickPairs && !enclose.Path(p.Code, p.Decoder) {
			return bound, exact, interval, nil
		}
	}
	v, err := enclosed(ctx, workers, p, prior, p.Errors, o)
	if errors.Is(err, theory.ErrNoClosedForm) || errors.Is(err, enclose.ErrTooWide) {
		return bound, exact, interval, nil
	}
	if err != nil {
		return bound, exact, interval, err
	}
	if v.Width() <= ExactWidth {
		exact = v.Middle()
	}
	return bound, exact, exactFields{&v.Lo, &v.Hi}, nil
}

// text is the exact value for people: one number where four digits are known, or the interval.
func (f exactFields) text(exact float64) string {
	if f.ExactLo == nil || !table.Missing(exact) {
		return table.Short(exact)
	}
	return table.Short(*f.ExactLo) + " to " + table.Short(*f.ExactHi)
}
