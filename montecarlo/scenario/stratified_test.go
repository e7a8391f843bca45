package scenario_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/theory/code"
)

// TestStratified: stratified samples agree with the exact value and are much more exact than plain ones;
// codes to which they do not apply have plain ones, and say so.
func TestStratified(t *testing.T) {
	ctx := context.Background()
	s := scenario.New(scenario.Mixture{R: 0.6, Sigma: 1.5})
	var codes []*code.Code
	for _, name := range []string{"b1jdj", "hexj"} {
		c, err := code.New(name, 32)
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, c)
	}
	weights, err := s.Weights(32)
	if err != nil {
		t.Fatal(err)
	}
	draw := scenario.Usual()
	draw.Samples, draw.Stratified = 1000, true
	for _, tt := range []struct {
		decoders []string
		heading  string
	}{
		{[]string{"gen"}, "; stratified samples\n"},
		{[]string{"gen-ex"}, "; plain samples, for stratified ones do not apply or errors are too frequent\n"},
		{[]string{"gen", "gen-ex"}, "; stratified samples, but plain ones of gen-ex\n"}, // not of the codes, which have both
	} {
		candidates, _, err := s.Candidates(ctx, codes, tt.decoders, draw)
		if err != nil {
			t.Fatal(err)
		}
		run := scenario.Run{Backend: montecarlo.CPU{Workers: 1}, Workers: 1}
		result, err := s.Compare(ctx, run, candidates, weights, draw)
		if err != nil {
			t.Fatal(err)
		}
		if h := result.Heading(s); !strings.Contains(h, tt.heading) {
			t.Errorf("the heading is %q, want %q", h, tt.heading)
		}
		draw := draw
		draw.Stratified = false
		plain, err := s.Compare(ctx, run, candidates, weights, draw)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range result.Results {
			for _, p := range plain.Results {
				if p.Code != r.Code || p.Decoder != r.Decoder {
					continue
				}
				switch r.Decoder {
				case "gen":
					if r.Sampling != "stratified" || math.Abs(float64(r.Mean-r.Exact)) > 6*float64(r.StdErr)+1e-9 || r.StdErr > p.StdErr/100 {
						t.Errorf("%s: %v ± %v (%s), exactly %v; plain samples have ± %v", r.Code, r.Mean, r.StdErr, r.Sampling, r.Exact, p.StdErr)
					}
					// θ = 5 of one sample in a thousand or so.
					if d := math.Abs(float64(r.Within - p.Within)); d > 6*math.Sqrt(0.01/32000) || math.Abs(float64(r.RMS/p.RMS)-1) > 0.2 {
						t.Errorf("%s: RMS %v and %v within, but plain samples have %v and %v", r.Code, r.RMS, r.Within, p.RMS, p.Within)
					}
				default:
					if r.Sampling != "plain" || r.Mean != p.Mean || r.StdErr != p.StdErr || p.Sampling != "" {
						t.Errorf("%s with %s: %v ± %v (%q), want the plain %v ± %v", r.Code, r.Decoder, r.Mean, r.StdErr, r.Sampling, p.Mean, p.StdErr)
					}
				}
			}
		}
	}
	draw.RelErr = 0.01
	if err := draw.Check(); err == nil {
		t.Error("stratified samples until a relative standard error are not refused")
	}
}
