package compare_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"belsim/montecarlo"
	"belsim/montecarlo/compare"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// TestCompare: the smallest error comes first, the exact one where it is known, and every
// decoder fits something.
func TestCompare(t *testing.T) {
	ctx := context.Background()
	s := scenario.New(scenario.Mixture{R: 0.4, Sigma: 2})
	draw := scenario.FixedSampling()
	draw.Samples = 500
	codes := []*code.Code{must.Get(code.New("hexj", 40))(t), must.Get(code.New("unary", 40))(t)}
	candidates := must.Get(compare.NewCandidates(ctx, s, codes, []string{"bel-u", "gen"}, draw))(t)
	c := must.Get(compare.Rank(ctx, s, scenario.Run{Backend: montecarlo.CPU{}}, candidates, draw))(t)
	if len(c.Results) != 3 {
		t.Errorf("%d rows, want 3", len(c.Results))
	}
	if !slices.IsSortedFunc(c.Results,
		func(a, b compare.Result) int { return int(math.Copysign(1, a.Best()-b.Best())) }) {
		t.Errorf("not sorted: %+v", c.Results)
	}
	for _, r := range c.Results { // of gen the union bound is above
		if r.AnyLaw == nil || (r.Bound == r.AnyLaw[1]) != (r.Decoder == "gen") {
			t.Errorf("%s, %s: bound %v, any law %v", r.Code, r.Decoder, r.Bound, r.AnyLaw)
		}
	}
	if _, err := compare.NewCandidates(ctx, s, codes[:1], []string{"gen", "bel-j"}, draw); !errors.Is(err, decode.ErrUnfit) {
		t.Errorf("bel-j fits no code: error %v", err)
	}
	if _, err := compare.NewCandidates(ctx, s, codes, []string{"gen", "gen"}, draw); err == nil {
		t.Error("a decoder twice is accepted")
	}
}

// ExampleRank ranks three codes under one error model.
func ExampleRank() {
	ctx := context.Background()
	s := scenario.New(scenario.Mixture{R: 0.6, Sigma: 1.5})
	codes, err := scenario.OpenCodes([]string{"unary", "johnson", "gray"}, scenario.Sizes{Levels: 16})
	if err != nil {
		fmt.Println(err)
		return
	}
	draw := scenario.FixedSampling()
	draw.Samples = 1000
	candidates, err := compare.NewCandidates(ctx, s, codes, []string{decode.Auto}, draw)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := compare.Rank(ctx, s, scenario.Run{Backend: montecarlo.CPU{}}, candidates, draw)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range c.Results {
		fmt.Printf("%s (%s): %s levels\n", r.Code, r.Decoder, table.Short(r.Exact))
	}
	// Output:
	// unary (bel-u): 0.4161 levels
	// johnson (bel-j): 0.5413 levels
	// gray (gen): 0.7579 levels
}

// TestIntervals: where no formula gives the exact value, an interval does. It is near the
// sampled mean, also for networks that know a perceived label. Where errors are frequent there is
// none. A false alarm comes less than once in 10⁸ runs.
func TestIntervals(t *testing.T) {
	for _, tt := range []struct {
		model    scenario.Model
		code     string
		interval bool
	}{
		{scenario.Mixture{R: 0.5, Sigma: 2}, "johnson", true},
		{scenario.Mixture{R: 0.5, Sigma: 2}, "onehot", true},
		{scenario.Mixture{R: 0.6, Sigma: 1.5}, "hadamard", false},
		{networks, "johnson", true},
	} {
		s := scenario.New(tt.model)
		draw := scenario.FixedSampling()
		draw.Samples = 2000
		candidates := must.Get(compare.NewCandidates(t.Context(), s, []*code.Code{must.Get(code.New(tt.code, 48))(t)}, []string{"gen"},
			draw))(t)
		result := must.Get(compare.Rank(t.Context(), s, scenario.Run{Backend: montecarlo.CPU{}}, candidates, draw))(t)
		r := result.Results[0]
		if tt.interval != (r.ExactLo != nil && r.ExactHi != nil && !table.Missing(r.Exact)) {
			t.Fatalf("%s: exact %v from %v to %v, want an interval: %v", tt.code, r.Exact, r.ExactLo, r.ExactHi,
				tt.interval)
		}
		if !tt.interval {
			continue
		}
		if !(*r.ExactLo <= r.Exact && r.Exact <= *r.ExactHi) || *r.ExactHi-*r.ExactLo > scenario.ExactWidth**r.ExactHi {
			t.Errorf("%s: exact %v from %v to %v", tt.code, r.Exact, *r.ExactLo, *r.ExactHi)
		}
		if d := math.Abs(r.Mean - r.Exact); d > 6*r.StdErr {
			t.Errorf("%s: exact %v, sampled %v ± %v", tt.code, r.Exact, r.Mean, r.StdErr)
		}
	}
}
