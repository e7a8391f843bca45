package scenario_test

import (
	"context"
	"math"
	"testing"

	"belsim/errmodel/perceived"
	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/theory"
	"belsim/theory/base/must"
)

// TestPosteriorVerifies: sampled errors of the decoder that knows the model agree with their exact
// values within 6 standard errors, for bits that err independently and at a perceived label.
func TestPosteriorVerifies(t *testing.T) {
	ctx := context.Background()
	for _, m := range []scenario.Model{
		scenario.Mixture{R: 0.6, Sigma: 1.5},
		scenario.Random{Seed: 3},
		scenario.Perceived{Model: perceived.Model{Noise: 1, Misfit: 0.25, Training: perceived.BCE}},
	} {
		s := scenario.New(m)
		s.Outputs = scenario.Bits
		c := mustNew(t, "b2jdj", 24)
		weights := theory.Uniform(24)
		p := must.Get(s.Problem(ctx, c, mustDecoder(t, s, "median", c), scenario.Sampling{Seed: 1}))(t)
		_, exact, err := scenario.Averages(ctx, 2, p, weights)
		must.Succeed(t, err)
		sums, _, err := montecarlo.Estimate(ctx, montecarlo.CPU{}, p, montecarlo.Target{Samples: 2048, Prior: weights}, nil)
		must.Succeed(t, err)
		o := montecarlo.Average(weights, sums)
		if !(math.Abs(o.Mean-exact) <= 6*o.StdErr) {
			t.Errorf("%v: sampled %v ± %v, exact %v", m, o.Mean, o.StdErr, exact)
		}
		// A map's exact values are made of the table.
		x := must.Get(scenario.ExactOf(ctx, p))(t)
		if got, err := x.Mean(ctx, weights, p.Errors); err != nil || math.Abs(got-exact) > 1e-12 {
			t.Errorf("%v: %v, %v, want %v", m, got, err, exact)
		}
	}
}
