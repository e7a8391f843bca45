package scenario

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"belsim/montecarlo"
	"belsim/theory/base/must"
	"belsim/theory/code"
)

// TestTied: two sampled errors are not told apart up to 1.96 standard errors of their difference,
// and two exact ones up to a part of 1e-5.
func TestTied(t *testing.T) {
	for _, tt := range []struct {
		exact, mean, stderr float64
		want                bool
	}{
		{math.NaN(), 3 + 1.95*5, 4, true}, {math.NaN(), 3 + 1.97*5, 4, false}, {math.NaN(), 3 - 1.95*5, 4, true},
		{3 + 1.95*3, 0, 4, true}, {3 + 1.97*3, 0, 4, false}, // the first one's alone
	} {
		if got := tied(CodeResult{Exact: math.NaN(), Mean: 3, StdErr: 3}, CodeResult{Exact: tt.exact, Mean: tt.mean,
			StdErr: tt.stderr}); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	for exact, want := range map[float64]bool{2 * (1 + 0.99e-5): true, 2 * (1 + 1.01e-5): false} {
		if tied(CodeResult{Exact: 2}, CodeResult{Exact: exact}) != want {
			t.Errorf("2 and %v: %v", exact, !want)
		}
	}
}

// TestBeside: samples beside an exact value are drawn to 1 %, unless a number of samples or a wider
// target was asked for.
func TestBeside(t *testing.T) {
	for _, tt := range []struct{ relErr, exact, want float64 }{{0.002, 3, 0.01}, {0.02, 3, 0.02},
		{0.002, math.NaN(), 0.002}} {
		s := DefaultSampling()
		if s.RelErr = tt.relErr; s.Beside(tt.exact).RelErr != tt.want || s.Fixed(9).Beside(tt.exact).RelErr != 0 {
			t.Errorf("%+v: %+v", tt, s.Beside(tt.exact))
		}
	}
}

// TestRivals: a code stands for its best decoder, with 1.96 standard errors on either side.
func TestRivals(t *testing.T) {
	row := func(code string, mean, stderr float64) CodeResult {
		return CodeResult{Design: Design{Code: code}, Exact: math.NaN(), Mean: mean, StdErr: stderr}
	}
	c := Comparison{Results: []CodeResult{row("a", 2, 0.1), row("a", 1, 0.1), row("a", 3, 0.1), {Design: Design{Code: "b"}, Exact: 4},
		{Design: Design{Code: "c"}, Invalid: "no"}}}
	if diff := cmp.Diff([]Rival{{"a", 0.804, 1.196}, {"b", 4, 4}}, c.rivals(),
		cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Error(diff)
	}
}

// TestIncrease: what a map says of two errors: the increase, its standard error by the slopes of
// the increase, and in how many cells B is better.
func TestIncrease(t *testing.T) {
	for _, tt := range []struct{ a, stderr, b, want float64 }{{3, 0, 2, 50}, {0, 0, 2, -100}, {0, 1e-9, 2, math.NaN()},
		{1, 0, 0, math.NaN()}} {
		if got := Increase(tt.a, tt.stderr, tt.b); got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)) {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	var c Cell
	c.setSampled(montecarlo.Overall{Mean: 3, StdErr: 0.1}, montecarlo.Overall{Mean: 2, StdErr: 0.2})
	const step = 1e-6
	want := math.Hypot(0.1*(Increase(3+step, 0, 2)-50)/step, 0.2*(Increase(3, 0, 2+step)-50)/step)
	if math.Abs(*c.StdErr-want) > 1e-4*want || c.Increase != 50 {
		t.Errorf("%v ± %v, want ± %v", c.Increase, *c.StdErr, want)
	}
	m := Map{Cells: []Cell{{Increase: 0.9e-9}, {Increase: 1.1e-9}, {Increase: 0.5, unsure: 0.4},
		{Increase: 0.5, unsure: 0.6}, {Increase: -3}, {Increase: math.NaN(), A: 1}, {Increase: math.NaN(), A: 1,
			unknown: true}}}
	got := m.Summary()
	if diff := cmp.Diff(MapSummary{Valid: 5, BetterB: 2, Unknown: 1, WithoutErrors: 1}, got,
		cmpopts.IgnoreFields(MapSummary{}, "Least", "Most")); diff != "" || got.Least.Increase != -3 ||
		got.Most.Increase != 0.5 {
		t.Errorf("%s, from %v to %v", diff, got.Least.Increase, got.Most.Increase)
	}
}

// The default map of any two codes has valid cells, up to the largest valid r, and compares what
// may be compared.
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
				beyond := must.Get(s.NewMap(t.Context(), codes, "auto", MixturePlane{},
					ListAxis([]float64{1.01 * x.Values[39]}), y, Best))(t)
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
