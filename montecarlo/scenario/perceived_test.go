package scenario_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/perceived"
	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
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
		c := mustNew(t, tt.code, 32)
		d := must.Get(s.Decoder(tt.decoder, c))(t)
		draw := scenario.FixedSampling()
		draw.Samples = 6400
		p := must.Get(s.Problem(context.Background(), c, d, draw))(t)
		th := must.Get(scenario.Theory(context.Background(), 0, p, scenario.Omit{}))(t)
		if got := !math.IsNaN(th[3].Mean); got != tt.exact {
			t.Errorf("%s, %s: an exact value: %v, want %v", tt.code, tt.decoder, got, tt.exact)
		}
		if got := !math.IsNaN(th[3].Bound); got != tt.bound {
			t.Errorf("%s, %s: a bound: %v, want %v", tt.code, tt.decoder, got, tt.bound)
		}
		weights := theory.Uniform(32)
		v, err := s.Verify(context.Background(), scenario.Run{Backend: montecarlo.CPU{}}, p, th, weights, draw)
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

// TestPerceivedStrata: the exact value is the mean of the exact values at the strata.
func TestPerceivedStrata(t *testing.T) {
	s := scenario.New(networks)
	c := mustNew(t, "b2jdj", 32)
	d := must.Get(s.Decoder("gen", c))(t)
	p := must.Get(s.Problem(context.Background(), c, d, scenario.FixedSampling()))(t)
	th := must.Get(scenario.Theory(context.Background(), 0, p, scenario.Omit{}))(t)
	want := make([]float64, 32)
	for j := range decode.Strata {
		e := mat.NewDense(32, c.Bits(), nil)
		for i := range 32 {
			p.Errors.(decode.Network).WrongTo(e.RawRowView(i), i, float64(i+1)+networks.Noise*decode.Stratum(j))
		}
		m := must.Get(theory.QuickMoments(context.Background(), 0, math.MaxInt, c, d, e))(t)
		for i := range want {
			want[i] += m[i].Mean / decode.Strata
		}
	}
	for i := range want {
		if math.Abs(th[i].Mean-want[i]) > 1e-10 {
			t.Errorf("level %d: %v, want %v", i+1, th[i].Mean, want[i])
		}
	}
}

// TestQuickExact: where slow values are left out there are exact ones of small decision diagrams,
// the same as otherwise, and not of large ones.
func TestQuickExact(t *testing.T) {
	s := scenario.New(networks)
	c := mustNew(t, "hexj", 32)
	p := must.Get(s.Problem(context.Background(), c, must.Get(s.Decoder("gen", c))(t), scenario.FixedSampling()))(t)
	quick := must.Get(scenario.Theory(context.Background(), 0, p, scenario.Omit{Slow: true, Bounds: true}))(t)
	all := must.Get(scenario.Theory(context.Background(), 0, p, scenario.Omit{Bounds: true}))(t)
	for i := range all {
		if quick[i].Mean != all[i].Mean || quick[i].MeanSquare != all[i].MeanSquare {
			t.Errorf("level %d: %v, want %v", i+1, quick[i], all[i])
		}
	}
	if _, err := theory.QuickMoments(context.Background(), 0, 32, c, p.Decoder, p.Errors); !errors.Is(err,
		theory.ErrNoClosedForm) {
		t.Errorf("a diagram of one node in each row: %v", err)
	}
}

// TestPerceivedPrior: networks learn under the scenario's prior.
func TestPerceivedPrior(t *testing.T) {
	s := scenario.New(networks)
	c := mustNew(t, "unary", 16)
	alike := must.Get(s.Errors(context.Background(), c))(t)
	weights := make([]float64, 16)
	for i := range weights {
		weights[i] = math.Exp(-float64(i) / 3)
	}
	total := 0.0
	for _, w := range weights {
		total += w
	}
	for i := range weights {
		weights[i] /= total
	}
	s.Prior.Fitted = weights
	uneven := must.Get(s.Errors(context.Background(), c))(t)
	// Low levels are frequent, so the network takes labels for lower ones: the bit that changes
	// from level 8 to 9 errs more often at level 9, and less often at level 8.
	k := 0
	for c.Bit(7, k) == c.Bit(8, k) {
		k++
	}
	if !(uneven.At(7, k) < alike.At(7, k)) || !(uneven.At(8, k) > alike.At(8, k)) {
		t.Errorf("e at levels 8 and 9: %v and %v, but %v and %v where labels occur equally often", uneven.At(7, k),
			uneven.At(8, k), alike.At(7, k), alike.At(8, k))
	}
}

