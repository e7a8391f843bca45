package assess

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"belsim/errmodel/observed"
	"belsim/montecarlo/forecast"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/table"
	"belsim/theory/code"
)

// Baseline is direct regression, a network without a code: its mean |error|, or its predictions for the same samples.
type Baseline struct {
	// Error is in levels, or in label units where there is a range; 0 where there are predictions, or no baseline.
	Error float64
	// File has the predictions, N × 1, in the units of the targets: .csv, .npy or FILE.npz:NAME.
	File string
}

// ParseBaseline reads a number or the name of a file; "" is none.
func ParseBaseline(text string) (Baseline, error) {
	if text == "" {
		return Baseline{}, nil
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		if !(v > 0) || math.IsInf(v, 0) {
			return Baseline{}, &scenario.ValueError{Name: "baseline", Value: v, Want: "a positive finite number, or the file of predictions"}
		}
		return Baseline{Error: v}, nil
	}
	return Baseline{File: text}, nil
}

// Direct is the network beside direct regression. Errors are against the target itself, in label units where there is a
// range, else in levels.
type Direct struct {
	Error         float64 `json:"error" doc:"mean |error| of direct regression: as it was given, or of its predictions, which are clipped to the range of the levels like all answers of decoders"`
	StdErr        float64 `json:"stderr" doc:"shared"`
	Decoder       string  `json:"decoder" doc:"shared"`
	Outputs       string  `json:"outputs" doc:"shared"`
	Network       float64 `json:"network" doc:"mean |error| of the network with this decoder"`
	Difference    float64 `json:"difference" doc:"network − error; over the samples that judge a fitted decoder where that is one"`
	DifferenceErr float64 `json:"difference_stderr" doc:"standard error of difference: of the differences of the samples, or of network where nobody gave predictions"`
	Told          bool    `json:"told_apart" doc:"difference is more than 1.96 standard errors"`
	Warning       string  `json:"warning" doc:"why the error is not believed, and no forecast uses it; empty where forecasts do"`
}

// unbelieved is the factor by which the error of direct regression may be from its forecast, and which no measured network has had:
// beyond it, it is of other units or data.
const unbelieved = 2

// besideDirect compares the network with direct regression: Fit.Direct. Both are wrong about the targets themselves.
func (s *study) besideDirect() {
	f, b := s.f, s.options.Baseline
	best := f.bestDecoder()
	if b == (Baseline{}) || best < 0 {
		return
	}
	d, w := f.Decoders[best], f.LevelWidth
	out := &Direct{Error: b.Error, StdErr: math.NaN(), Decoder: d.Decoder, Outputs: d.Outputs, Network: d.Observed, DifferenceErr: d.StdErr}
	fitted := f.Fitted != nil && f.Fitted.Better
	if fitted {
		out.Decoder, out.Outputs, out.Network, out.DifferenceErr = "fitted", f.Fitted.Reads, f.Fitted.Error, f.Fitted.StdErr
	}
	out.Difference = out.Network - out.Error
	if b.File != "" {
		paired := s.seen.Beside[best]
		if fitted {
			paired = s.fitted.Beside
		}
		out.Error, out.StdErr, out.Difference, out.DifferenceErr = w*s.seen.Direct.Mean, w*s.seen.Direct.StdErr, w*paired.Mean, w*paired.StdErr
	}
	out.Told = math.Abs(out.Difference) > scenario.Confidence*out.DifferenceErr
	f.Direct = out
}

// doubtDirect says why the error of direct regression cannot be right: Direct.Warning. The error refuses one that is larger than
// the range, or is the context's.
func (s *study) doubtDirect(ctx context.Context, workers int) error {
	f, d := s.f, s.f.Direct
	if d == nil {
		return nil
	}
	if all := float64(f.Levels-1) * f.LevelWidth; d.Error > all {
		unit := "levels"
		if f.Range != nil {
			unit = "label units"
		}
		return &scenario.ValueError{Name: "baseline", Value: d.Error, Want: fmt.Sprintf("a mean |error| in %s, of %v at most: the width of the range", unit, all)}
	}
	e := observed.Error{Mean: d.Error / f.LevelWidth}
	if !table.Missing(d.StdErr) {
		e.StdErr = d.StdErr / f.LevelWidth
	}
	if s.asGuess(e) {
		d.Warning = "the median target alone would be as near"
		return nil
	}
	if s.forecasts == nil || f.predicts() {
		return nil
	}
	c, err := f.open(forecast.Direct)
	if err != nil {
		return err
	}
	forecasts, err := s.forecasts.Codes(ctx, workers, []*code.Code{c}, nil)
	if err != nil {
		return err
	}
	for _, x := range forecasts {
		ratio := d.Error / d.Network
		if ratio > unbelieved*x.Ratio && ratio > x.RatioHi || ratio < x.Ratio/unbelieved && ratio < x.RatioLo {
			d.Warning = fmt.Sprintf("it is %.2g times the error that this network lets expect", ratio/x.Ratio)
		}
	}
	return nil
}

// directText compares the network with direct regression for people; it is "" where that is not given.
func (f *Fit) directText() string {
	d := f.Direct
	if d == nil {
		return ""
	}
	text := fmt.Sprintf("Direct regression is wrong by %s%s: this network is ", table.Short(d.Error), f.unit())
	warning := ""
	if d.Warning != "" {
		warning = fmt.Sprintf(" No forecast uses its error, for %s: check its units, and the order of its samples.", d.Warning)
	}
	if d.Difference/d.Error > 1e4 { // also where the quotient is no number
		return text + "more than 10,000 times as wrong." + warning
	}
	verdict := "not told apart from it"
	if d.Told {
		verdict = "better"
		if d.Difference > 0 {
			verdict = "worse"
		}
	}
	how := "the standard error is this network's alone"
	if !table.Missing(d.StdErr) {
		how = "paired by sample"
	}
	share := d.Difference / d.Error
	return fmt.Sprintf("%s%s: %s %% ± %s (%s).", text, verdict, signed(share, placesOf(share)), percent(d.DifferenceErr/d.Error), how) + warning
}
