package forecast

import (
	"slices"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory/code"
)

// The names of heads whose outputs are no bits of a code. They tell as much of a label as bits of
// unary do.
const (
	// Direct is direct regression: a network without a code, whose output is the label. Its loss is
	// the mean |error|.
	Direct = "direct"
	// CORN is a network whose outputs are of the conditions y > k where y > k−1.
	CORN = "corn"
)

// SoftSigma is the standard deviation of soft targets, in levels, that forecasts are for.
const SoftSigma = 0.75

// AddDirect adds the error of direct regression to the measured ones, as a ratio to the first of
// them with its standard error. c is unary under the name Direct. The error is about the decoders.
func (f *Forecaster) AddDirect(c *code.Code, ratio, stderr float64) error {
	all, err := f.decodings(c, perceived.BCE)
	if err != nil || len(all) == 0 || len(f.Measured) == 0 {
		return err
	}
	yours := f.Measured[0].Error.Mean
	f.Measured = append(slices.Clip(f.Measured), Measured{Code: c, Training: perceived.BCE, Decoding: all[0],
		Error: observed.Error{Mean: ratio * yours, StdErr: stderr * yours}, network: -1})
	return nil
}

// sensible reports whether a decoding reads networks of a code after a training: hard decisions
// mean something after a training bit by bit alone, which is the one of heads, and after one
// through gen-ex nothing does but gen-ex and a fitted decoder. Predictions of direct regression are
// read as their levels.
func sensible(c *code.Code, t perceived.Training, d observed.Decoding) bool {
	switch c.Name() {
	case Direct:
		return t == perceived.BCE && !d.Soft && d.Decoder.Name() == "gen"
	case CORN:
		return t == perceived.BCE
	}
	if name := d.Decoder.Name(); t.ThroughGenEx() && name != "gen-ex" && name != FittedDecoder {
		return false
	}
	return t == perceived.BCE || d.Soft
}
