package compare

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"belsim/montecarlo/scenario"
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
		if got := tied(Result{Expected: scenario.Expected{Exact: math.NaN()}, Mean: 3, StdErr: 3}, Result{Expected: scenario.Expected{Exact: tt.exact}, Mean: tt.mean,
			StdErr: tt.stderr}); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	for exact, want := range map[float64]bool{2 * (1 + 0.99e-5): true, 2 * (1 + 1.01e-5): false} {
		if tied(Result{Expected: scenario.Expected{Exact: 2}}, Result{Expected: scenario.Expected{Exact: exact}}) != want {
			t.Errorf("2 and %v: %v", exact, !want)
		}
	}
}

// TestRivals: a code stands for its best decoder, with 1.96 standard errors on either side.
func TestRivals(t *testing.T) {
	row := func(code string, mean, stderr float64) Result {
		return Result{Design: scenario.Design{Code: code}, Expected: scenario.Expected{Exact: math.NaN()}, Mean: mean, StdErr: stderr}
	}
	c := Ranking{Results: []Result{row("a", 2, 0.1), row("a", 1, 0.1), row("a", 3, 0.1), {Design: scenario.Design{Code: "b"}, Expected: scenario.Expected{Exact: 4}},
		{Design: scenario.Design{Code: "c"}, Invalid: "no"}}}
	if diff := cmp.Diff([]Rival{{"a", 0.804, 1.196}, {"b", 4, 4}}, c.rivals(),
		cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Error(diff)
	}
}
