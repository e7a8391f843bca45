package forecast

import (
	"math"
	"slices"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory/code"
)

// The names of heads whose outputs are no bits of a code. They tell as much of a label as bits of unary do.
const (
	// Direct is direct regression: a network without a code, whose output is the label. Its loss is the mean |error|.
	Direct = "direct"
	// CORN is a network whose outputs are of the conditions y > k where y > k−1.
	CORN = "corn"
)

// SoftSigma is the standard deviation of soft targets, in levels, that forecasts are for.
const SoftSigma = 0.75

// AddDirect adds the error of direct regression to the measured ones, as a ratio to the first of them with its standard error. c is unary
// under the name Direct. The error is about the decoders.
func (f *Forecaster) AddDirect(c *code.Code, ratio, stderr float64) error {
	all, err := f.Decodings(c, perceived.BCE)
	if err != nil || len(all) == 0 || len(f.Measured) == 0 {
		return err
	}
	yours := f.Measured[0].Error.Mean
	f.Measured = append(slices.Clip(f.Measured), Measured{Code: c, Training: perceived.BCE, Decoding: all[0], Error: observed.Error{Mean: ratio * yours, StdErr: stderr * yours}, network: -1})
	return nil
}

// sensible reports whether a decoding reads networks of a code after a training: hard decisions mean something
// after a training bit by bit alone, which is the one of heads. Predictions of direct regression are read as their levels.
func sensible(c *code.Code, t perceived.Training, d observed.Decoding) bool {
	switch c.Name() {
	case Direct:
		return t == perceived.BCE && !d.Soft && d.Decoder.Name() == "gen"
	case CORN:
		return t == perceived.BCE
	}
	return t == perceived.BCE || d.Soft
}

// Heads are the departures of networks that have neither BCE nor CE from those that have: of soft targets from CE, and of direct regression
// and CORN from unary. On most tables there is none. On most images codes have less error than direct regression, and less again with soft
// targets. The excess of a network tells which it is (Told); a long tail, which counts of a table have as well, makes it possible.
type Heads struct {
	Any          float64 // standard deviation of any network with soft targets, and of direct regression
	CORN         float64 // standard deviation of CORN from unary
	Soft, Direct Departure
	// Share is the share of Forecaster.share from which on networks depart so; below, the probability is in proportion.
	Share float64
}

// Departure is the mean of ln(observed/model) of networks that depart, and its standard deviation.
type Departure struct{ Mean, SD float64 }

// head is the mean of ln(observed/model) of a forecast, and its standard deviation: those of networks that depart with a probability.
// Where nothing tells which they are, the mean is that of the others, and the standard deviation has both.
func (f *Forecaster) head(x *Forecast) (mean, sd float64) {
	h := f.Spread.Heads
	d := h.Direct
	switch {
	case x.Training == perceived.Soft:
		d = h.Soft
	case x.Code.Name() == CORN:
		return 0, h.CORN
	case x.Code.Name() != Direct:
		return 0, 0
	}
	p := min(1, f.share()/h.Share)
	if f.Told() {
		mean = p * d.Mean
	}
	return mean, math.Sqrt(square(h.Any) + p*(square(d.SD)+square(d.Mean)) - square(mean))
}

// Told reports whether the excess tells how direct regression and soft targets depart: that of a network whose bits have two transitions at
// most, and not all of them one, after BCE. Codes with more have an excess on tables, too.
func (f *Forecaster) Told() bool {
	return !math.IsNaN(f.Excess) && slices.ContainsFunc(f.Measured, func(m Measured) bool {
		return m.Training == perceived.BCE && MostTransitions(m.Code) == 2
	})
}
