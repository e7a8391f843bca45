package assess

import (
	"fmt"
	"math"
	"strconv"

	"belsim/errmodel"
	"belsim/errmodel/fault"
	"belsim/errmodel/observed"
	"belsim/errmodel/scenario"
	"belsim/theory/base/refuse"
	"belsim/theory/base/table"
)

// Baseline is direct regression, a network without a code: its mean |error|, or its predictions for
// the same samples.
type Baseline struct {
	// Error is in levels, or in label units where there is a range; 0 where there are predictions,
	// or no baseline.
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
			return Baseline{}, &refuse.Value{Name: "baseline", Value: v,
				Want: "a positive finite number, or the file of predictions"}
		}
		return Baseline{Error: v}, nil
	}
	return Baseline{File: text}, nil
}

// Direct is the network beside direct regression. Errors are against the target itself, in label
// units where there is a range, else in levels.
type Direct struct {
	// mean |error| of direct regression: as it was given, or of its predictions as they are
	Error  float64 `json:"error"`
	StdErr float64 `json:"stderr"`
	// the network and its best decoder
	scenario.Design
	// mean |error| of the network with this decoder
	Network float64 `json:"network"`
	// network − error; over the samples that judge a fitted decoder where that is one
	Difference float64 `json:"difference"`
	// standard error of difference: of the differences of the samples, or of network where nobody
	// gave predictions
	DifferenceErr float64 `json:"difference_stderr"`
	// difference is more than 1.96 standard errors
	Told bool `json:"told_apart"`
	// why the error is not believed; empty where it is
	Warning string `json:"warning"`
}

// besideDirect compares the network with direct regression, both by their errors about the targets
// themselves; it is nil where none is
// given. The error refuses a baseline that is larger than the range.
func (f *Fit) besideDirect(n *network) (*Direct, error) {
	best, b := bestDecoder(f.Decoders), n.options.Baseline
	if b == (Baseline{}) || best < 0 {
		return nil, nil
	}
	d, width := f.Decoders[best], n.width()
	out := &Direct{Error: b.Error, StdErr: math.NaN(), Design: d.Design, Network: d.Observed, DifferenceErr: d.StdErr}
	fitted := f.Fitted != nil && f.Fitted.Better
	if fitted {
		out.Design, out.Network, out.DifferenceErr = f.Fitted.Design, f.Fitted.Error, f.Fitted.StdErr
	}
	out.Difference = out.Network - out.Error
	if b.File != "" {
		direct, paired := n.seen.Direct.Times(width), n.seen.Beside[best].Times(width)
		if fitted {
			paired = n.fitted.Beside
		}
		out.Error, out.StdErr = direct.Mean, direct.StdErr
		out.Difference, out.DifferenceErr = paired.Mean, paired.StdErr
	}
	out.Told = math.Abs(out.Difference) > errmodel.Errors95*out.DifferenceErr
	all, what := float64(n.code.Levels()-1)*width, "the width of the range"
	if n.code.Circular() {
		all, what = float64(n.code.Levels())*width/2, "half of the circle"
	}
	if out.Error > all {
		return nil, &refuse.Value{Name: "baseline", Value: out.Error,
			Want: fmt.Sprintf("a mean |error| in %s, of %s at most: %s", f.ErrorUnit(), table.Short(all), what)}
	}
	e := observed.Error{Mean: out.Error / width}
	if !table.Missing(out.StdErr) {
		e.StdErr = out.StdErr / width
	}
	const unbelieved = 3 // as a factor: other units, or other data
	ratio := out.Error / out.Network
	switch {
	case fault.AsGuess(n.code, n.seen.Counts, e):
		out.Warning = "the median target alone would be at least as near"
	case out.Network > 0 && !n.options.predicts() && (ratio > unbelieved || ratio < 1./unbelieved):
		out.Warning = fmt.Sprintf("it is %.2g times the error of this network", ratio)
	}
	return out, nil
}

// directText compares the network with direct regression for people; it is "" where that is not
// given.
func (f *Fit) directText() string {
	d := f.Direct
	if d == nil {
		return ""
	}
	verdict, by, how := "not told apart from it", "", "of this network alone"
	if !table.Missing(d.StdErr) {
		how = "paired by sample"
	}
	if d.Told {
		verdict = map[bool]string{true: "worse", false: "better"}[d.Difference > 0]
	}
	if share := d.Difference / d.Error; math.Abs(share) < 1e4 { // also where direct regression is never wrong
		by = fmt.Sprintf(": %s (standard error %s, %s)", moreError(share, "as much error"),
			percent(d.DifferenceErr/d.Error), how)
	}
	who := "this network"
	if f.Fitted != nil && f.Fitted.Better { // which direct regression has none of
		who += ", read by its fitted decoder,"
	}
	text := fmt.Sprintf("Direct regression is wrong by %s%s: %s is %s%s.", table.Short(d.Error), f.unit(), who, verdict, by)
	if d.Warning != "" {
		text += fmt.Sprintf(" %s Check its units, and the order of its samples.", sentenceOf(d.Warning))
	}
	return text
}
