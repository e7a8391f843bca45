package forecast

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory/base/must"
)

// TestDecide has every rule, at both sides of its constants.
func TestDecide(t *testing.T) {
	row := func(name string, ratio float64) Forecast {
		return Forecast{Code: must.Get(OpenCode(name, 8))(t), Training: perceived.BCE, Decoding: observed.Prediction(),
			Error: ratio, Ratio: ratio, Better: 0.7}
	}
	trained := func(name string, ratio float64) Forecast {
		x := row(name, ratio)
		x.Measured = true
		return x
	}
	chance := func(name string, better float64) Forecast {
		x := row(name, 0.95)
		x.Better = better
		return x
	}
	own := trained("johnson", 1)
	type list = []Forecast
	for _, tt := range []struct {
		name, own string
		all       list
		want      Action
		best      string
	}{
		{"a gain of 1.01 %", "johnson", list{row("unary", 0.9899), own}, Train, "unary"},
		{"a gain of 0.99 %", "johnson", list{row("unary", 0.9901), own}, Stay, "unary"},
		{"a probability of 0.599", "johnson", list{chance("unary", 0.599), own}, Stay, "unary"},
		{"a probability of 0.6", "johnson", list{chance("unary", 0.6), own}, Train, "unary"},
		{"another reading gains", "johnson", list{row("johnson", 0.9), own, row("unary", 1.1)}, Stay, "unary"},
		{"another network that is better", "johnson", list{trained("unary", 0.9), row("gray", 0.95), own}, Take,
			"unary"},
		{"no code is better", "johnson", list{own, row("unary", 1.02)}, Stay, "unary"},
		{"the network's own code is not among them", "johnson", list{row("unary", 1.3)}, Train, "unary"},
		{"the best head in general is 1.9 % worse", "johnson", list{row("gray", 0.962), row("unary", 0.98), own},
			Train, "unary"},
		{"it is 2.1 % worse", "johnson", list{row("gray", 0.959), row("unary", 0.98), own}, Train, "gray"},
		{"it gains 0.9 %", "johnson", list{row("gray", 0.98), row("unary", 0.991), own}, Train, "gray"},
		{"another network, and that head", "johnson", list{trained("gray", 0.97), row("unary", 0.975), own}, Take,
			"gray"},
		{"that head is the network's", "unary", list{row("gray", 0.985), trained("unary", 1)}, Train, "gray"},
		{"nothing else", "johnson", list{own}, Stay, ""},
		{"nothing", "johnson", nil, Stay, ""},
		{"direct regression, a loss of 1.9 %", Direct, list{trained(Direct, 1), row("unary", 1.019)}, Train, "unary"},
		{"direct regression, a loss of 2.1 %", Direct, list{trained(Direct, 1), row("unary", 1.021)}, Stay, "unary"},
		{"direct regression, a gain of 1.1 %", Direct, list{row("unary", 0.989), trained(Direct, 1)}, Train, "unary"},
		{"direct regression is not trained", "johnson", list{row(Direct, 0.9), own, row("unary", 1.001)}, Stay,
			"unary"},
	} {
		d, best := Decide(tt.own, perceived.BCE, tt.all), ""
		if d.Best != nil {
			best = d.Best.Code.Name()
		}
		// The decision is of the network to train, or of the one to keep, where that was measured.
		code, gain, better := tt.best, 0.0, math.NaN()
		if d.Action != Stay {
			gain, better = 1-d.Best.Ratio, d.Best.Better
		} else if code = tt.own; len(tt.all) == 0 {
			code = ""
		}
		type said struct {
			Action       Action
			Best, Code   string
			Gain, Better float64
			Lost, Rule   bool
		}
		want := said{tt.want, tt.best, code, gain, better, tt.name == "direct regression, a loss of 1.9 %",
			tt.name == "the best head in general is 1.9 % worse"}
		got := said{d.Action, best, d.Code, d.Gain, d.Better, d.Lost > 0, d.Rule}
		if text := cmp.Diff(want, got, cmpopts.EquateNaNs()); text != "" {
			t.Errorf("%s: %s", tt.name, text)
		}
	}
}
