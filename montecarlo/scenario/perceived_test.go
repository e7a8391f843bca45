package scenario_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/perceived"
	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/decode"
)

var networks = scenario.Perceived{Model: perceived.Model{Noise: 1.4, Misfit: 0.25, Training: perceived.BCE}}

// TestPerceivedStrata: the exact value is the mean of the exact values at the strata.
func TestPerceivedStrata(t *testing.T) {
	s := scenario.New(networks)
	c := mustNew(t, "b2jdj", 32)
	d := must.Get(s.Decoder("gen", c))(t)
	p := must.Get(s.Problem(context.Background(), c, d, scenario.FixedSampling()))(t)
	th := must.Get(scenario.TheoryOf(t.Context(), 0, p, theory.Uniform(32), scenario.Omit{}))(t).Levels
	want := make([]theory.Moments, 32)
	for j := range decode.Strata {
		e := mat.NewDense(32, c.Bits(), nil)
		for i := range 32 {
			p.Errors.(decode.Network).WrongTo(e.RawRowView(i), i, float64(i+1)+networks.Noise*decode.Stratum(j))
		}
		m := must.Get(theory.ExactLevels(context.Background(), 0, c, d, e))(t)
		for i := range want {
			want[i].Mean += m[i].Mean / decode.Strata
			want[i].MeanSquare += m[i].MeanSquare / decode.Strata
		}
	}
	for i, w := range want {
		must.Equal(t, fmt.Sprintf("level %d", i+1), w, theory.Moments{Mean: th[i].Mean, MeanSquare: th[i].MeanSquare},
			cmpopts.EquateApprox(0, 1e-10))
	}
}

// TestQuickExact: where slow values are left out there are exact ones of small decision diagrams,
// the same as otherwise, and not of large ones.
func TestQuickExact(t *testing.T) {
	s := scenario.New(networks)
	c := mustNew(t, "hexj", 32)
	p := must.Get(s.Problem(context.Background(), c, must.Get(s.Decoder("gen", c))(t), scenario.FixedSampling()))(t)
	levels := func(omit scenario.Omit) []montecarlo.Theory {
		return must.Get(scenario.TheoryOf(t.Context(), 0, p, theory.Uniform(32), omit))(t).Levels
	}
	quick, all := levels(scenario.Omit{Slow: true, Bounds: true}), levels(scenario.Omit{Bounds: true})
	for i := range all {
		if quick[i].Mean != all[i].Mean || quick[i].MeanSquare != all[i].MeanSquare {
			t.Errorf("level %d: %v, want %v", i+1, quick[i], all[i])
		}
	}
	nodes := 0
	_, err := theory.NewExact(t.Context(), 1, c, p.Decoder)
	_, none := fmt.Sscanf(err.Error(), "no closed form: an exact value takes a decision diagram of %d nodes", &nodes)
	must.Succeed(t, none)
	must.Get(theory.NewExact(t.Context(), nodes, c, p.Decoder))(t)
	if _, err := theory.NewExact(t.Context(), nodes-1, c, p.Decoder); !errors.Is(err, theory.ErrNoClosedForm) {
		t.Errorf("a diagram of one node too many: %v", err)
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
		read := 0
		for _, name := range []string{"bel-u", "gen", "gen-ex"} {
			d, err := of.Decoder(name, c)
			if err != nil {
				continue
			}
			read++
			if (of.OutputsOf(c, d) == scenario.Logits) != (training != perceived.BCE || name == "gen-ex") {
				t.Errorf("%s, trained %s, reads %s", name, training, of.OutputsOf(c, d))
			}
		}
		if read != want {
			t.Errorf("%s: %d decoders read it, want %d", training, read, want)
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
