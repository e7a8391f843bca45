package forecast

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/montecarlo/scenario"
	"belsim/theory/code"
)

// Measured is the error of a trained network.
type Measured struct {
	Code     *code.Code
	Training perceived.Training
	Decoding observed.Decoding
	Error    observed.Error // in levels, against the level of the target
	Yours    bool           // the network is the one that ratios are to
}

// measured lists the errors of networks that the model describes: of the first network first, the smallest
// first.
func measured(networks []*perceived.Observed) (out []Measured) {
	for k, n := range networks {
		from := len(out)
		for i, e := range n.Errors {
			if n.Described(i) && e.Mean > 0 {
				out = append(out, Measured{n.Code, n.Training, n.Decodings[i], e, k == 0})
			}
		}
		slices.SortStableFunc(out[from:], func(a, b Measured) int { return cmp.Compare(a.Error.Mean, b.Error.Mean) })
	}
	return out
}

// of reports whether a forecast is for the measured code, training and decoding.
func (m Measured) of(x Forecast) bool {
	return m.Code.Name() == x.Code.Name() && m.Training == x.Training && m.Decoding.Soft == x.Decoding.Soft && m.Decoding.Decoder.Name() == x.Decoding.Decoder.Name()
}

// logStdErr is the standard deviation of the logarithm of the measured error.
func (m Measured) logStdErr() float64 { return m.Error.StdErr / m.Error.Mean }

// relate makes forecasts relative to the first measured error, where there is one: the model tells ratios of
// errors. Errors that were measured take the place of their forecasts.
func (f *Forecaster) relate(ctx context.Context, nodes, fewer *perceived.Nodes, all []Forecast) error {
	if len(f.Measured) == 0 {
		return nil
	}
	yours, decodings := f.Measured[0], []observed.Decoding(nil)
	if yours.Decoding.Decoder.Name() != FittedDecoder { // else code adds it
		decodings = []observed.Decoding{yours.Decoding}
	}
	reference, err := f.code(ctx, nodes, fewer, yours.Code, yours.Training, decodings)
	if err != nil {
		return err
	}
	center := reference[0]
	for i := range all {
		x := &all[i]
		x.Ratio = x.Error / center.Error
		sd := math.Sqrt(x.own*x.own + center.own*center.own + (x.cutoff-center.cutoff)*(x.cutoff-center.cutoff))
		sum, count := observed.Error{}, 0.0
		for _, m := range f.Measured {
			if m.of(*x) {
				sum.Mean += m.Error.Mean
				sum.StdErr = math.Hypot(sum.StdErr, m.Error.StdErr)
				count++
				sd, x.own = 0, 0
				if !m.Yours {
					x.own = seedLogSD
				}
			}
		}
		if count > 0 {
			x.Measured, x.Ratio, x.cutoff = true, sum.Mean/count/yours.Error.Mean, 0
			x.own = math.Hypot(x.own, sum.StdErr/sum.Mean)
			sd = x.own
		}
		if sd = math.Hypot(sd, yours.logStdErr()); sd == 0 {
			sd = math.SmallestNonzeroFloat64
		}
		span := math.Exp(scenario.Confidence * sd)
		x.RatioLo, x.RatioHi = x.Ratio/span, x.Ratio*span
		x.Better = distuv.UnitNormal.CDF(-math.Log(x.Ratio) / sd)
		x.Error, x.Lo, x.Hi = x.Ratio*yours.Error.Mean, x.RatioLo*yours.Error.Mean, x.RatioHi*yours.Error.Mean
	}
	return nil
}

// Probe is a network whose training would tell more about others.
type Probe struct {
	Code     *code.Code
	Training perceived.Training
	// Narrows is the part of the interval of ln(a/b) that it takes off, where a and b are the errors of two codes: 0 for
	// nothing, 1 for all.
	Narrows float64
}

// Probe returns the network, among some codes, that narrows the interval of the ratio of two forecasts most.
// It is nil where none narrows it by a tenth.
func (f *Forecaster) Probe(ctx context.Context, workers int, probes []*code.Code, a, b Forecast) (*Probe, error) {
	return nil, nil
}
