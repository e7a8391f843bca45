package assess

import (
	"cmp"
	"errors"
	"fmt"

	"belsim/errmodel"
	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/montecarlo/forecast"
	"belsim/montecarlo/scenario"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// MeasuredRow is the error of one decoder of one of the networks that were given.
type MeasuredRow struct {
	// which network, from 1: the one that forecasts are relative to comes first
	Network  int     `json:"network"`
	Code     string  `json:"code"`
	Training string  `json:"training"`
	Decoder  string  `json:"decoder"`
	Outputs  string  `json:"outputs"`
	Observed float64 `json:"observed"`
	StdErr   float64 `json:"observed_stderr"`
}

// measured are the errors that forecasts rest on, of the networks whose outputs belong to the
// targets.
func measured(width float64, networks []*network) []MeasuredRow {
	out := []MeasuredRow{}
	for _, n := range networks {
		if n.warning != "" {
			continue
		}
		k := 1
		if len(out) > 0 {
			k = out[len(out)-1].Network + 1
		}
		add := func(d observed.Decoding, e observed.Error) {
			out = append(out, MeasuredRow{k, forecast.Called(n.code.Name(), n.training), string(n.training),
				d.Decoder.Name(), d.Outputs(), width * e.Mean, width * e.StdErr})
		}
		for i, d := range n.decodings {
			add(d, n.seen.Labels[i])
		}
		if n.fitted != nil {
			add(forecast.FittedDecoding(), n.fitted.Target)
		}
	}
	return out
}

// forecaster returns the forecaster of the fit: from the perceived label, and from the errors of
// the networks that were given. The error says that a code or a decoder of these is not to be had.
func (f *Fit) forecaster(decoders decode.Registry) (*forecast.Forecaster, error) {
	var networks []*perceived.Observed
	for at := 0; at < len(f.Measured); {
		first := f.Measured[at]
		c, err := f.open(first.Code)
		if err != nil {
			return nil, err
		}
		n := &perceived.Observed{Code: c, Training: perceived.Training(first.Training)}
		for ; at < len(f.Measured) && f.Measured[at].Network == first.Network; at++ {
			m := f.Measured[at]
			d, err := f.decoding(decoders, c, m.Decoder, m.Outputs)
			if err != nil {
				return nil, err
			}
			n.Decodings, n.Errors = append(n.Decodings, d), append(n.Errors,
				observed.Error{Mean: m.Observed / f.LevelWidth, StdErr: m.StdErr / f.LevelWidth})
		}
		networks = append(networks, n)
	}
	p := f.Perceived
	fit := &perceived.Fit{
		Model: f.perceivedModel().Model, Noise: errmodel.Interval{Value: p.Noise}, Cutoff: errmodel.Interval{Value: p.Cutoff},
		CutoffFitted: p.CutoffFitted, Tail: p.Tail,
	}
	out := forecast.FromFit(fit, networks, f.smoothed(), decoders, decode.Options{Temperature: f.Temperature})
	out.Labels = f.labels()
	if d := f.Direct; f.knowsDirect() {
		c, err := f.open(forecast.Direct)
		if err == nil {
			err = out.AddDirect(c, d.Error/d.Network, d.DifferenceErr/d.Network)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// knowsDirect reports whether forecasts rest on the error of direct regression that was given.
func (f *Fit) knowsDirect() bool {
	return f.Direct != nil && f.Direct.Warning == "" && !f.predicts() && len(f.Measured) > 0
}

// open opens a code of the fit's levels, which may be a head.
func (f *Fit) open(name string) (*code.Code, error) {
	for _, c := range f.codes {
		if c.Name() == name {
			return c, nil
		}
	}
	if h := forecast.LookupHead(name); h.Name != "" {
		return h.Open(f.Levels)
	}
	return code.Open(name, f.Levels)
}

// decoding is a decoding of one of the networks.
func (f *Fit) decoding(decoders decode.Registry, c *code.Code, name, outputs string) (observed.Decoding, error) {
	switch {
	case outputs == observed.Prediction().Outputs():
		return observed.Prediction(), nil
	case name == forecast.FittedDecoder:
		return forecast.FittedDecoding(), nil
	}
	d, err := decoders.New(name, c, decode.Options{Temperature: f.Temperature})
	return observed.Decoding{Decoder: d, Soft: outputs == "logits"}, err
}

// Inform tells a forecaster what the fit knows. Where it asks about the networks of the fit, it
// becomes the fit's own forecaster, which forecasts from the errors of these networks; alone says
// that its forecasts stand beside no others. Else it takes how frequent large errors are.
func (f *Fit) Inform(of *forecast.Forecaster, alone bool) {
	if own, err := f.forecaster(of.Decoders); err == nil && alone && own.Like(of) {
		*of = *own
		return
	}
	p := f.Perceived
	of.Model.Training, of.Model.Floor = perceived.Training(p.Training), p.Floor
	of.Tail = p.Tail
}

// CheckEven refuses a fit of uneven levels, for what computes with even ones.
func (f *Fit) CheckEven() error {
	if f.Values != nil {
		return fmt.Errorf("%s: the fit is one of uneven levels, and this is computed for even ones; "+
			"'belsim compare --model FILE' takes it", f.path)
	}
	return nil
}

// Ask makes the fit's perceived label, range, prior and training those of a question about numbers
// of levels. The error names the file, and says that the fit has no perceived label or no range of
// real labels.
func (f *Fit) Ask(q *forecast.Question) error {
	if _, err := f.chosen(PerceivedModel); err != nil {
		return cmp.Or(f.CheckEven(), err)
	}
	if f.Range == nil {
		return errors.New(f.path + ": the targets of the fit were levels; want a fit to real labels, with their range")
	}
	p := f.perceivedModel()
	q.Labels, q.Fitted, q.Temperature = *f.labels(), f.Inform, f.Temperature
	q.Noise, q.Misfit, q.Cutoff, q.Trainings = p.Noise*f.LevelWidth, p.Misfit*f.LevelWidth, p.Cutoff, []perceived.Training{p.Training}
	return nil
}

// perceivedModel is the perceived label of the fit. A cutoff that was not fitted is left out: the
// model's default depends on s.
func (f *Fit) perceivedModel() scenario.Perceived {
	p := f.Perceived
	m := scenario.Perceived{Path: f.path, Model: perceived.Model{
		Noise: p.Noise, Misfit: p.Misfit, Floor: p.Floor, Training: perceived.Training(p.Training),
	}}
	if !f.onLevels() {
		m.Within = perceived.WithinLevel
	}
	if p.CutoffFitted {
		m.Cutoff = p.Cutoff
	}
	return m
}
