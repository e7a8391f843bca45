package assess

import (
	"fmt"
	"math"
	"slices"

	"belsim/errmodel/forecast"
	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/errmodel/scenario"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// DecoderRow is the mean |answer − target| of one decoder of one network, in the unit of the
// targets: as it was observed, and under the perceived-label model.
type DecoderRow struct {
	// which of the networks that were given, from 1
	Network int `json:"network" text:"network"`
	scenario.Design
	Observed float64 `json:"observed" text:"observed"`
	StdErr   float64 `json:"observed_stderr"`
	// the same under the perceived-label model; null where it says nothing
	Perceived float64 `json:"perceived" text:"perceived label"`
	// mean answer − target, in the unit of the targets; null for a fitted decoder
	Bias float64 `json:"bias"`
	// standard error of bias
	BiasStdErr float64 `json:"bias_stderr"`
	// of the line of least squares, target = offset + slope·answer; null for a fitted decoder
	Offset float64 `json:"offset"`
	// of the same line
	Slope float64 `json:"slope"`
	// forecasts rest on this error, and on that of direct_regression
	Known bool `json:"known"`
}

// decoderRows are the rows of all decoders of networks, of which nothing else is known.
func decoderRows(width float64, networks []*network) []DecoderRow {
	out := []DecoderRow{}
	for k, n := range networks {
		add := func(d scenario.Design, e observed.Error, l observed.Line) {
			at := n.source.Labels.Label
			out = append(out, DecoderRow{Network: k + 1, Design: d, Observed: e.Mean, StdErr: e.StdErr,
				Perceived: math.NaN(), Bias: width * l.Bias.Mean, BiasStdErr: width * l.Bias.StdErr, Offset: at(l.Offset+l.Slope) - l.Slope*at(1), Slope: l.Slope})
		}
		for i, d := range n.decodings {
			add(n.design(d), n.seen.Labels[i].Times(width), n.seen.Lines[i])
		}
		if r := n.fitted; r != nil {
			none, d := math.NaN(), n.design(r.Baseline)
			d.Decoder, d.Outputs = fittedName, decode.Logits
			add(d, observed.Error{Mean: r.Error, StdErr: r.StdErr},
				observed.Line{Bias: observed.Error{Mean: none, StdErr: none}, Offset: none, Slope: none})
		}
	}
	return out
}

// ownRows are the rows of the first network, without that of the fitted decoder, which no decoder of
// the code is.
func ownRows(rows []DecoderRow) []DecoderRow {
	n := 0
	for n < len(rows) && rows[n].Network == 1 && rows[n].Decoder != fittedName {
		n++
	}
	return rows[:n]
}

// bestDecoder is the decoder of the first network with the smallest observed error against the target, or −1.
func bestDecoder(rows []DecoderRow) int {
	return leastOf(ownRows(rows), func(d DecoderRow) float64 { return d.Observed })
}

// leastError is the first of the smallest errors, or −1.
func leastError(errors []observed.Error) int {
	return leastOf(errors, func(e observed.Error) float64 { return e.Mean })
}

// leastOf is the first row with the smallest number, or −1.
func leastOf[R any](rows []R, number func(R) float64) int {
	least := -1
	for i, r := range rows {
		if least < 0 || number(r) < number(rows[least]) {
			least = i
		}
	}
	return least
}

// newForecaster returns a forecaster from a perceived label and the errors of networks.
func newForecaster(p perceived.Fit, labels *forecast.Labels, prior []float64, temperature float64,
	networks []*perceived.Observed, decoders decode.Registry) *forecast.Forecaster {
	out := forecast.New(p.Model, labels, prior, decoders)
	out.Options.Temperature, out.Tail = temperature, p.Tail
	out.Measure(networks)
	return out
}

// forecaster returns the forecaster of a fit that was read. The error says that a code or a decoder of
// its networks is not to be had.
func (f *Fit) forecaster(decoders decode.Registry) (*forecast.Forecaster, error) {
	var networks []*perceived.Observed
	last := 0
	for _, row := range f.Decoders {
		if !row.Known {
			continue
		}
		if row.Network != last {
			c, err := f.open(row.Code)
			if err != nil {
				return nil, err
			}
			t := row.Training
			if h := forecast.LookupHead(row.Code); h.Own {
				t = h.Training
			}
			networks, last = append(networks, &perceived.Observed{Code: c, Training: t}), row.Network
		}
		n := networks[len(networks)-1]
		d, err := f.decoding(decoders, n.Code, row.Design)
		if err != nil {
			return nil, err
		}
		n.Decodings = append(n.Decodings, d)
		n.Errors = append(n.Errors,
			observed.Error{Mean: row.Observed / f.LevelWidth, StdErr: row.StdErr / f.LevelWidth})
	}
	out := newForecaster(f.Perceived.Fit, f.labels(), f.smoothed(), f.Temperature, networks, decoders)
	return out, f.Direct.inform(out, f.Decoders, f.LevelWidth)
}

// counts reports whether forecasts rest on the error of direct regression, beside networks of these
// rows.
func (d *Direct) counts(rows []DecoderRow) bool {
	return d != nil && d.Warning == "" && d.Error > 0 && d.Network > 0 && len(rows) > 0 &&
		rows[0].Code != forecast.Direct && slices.ContainsFunc(rows, func(r DecoderRow) bool { return r.Known })
}

// inform tells a forecaster the error of direct regression, where it counts, in units of this width.
func (d *Direct) inform(f *forecast.Forecaster, rows []DecoderRow, width float64) error {
	if !d.counts(rows) {
		return nil
	}
	return f.AddDirect(observed.Error{Mean: d.Error / width, StdErr: d.DifferenceErr / width})
}

// open opens the code of one of the networks.
func (f *Fit) open(name string) (*code.Code, error) {
	c, err := forecast.OpenCode(name, f.Levels)
	if _, known := code.Lookup(name); err != nil && !known && !code.IsFile(name) {
		err = fmt.Errorf("%w; a fit of --code %s=FILE cannot be read without the file: fit --code FILE again", err, name)
	}
	return c, err
}

// decoding is how a design of one of the networks is decoded.
func (f *Fit) decoding(decoders decode.Registry, c *code.Code, of scenario.Design) (observed.Decoding, error) {
	name := of.Decoder
	switch {
	case name == observed.Prediction().Decoder.Name():
		return observed.Prediction(), nil
	case of.Code == forecast.Direct: // the level nearest to a prediction, by its bits
		name = decode.Gen{}.Name()
	}
	d, err := decoders.New(name, c, decode.Options{Temperature: f.Temperature})
	return observed.Decoding{Decoder: d, Soft: of.Outputs == decode.Logits}, err
}

// Inform tells a forecaster what the fit knows. Where it asks about the networks of the fit, it
// becomes the fit's own forecaster, which forecasts from the errors of these networks; alone says
// that its forecasts stand beside no others. Else it takes how frequent large errors are.
func (f *Fit) Inform(of *forecast.Forecaster, alone bool) {
	if own, err := f.forecaster(of.Decoders); err == nil && alone && own.Like(of) {
		*of = *own
		return
	}
	of.Model.Floor, of.Tail = f.Perceived.Floor, f.Perceived.Tail
}

// Ask makes the fit's perceived label, range, prior and training those of a question about numbers
// of levels. The error names the file, and says that the fit has no perceived label or no range of
// real labels.
func (f *Fit) Ask(q *forecast.Question) error {
	switch {
	case !f.unknownLabel():
	case f.Values != nil:
		return fmt.Errorf("%s: the fit is one of uneven levels, and forecasts are for even ones", f.path)
	case f.Circular:
		return fmt.Errorf("%s: the fit is one of levels on a circle, and forecasts are for levels on a line", f.path)
	default:
		return fmt.Errorf("%s: the fit has no label noise of a perceived label", f.path)
	}
	if q.InLevels = f.Range == nil; q.InLevels {
		q.Prior.Fitted, q.Prior.FitPath = f.smoothed(), f.path
	} else {
		q.Labels = *f.labels()
		if q.Prior.Histogram != nil {
			q.Labels.Histogram, q.Labels.Shares = q.Prior.Histogram, nil
		}
	}
	p := f.perceivedModel()
	q.Default, q.Fitted, q.Temperature = []int{f.Levels}, f.Inform, f.Temperature
	q.Noise, q.Misfit, q.Cutoff = p.Noise*f.LevelWidth, p.Misfit*f.LevelWidth, p.Cutoff
	q.Trainings = []perceived.Training{p.Training}
	return nil
}

// perceivedModel is the perceived label of the fit. A cutoff that was not fitted is left out: the
// model's default depends on s.
func (f *Fit) perceivedModel() perceived.Model {
	m := f.Perceived.Model
	if !onLevels(f.Quantization, f.LevelWidth) {
		m.Within = perceived.WithinLevel
	}
	if !f.Perceived.CutoffFitted {
		m.Cutoff = 0
	}
	if h := forecast.LookupHead(f.Code); h.Own {
		m.Training = h.Training // of the bits that its outputs are read as
	}
	return m
}
