package scenario

import (
	"fmt"
	"math"
	"testing"

	"belsim/montecarlo"
	"belsim/theory/base/must"
	"belsim/theory/code"
)

// TestTied: two sampled errors are not told apart up to 1.96 standard errors of their difference, and two exact ones up to a part of 1e-5.
func TestTied(t *testing.T) {
	for _, tt := range []struct {
		exact, mean, stderr float64
		want                bool
	}{
		{math.NaN(), 3 + 1.95*5, 4, true}, {math.NaN(), 3 + 1.97*5, 4, false}, {math.NaN(), 3 - 1.95*5, 4, true},
		{3 + 1.95*3, 0, 4, true}, {3 + 1.97*3, 0, 4, false}, // the first one's alone
	} {
		if got := tied(CodeResult{Exact: math.NaN(), Mean: 3, StdErr: 3}, CodeResult{Exact: tt.exact, Mean: tt.mean, StdErr: tt.stderr}); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	for exact, want := range map[float64]bool{2 * (1 + 0.99e-5): true, 2 * (1 + 1.01e-5): false} {
		if tied(CodeResult{Exact: 2}, CodeResult{Exact: exact}) != want {
			t.Errorf("2 and %v: %v", exact, !want)
		}
	}
}

// The default map of any two codes has valid cells, up to the largest valid r, and compares what may be compared.
func TestBestMaps(t *testing.T) {
	run := Run{Backend: montecarlo.CPU{Workers: 1}, Workers: 1}
	methods := map[Method]int{}
	some := func(a Axis) Axis { // of the values, the ends among them
		return ListAxis([]float64{a.Values[0], a.Values[13], a.Values[26], a.Values[39]})
	}
	for _, levels := range []int{4, 16, 64} {
		for _, f := range code.Families() {
			for _, b := range []string{"johnson", "hadamard", "hexj"} {
				codes := [2]*code.Code{must.Get(code.New(f.Name, levels))(t), must.Get(code.New(b, levels))(t)}
				s := New(Mixture{R: 1, Sigma: 1})
				x, y, err := FitAxes(t.Context(), codes[:], Axis{}, Axis{})
				must.Succeed(t, err)
				m := must.Get(s.NewMap(t.Context(), codes, "auto", MixturePlane{}, some(x), some(y), Best))(t)
				must.Succeed(t, s.Fill(t.Context(), run, m, Sampling{Samples: 20, Seed: 1}))
				methods[m.Method]++
				what := fmt.Sprintf("%s and %s, %d levels, %s", f.Name, b, levels, m.Method)
				if sum := m.Summary(); sum.Valid == 0 || sum.Unknown > 0 || m.twoKinds {
					t.Errorf("%s: %+v, bounds %q", what, sum, m.Bounds)
				}
				beyond := must.Get(s.NewMap(t.Context(), codes, "auto", MixturePlane{}, ListAxis([]float64{1.01 * x.Values[39]}), y, Best))(t)
				must.Succeed(t, s.Fill(t.Context(), run, beyond, Sampling{Samples: 2, Seed: 1}))
				if x.Values[39] < float64(levels)/2 && beyond.Summary().Valid+beyond.Summary().WithoutErrors > 0 {
					t.Errorf("%s: r = %v is the largest, and more is valid", what, x.Values[39])
				}
			}
		}
	}
	if methods[Exact] == 0 || methods[Bound] == 0 || methods[Sample] == 0 {
		t.Errorf("methods %v", methods)
	}
}
