package forecast

import (
	"math"
	"testing"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// TestDecide has every rule, at both sides of its constants.
func TestDecide(t *testing.T) {
	gen := observed.Decoding{Decoder: must.Get(decode.Builtin().New("gen", must.Get(code.New("unary", 8))(t), decode.Options{}))(t)}
	row := func(name string, ratio, sd float64, measured bool) Forecast {
		span := math.Exp(scenario.Confidence * sd)
		return Forecast{Code: must.Get(code.New(name, 8))(t), Training: perceived.BCE, Decoding: gen, Error: ratio, Measured: measured,
			Ratio: ratio, RatioLo: ratio / span, RatioHi: ratio * span, Better: 0.5 * math.Erfc(math.Log(ratio)/sd/math.Sqrt2)}
	}
	own := row("johnson", 1, 0.01, true)
	f := &Forecaster{Measured: []Measured{{Code: own.Code, Training: own.Training, Decoding: gen, Error: observed.Error{Mean: 1, StdErr: 0.01}, Yours: true}}}
	for name, tt := range map[string]struct {
		all  []Forecast
		want Action
		best string
	}{
		"a gain of 3 % that is likely":             {[]Forecast{row("unary", 0.97, 0.11, false), own}, Train, "unary"},
		"an easy code with a gain of 1 %":          {[]Forecast{row("unary", 0.99, 0.001, false), own}, Stay, "unary"},
		"a gain of 3 % that is not likely":         {[]Forecast{row("unary", 0.97, 0.13, false), own}, Stay, "unary"},
		"the first is not likely, the second is":   {[]Forecast{row("hexj", 0.95, 0.5, false), row("unary", 0.96, 0.02, false), own}, Train, "unary"},
		"another network that is better":           {[]Forecast{row("unary", 0.9, 0.02, true), row("gray", 0.95, 0.02, false), own}, Take, "unary"},
		"no code is better":                        {[]Forecast{own, row("unary", 1.02, 0.02, false)}, Stay, "unary"},
		"the network's own code is not among them": {[]Forecast{row("unary", 1.3, 0.02, false)}, Train, "unary"},
		"nothing else":                             {[]Forecast{own}, Stay, ""},
	} {
		d := must.Get(f.Decide(t.Context(), 1, tt.all, nil))(t)
		best := ""
		if d.Best != nil {
			best = d.Best.Code.Name()
		}
		if d.Action != tt.want || best != tt.best || d.Probe != nil {
			t.Errorf("%s: %s %s, want %s %s", name, d.Action, best, tt.want, tt.best)
		}
	}
	if d := must.Get((&Forecaster{}).Decide(t.Context(), 1, nil, nil))(t); d.Action != Stay {
		t.Errorf("without forecasts: %+v", d)
	}
}
