package assess

import (
	"context"
	"fmt"

	"belsim/errmodel/fitdecoder"
	"belsim/errmodel/head"
	"belsim/errmodel/scenario"
	"belsim/theory/base/table"
	"belsim/theory/decode"
)

// Fitted is the decoder that was fitted to a network, or the best of the baseline decoders where
// none is better. Errors are in the unit of the targets.
type Fitted struct {
	scenario.Design
	// the best of the baseline decoders
	Baseline scenario.Design `json:"baseline"`
	fitdecoder.Judgement
}

// fittedName is the name of a decoder that was fitted to a network's outputs.
const fittedName = "fitted"

// fitDecoder fits a decoder to the network's outputs.
func (n *network) fitDecoder(ctx context.Context, workers int) (err error) {
	if n.options.predicts() {
		return fmt.Errorf("%s: predictions of direct regression need no decoder, and none is fitted to them",
			n.source.Outputs.Name())
	}
	in := fitdecoder.Input{Code: n.code, Samples: n.seen.Kept, Logits: !n.source.Kind.Hard(), Decodings: n.decodings,
		Temperature: n.options.Temperature, Width: n.width(), BitByBit: n.training == head.BCE}
	if r := n.options.Range; !r.IsZero() {
		in.Values, err = r.spread(n.code.Levels(), n.code.Circular())
	}
	if err == nil {
		n.fitted, err = fitdecoder.Fit(ctx, workers, in)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", n.source.Outputs.Name(), err)
	}
	return nil
}

// newFitted is the decoder that was fitted, in the form that is written.
func newFitted(n *network) *Fitted {
	r := n.fitted
	f := &Fitted{Design: n.design(r.Baseline), Baseline: n.design(r.Baseline), Judgement: r.Judgement}
	f.Decoder, f.Outputs = fittedName, decode.Outputs(r.Decoder.About().Reads)
	return f
}

// text says how good the fitted decoder is.
func (fitted *Fitted) text(f *Fit) string {
	about := fitdecoder.About{Kind: fitted.Kind, Rule: fitted.Rule, Reads: string(fitted.Outputs)}
	baseline := fmt.Sprintf("%s on %s", fitted.Baseline.Decoder, fitted.Baseline.Outputs)
	if !fitted.Better {
		return fmt.Sprintf("No fitted decoder is better than %s by more than the standard error.", baseline)
	}
	return fmt.Sprintf("The network's best decoder is %s: on samples that it was not fitted to, it is wrong by %s%s "+
		"on average, %s (95 %%); %s is wrong by %s.", about.Text(), table.Short(fitted.Error),
		f.besideLevels(fitted.Error), between(fitted.Interval), baseline, table.Short(fitted.BaselineErr))
}

// IntervalsText says how good the intervals of single labels are.
func (fitted *Fitted) IntervalsText(f *Fit) string {
	i := fitted.Intervals
	return fmt.Sprintf("Intervals of %g %% hold %.1f ± %.1f %% of the targets, and %.0f %% in the worst fifth of "+
		"predicted spreads. They are %s%s wide on average; their Winkler score is %s, and %s with a constant width.",
		100*i.Confidence, 100*i.Coverage, 100*i.CoverageSE, 100*i.Worst, table.Short(i.Width), f.unit(),
		table.Short(i.Winkler), table.Short(i.Constant))
}