// TestPerceivedOutputs: networks trained for the decoder give logits.
func TestPerceivedOutputs(t *testing.T) {
	c := mustNew(t, "unary", 16)
	for training, want := range map[perceived.Training]int{perceived.BCE: 3, perceived.CE: 2, perceived.L1: 1,
		perceived.L2: 1} {
		m := networks
		m.Training = training
		of := scenario.New(m)
		names := of.Fitting([]string{"bel-u", "gen", "gen-ex"})
		if len(names) != want {
			t.Errorf("%s: %v", training, names)
		}
		for _, name := range names {
			if got := of.OutputsOf(c, must.Get(of.Decoder(name,
				c))(t)); (got == scenario.Logits) != (training != perceived.BCE || name == "gen-ex") {
				t.Errorf("%s, trained %s, reads %s", name, training, got)
			}
		}
		if !training.ThroughGenEx() {
			continue
		}
		if d, err := of.Decoder(decode.Auto, c); err != nil || d.Name() != "gen-ex" {
			t.Errorf("%s: auto is %v, %v", training, d, err)
		}
		hard, warm := *of, *of
		hard.Outputs, warm.Temperature = scenario.Bits, 2
		for name, s := range map[string]*scenario.Scenario{"gen": of, "gen-ex": &hard, decode.Auto: &warm} {
			if d, err := s.Decoder(name, c); err == nil {
				t.Errorf("%s, outputs %s, τ = %v: %s reads it as %s", training, s.Outputs, s.Temperature, name,
					d.Name())
			}
		}
	}
}

// TestPerceivedPlane: a map over label noise and misfit has the numbers of its points.
func TestPerceivedPlane(t *testing.T) {
	s := scenario.New(nil)
	plane := scenario.PerceivedPlane{Model: scenario.Perceived{Model: perceived.Model{Training: perceived.BCE}}}
	codes := [2]*code.Code{mustNew(t, "unary", 16), mustNew(t, "johnson", 16)}
	weights := theory.Uniform(16)
	for _, method := range []scenario.Method{scenario.Bound, scenario.Exact, scenario.Sample} {
		m := must.Get(s.NewMap(t.Context(), codes, "auto", plane, scenario.NewAxis(0.7, 1.4, 2, false),
			scenario.NewAxis(0.25, 0.5, 2, false), method))(t)
		draw := scenario.Sampling{Samples: 640, Seed: 1}
		must.Succeed(t, s.Fill(context.Background(), scenario.Run{Backend: montecarlo.CPU{}}, m, draw))
		if !slices.Equal(m.X(), []float64{0.7, 1.4}) || m.R != nil || m.Cells[1].LabelNoise != 1.4 ||
			m.Cells[1].Misfit != 0.25 || m.Cells[1].R != 0 {
			t.Errorf("%s: cells %+v", method, m.Cells)
		}
		of := *s // with the parameters of cell 1
		of.Model = networks
		p := must.Get(of.Problem(context.Background(), codes[0], must.Get(of.Decoder("auto", codes[0]))(t),
			scenario.FixedSampling()))(t)
		bound, exact, err := scenario.Averages(context.Background(), 0, p, weights)
		must.Succeed(t, err)
		got, want, off := m.Cells[1].A, exact, 1e-9
		switch method {
		case scenario.Bound:
			want = bound
		case scenario.Sample:
			off = 6.5 * *m.Cells[1].StdErrA
		}
		if math.Abs(got-want) > off {
			t.Errorf("%s: %v at s = 1.4 and η = 0.25, want %v", method, got, want)
		}
	}
}
