package verify_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"belsim/errmodel/perceived"
	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/montecarlo/verify"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/code"
)

var networks = scenario.Perceived{Model: perceived.Model{Noise: 1.4, Misfit: 0.25, Training: perceived.BCE}}

// TestPerceivedVerifies: samples of networks that know a perceived label agree with exact values
// and are within their bounds, for hard and soft decisions.
func TestPerceivedVerifies(t *testing.T) {
	for _, tt := range []struct {
		code, decoder string
		outputs       scenario.Outputs
		exact, bound  bool
	}{
		{"unary", "bel-u", scenario.AutoOutputs, true, true},
		{"johnson", "bel-j", scenario.AutoOutputs, true, true},
		{"b1jdj", "gen", scenario.AutoOutputs, true, true},
		{"gray", "gen", scenario.AutoOutputs, true, true},
		{"hadamard", "gen", scenario.Logits, false, true},
		{"hexj", "gen", scenario.Logits, false, true},
		{"hexj", "gen-ex", scenario.AutoOutputs, false, false},
		{"b2jdj", "median", scenario.Bits, true, false},
	} {
		s := scenario.New(networks)
		s.Outputs = tt.outputs
		c := must.Get(code.New(tt.code, 32))(t)
		d := must.Get(s.Decoder(tt.decoder, c))(t)
		draw := scenario.FixedSampling()
		draw.Samples = 6400
		p := must.Get(s.Problem(context.Background(), c, d, draw))(t)
		weights := theory.Uniform(32)
		th := must.Get(scenario.TheoryOf(t.Context(), 0, p, weights, scenario.Omit{Intervals: true, AnyLaw: true}))(t)
		if got := !math.IsNaN(th.Levels[3].Mean); got != tt.exact {
			t.Errorf("%s, %s: an exact value: %v, want %v", tt.code, tt.decoder, got, tt.exact)
		}
		if got := !math.IsNaN(th.Levels[3].Bound); got != tt.bound {
			t.Errorf("%s, %s: a bound: %v, want %v", tt.code, tt.decoder, got, tt.bound)
		}
		v, err := verify.Check(context.Background(), s, scenario.Run{Backend: montecarlo.CPU{}}, p, th, weights, draw)
		if err != nil || (v.Pass == nil) == (tt.exact || tt.bound) || v.Pass != nil && !*v.Pass || v.Alpha != 1e-6 {
			t.Errorf("%s, %s: %v, %v", tt.code, tt.decoder, v.Failures, err)
		}
		if tt.exact && math.Abs(v.Overall.Mean-v.Overall.Exact) > 6.5*v.Overall.StdErr {
			t.Errorf("%s, %s: sampled %v ± %v, exact %v", tt.code, tt.decoder, v.Overall.Mean, v.Overall.StdErr,
				v.Overall.Exact)
		}
		// The means that maps and sweeps take are those of the levels.
		for name, of := range map[string]func() (*scenario.Mean, error){
			"bound": func() (*scenario.Mean, error) { return scenario.BoundOf(p) },
			"exact": func() (*scenario.Mean, error) { return scenario.ExactOf(context.Background(), p) },
		} {
			want := v.Overall.Bound
			if name == "exact" {
				want = v.Overall.Exact
			}
			m, err := of()
			if math.IsNaN(want) {
				if !errors.Is(err, theory.ErrNoClosedForm) {
					t.Errorf("%s, %s: %s: %v", tt.code, tt.decoder, name, err)
				}
				continue
			}
			got, err := m.Mean(context.Background(), weights, p.Errors)
			if err != nil || math.Abs(got-want) > 1e-9*want {
				t.Errorf("%s, %s: mean %s %v, want %v (%v)", tt.code, tt.decoder, name, got, want, err)
			}
		}
	}
}
