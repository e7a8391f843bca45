package assess

import (
	"context"
	"fmt"

	"belsim/errmodel/fitdecoder"
	"belsim/errmodel/perceived"
	"belsim/montecarlo/forecast"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/memory"
	"belsim/theory/base/table"
)

// Fitted is the decoder that was fitted to a network, or the best of the baseline decoders where
// none is better. Errors are means of |answer − target|, in the unit of the targets, over samples
// that were not used to fit the decoder that decodes them.
type Fitted struct {
	scenario.Design
	Kind string `json:"kind"`
	Rule string `json:"rule"`
	// it is better than the baseline decoders, those that are not fitted, by more than the standard
	// error; else it is one of them
	Better bool `json:"better"`
	// samples that it was fitted to, and that judge it by nested cross-validation
	Samples int `json:"samples"`
	// mean |answer − target|, by nested cross-validation
	Error  float64 `json:"error"`
	StdErr float64 `json:"stderr"`
	// interval of error
	Interval [2]float64 `json:"interval"`
	// the best of the baseline decoders
	Baseline scenario.Design `json:"baseline"`
	// its mean |answer − target|
	BaselineErr float64 `json:"baseline_error"`
	// baseline_error − the error of what cross-validation chooses
	Gain float64 `json:"gain"`
	// standard error of gain, of the differences of the samples
	GainSE float64 `json:"gain_stderr"`
	// how good the intervals of single labels are, as decode --confidence 0.9 writes them
	Intervals *Intervals `json:"intervals"`
	// a row for the best decoder of each kind
	Kinds []FittedKind `json:"kinds"`
	Notes []string     `json:"notes"`
}

// FittedKind is the best decoder of one kind.
type FittedKind struct {
	Kind string `json:"kind" text:"decoder"`
	Rule string `json:"rule" text:"rule"`
	// mean |answer − target|, by the cross-validation that chose the decoder of this kind: a little
	// too small
	Error  float64 `json:"error" text:"|error|"`
	StdErr float64 `json:"stderr" text:"± s.e."`
}

// fitDecoder fits a decoder to the network's outputs.
func (n *network) fitDecoder(ctx context.Context, workers int, done func(samples uint64)) (*fitdecoder.Result, error) {
	most := fitdecoder.Most
	if samples, _ := n.source.Outputs.Dims(); samples >= 0 {
		most = min(samples, most)
	}
	if err := memory.Check("fitting a decoder", memory.Product(most, n.code.Bits(), 8*2)); err != nil {
		return nil, err
	}
	taken, err := n.source.Take(ctx, fitdecoder.Most, n.options.Seed, done)
	if err != nil {
		return nil, err
	}
	in := fitdecoder.Input{Code: n.code, Samples: taken, Logits: !n.source.Kind.Hard(), Decodings: n.decodings,
		Temperature: n.options.Temperature, BitByBit: n.training == perceived.BCE}
	if r := n.options.Range; !r.IsZero() {
		in.Values, err = r.spread(n.code.Levels())
	}
	var out *fitdecoder.Result
	if err == nil {
		out, err = fitdecoder.Fit(ctx, workers, in)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.source.Outputs.Name(), err)
	}
	return out, nil
}

// newFitted is the decoder that was fitted, in the form that is written.
func newFitted(n *network) *Fitted {
	r, labels := n.fitted, n.source.Labels
	width := labels.Width()
	about, interval := r.Decoder.About(), r.Target.Interval()
	f := &Fitted{
		Design: forecast.DesignOf(n.code, n.training, forecast.FittedDecoding()),
		Kind:   about.Kind, Rule: about.Rule, Better: r.Fitted, Samples: about.Samples,
		Error: width * r.Target.Mean, StdErr: width * r.Target.StdErr,
		Interval: [2]float64{width * interval[0], width * interval[1]},
		Baseline: forecast.DesignOf(n.code, n.training, r.Baseline), BaselineErr: width * r.BaselineTarget.Mean,
		Gain: width * r.Gain, GainSE: width * r.GainSE, Intervals: newIntervals(r.Intervals, labels, width),
		Kinds: []FittedKind{}, Notes: []string{},
	}
	f.Outputs = scenario.Outputs(about.Reads)
	for _, k := range r.Kinds {
		f.Kinds = append(f.Kinds, FittedKind{k.Kind, string(k.Rule), width * k.Target.Mean, width * k.Target.StdErr})
	}
	if r.Few {
		f.Notes = append(f.Notes, fmt.Sprintf("%d samples are few for %d levels and %d bits: more are better.",
			about.Samples, about.Levels, about.Bits))
	}
	if r.TooLarge {
		f.Notes = append(f.Notes, "The code is too large for a model of its outputs: only temperatures were tried.")
	}
	return f
}

// text says how good the fitted decoder is.
func (fitted *Fitted) text(f *Fit, about fitdecoder.About) string {
	baseline := fmt.Sprintf("%s on %s", fitted.Baseline.Decoder, fitted.Baseline.Outputs)
	if !fitted.Better {
		return fmt.Sprintf("No fitted decoder is better than %s by more than the standard error.", baseline)
	}
	return fmt.Sprintf("The network's best decoder is %s: on samples that it was not fitted to, it is wrong by %s%s "+
		"on average, %s (95 %%); %s is wrong by %s.", about.Text(), table.Short(fitted.Error),
		f.besideLevels(fitted.Error), between(fitted.Interval), baseline, table.Short(fitted.BaselineErr))
}
