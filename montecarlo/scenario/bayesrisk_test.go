package scenario_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"belsim/errmodel/perceived"
	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/theory"
	"belsim/theory/code"
)

// TestLeast: the least error is the exact error of the median of the posterior, and no decoder of
// the same outputs is below it; the other results stay as they are.
func TestLeast(t *testing.T) {
	ctx := context.Background()
	s := scenario.New(scenario.Mixture{R: 0.6, Sigma: 1.5})
	codes := []*code.Code{mustNew(t, "b1jdj", 24), mustNew(t, "gray", 24), mustNew(t, "unary", 24)}
	names := []string{"bel-u", "gen", "gen-ex", "map", "median", "mean"}
	weights, draw := theory.Uniform(24), scenario.Sampling{Samples: 640, Seed: 1}
	candidates, _, err := s.Candidates(ctx, codes, names, draw)
	if err != nil {
		t.Fatal(err)
	}
	run := scenario.Run{Backend: montecarlo.CPU{}}
	plain, err := s.Compare(ctx, run, candidates, weights, draw)
	if err != nil {
		t.Fatal(err)
	}
	with, err := s.CompareWithBayesRisk(ctx, run, candidates, weights, draw)
	if err != nil {
		t.Fatal(err)
	}
	exact := map[string]float64{}
	for _, r := range plain.Results {
		if r.Decoder == "median" {
			exact[r.Code] = float64(r.Exact)
		}
	}
	for i, r := range with.Results {
		if p := plain.Results[i]; p.Code != r.Code || p.Decoder != r.Decoder || p.Mean != r.Mean || p.Least != nil || p.Above != nil {
			t.Errorf("with the least errors %+v, without them %+v", r, p)
		}
		if r.Outputs == scenario.Bits && r.Code != "unary" {
			want := exact[r.Code]
			if got := float64(*r.Least); !(math.Abs(got-want) < 1e-12) || *r.LeastStdErr != 0 {
				t.Errorf("%s: least error %v ± %v, want %v", r.Code, got, *r.LeastStdErr, want)
			}
			if r.Best() < float64(*r.Least)-1e-9 {
				t.Errorf("%s, %s: %v is below the least error %v", r.Code, r.Decoder, r.Best(), *r.Least)
			}
		} else if float64(r.Mean) < float64(*r.Least)-6*math.Hypot(float64(r.StdErr), float64(*r.LeastStdErr)) {
			t.Errorf("%s, %s: %v is below the least error %v", r.Code, r.Decoder, r.Mean, *r.Least)
		}
		if want := scenario.Increase(r.Best(), float64(*r.Least)); *r.Above != want {
			t.Errorf("%s, %s: above by %v %%, want %v %%", r.Code, r.Decoder, *r.Above, want)
		}
	}
	if text := with.Table().Rows; len(text) == 0 || len(with.Table().Head) != len(plain.Table().Head)+2 {
		t.Errorf("heads %v and %v", with.Table().Head, plain.Table().Head)
	}
	head := strings.Join(with.DecoderTable(s.Decoders).Head, ",")
	if !strings.Contains(head, ",least (logits)") || !strings.HasSuffix(head, ",least") && !strings.Contains(head, ",least,") {
		t.Errorf("head of the table of decoders: %s", head)
	}
	for _, change := range []func(s *scenario.Scenario){
		func(s *scenario.Scenario) { s.SharedNoise = 0.1 },
		func(s *scenario.Scenario) { s.Labels = scenario.Continuous },
	} {
		other := *s
		change(&other)
		if _, err := other.CompareWithBayesRisk(ctx, run, candidates, weights, draw); err == nil {
			t.Errorf("%v: accepted", &other)
		}
	}
}

// TestPosteriorVerifies: sampled errors of the decoders that know the model agree with their exact
// values within 6 standard errors, for bits that err independently and at a perceived label.
func TestPosteriorVerifies(t *testing.T) {
	ctx := context.Background()
	for _, m := range []scenario.Model{
		scenario.Mixture{R: 0.6, Sigma: 1.5},
		scenario.Random{Seed: 3},
		scenario.Perceived{Model: perceived.Model{Noise: 1, Misfit: 0.25, Training: perceived.BitByBit}},
	} {
		s := scenario.New(m)
		s.Outputs = scenario.Bits
		c := mustNew(t, "b2jdj", 24)
		weights := theory.Uniform(24)
		for _, name := range []string{"map", "median", "mean"} {
			p, err := s.Problem(ctx, c, mustDecoder(t, s, name, c), scenario.Sampling{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			_, exact, err := scenario.AverageTheory(ctx, 2, p, weights)
			if err != nil {
				t.Fatal(err)
			}
			sums, err := montecarlo.EstimateEach(ctx, montecarlo.CPU{}, []*montecarlo.Problem{p}, 2048, weights, nil)
			if err != nil {
				t.Fatal(err)
			}
			o := montecarlo.Average(weights, sums[0])
			if !(math.Abs(o.Mean-float64(exact)) <= 6*o.StdErr) {
				t.Errorf("%v, %s: sampled %v ± %v, exact %v", m, name, o.Mean, o.StdErr, exact)
			}
			// A map's exact values are made of the table.
			x, err := scenario.ExactOf(ctx, p)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := x.Mean(ctx, weights, p.Errors); err != nil || math.Abs(got-float64(exact)) > 1e-12 {
				t.Errorf("%v, %s: %v, %v, want %v", m, name, got, err, exact)
			}
		}
	}
}
