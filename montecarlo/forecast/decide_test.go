package forecast

import (
	"testing"

	"belsim/errmodel/perceived"
)

// TestDecide has every rule, at both sides of its constants.
func TestDecide(t *testing.T) {
	row := func(name string, ratio float64, measured bool) Forecast {
		return Forecast{Code: mustCode(t, name, 8), Training: perceived.BCE, Error: ratio, Ratio: ratio,
			Measured: measured}
	}
	direct := func(ratio float64) Forecast {
		return Forecast{Code: mustCode(t, "unary", 8).As(Direct), Training: perceived.BCE, Error: ratio, Ratio: ratio,
			Measured: true}
	}
	own, untrained := row("johnson", 1, true), direct(0.9)
	untrained.Measured = false
	for name, tt := range map[string]struct {
		own  string
		all  []Forecast
		want Action
		best string
	}{
		"a gain of 1.01 %": {"johnson", []Forecast{row("unary", 0.9899, false), own}, Train,
			"unary"},
		"a gain of 0.99 %": {"johnson", []Forecast{row("unary", 0.9901, false), own}, Stay,
			"unary"},
		"another reading gains": {"johnson", []Forecast{row("johnson", 0.9, false), own,
			row("unary", 1.1, false)}, Stay, "unary"},
		"another network that is better": {"johnson",
			[]Forecast{row("unary", 0.9, true), row("gray", 0.95, false), own}, Take, "unary"},
		"no code is better": {"johnson", []Forecast{own, row("unary", 1.02, false)}, Stay,
			"unary"},
		"the network's own code is not among them": {"johnson", []Forecast{row("unary", 1.3, false)}, Train, "unary"},
		"the best head in general is 1.9 % worse": {"johnson",
			[]Forecast{row("gray", 0.962, false), row("unary", 0.98, false), own}, Train, "unary"},
		"it is 2.1 % worse": {"johnson",
			[]Forecast{row("gray", 0.959, false), row("unary", 0.98, false), own}, Train, "gray"},
		"it gains 0.9 %": {"johnson",
			[]Forecast{row("gray", 0.98, false), row("unary", 0.991, false), own}, Train, "gray"},
		"another network, and that head": {"johnson",
			[]Forecast{row("gray", 0.97, true), row("unary", 0.975, false), own}, Take, "gray"},
		"that head is the network's": {"unary",
			[]Forecast{row("gray", 0.985, false), row("unary", 1, true)}, Train, "gray"},
		"nothing else": {"johnson", []Forecast{own}, Stay, ""},
		"nothing":      {"johnson", nil, Stay, ""},
		"direct regression, a loss of 1.9 %": {Direct, []Forecast{direct(1), row("unary", 1.019, false)}, Train,
			"unary"},
		"direct regression, a loss of 2.1 %": {Direct, []Forecast{direct(1), row("unary", 1.021, false)}, Stay,
			"unary"},
		"direct regression, a gain of 1.1 %": {Direct, []Forecast{row("unary", 0.989, false), direct(1)}, Train,
			"unary"},
		"direct regression is not trained": {"johnson", []Forecast{untrained, own, row("unary", 1.001, false)},
			Stay, "unary"},
	} {
		d, best := Decide(tt.own, perceived.BCE, tt.all), ""
		if d.Best != nil {
			best = d.Best.Code.Name()
		}
		if d.Action != tt.want || best != tt.best || d.Action == Train &&
			(d.Lost > 0) != (name == "direct regression, a loss of 1.9 %") ||
			d.Rule != (name == "the best head in general is 1.9 % worse") {
			t.Errorf("%s: %s %s, %v, want %s %s", name, d.Action, best, d.Lost, tt.want, tt.best)
		}
	}
}
