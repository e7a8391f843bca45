package observed_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"belsim/errmodel/observed"
)

// TestSpread compares quantiles with those of the sorted errors: the bin of an error is 1/32 of it
// wide, and no quantile leaves its bin. Whole numbers up to 64 have a bin each. The order in which
// errors come, and are merged, changes a sum by its rounding alone.
func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.Bool().Draw(t, "whole")
		value := rapid.Custom(func(t *rapid.T) float64 {
			if whole {
				return float64(rapid.IntRange(0, 64).Draw(t, "levels"))
			}
			return math.Exp(rapid.Float64Range(-8, 11).Draw(t, "log"))
		})
		errors := rapid.SliceOfN(value, 1, 200).Draw(t, "errors")
		var some, rest observed.Spread
		cut := rapid.IntRange(0, len(errors)).Draw(t, "cut")
		for i, v := range errors {
			if i < cut {
				some.Add(v)
			} else {
				rest.Add(v)
			}
		}
		some.Merge(&rest)
		if some.Samples() != uint64(len(errors)) {
			t.Fatalf("%d samples, want %d", some.Samples(), len(errors))
		}
		slices.Sort(errors)
		for _, p := range []float64{0.5, 0.9, 0.99, 1} {
			want := errors[int(math.Ceil(p*float64(len(errors))))-1]
			tolerance := max(want/32, 1.0/64)
			if whole {
				tolerance = 1e-12
			}
			if got := some.Quantile(p); !(math.Abs(got-want) <= tolerance) {
				t.Fatalf("quantile %v of %v: %v, want %v", p, errors, got, want)
			}
		}
	})
	var none observed.Spread
	if !math.IsNaN(none.Quantile(0.5)) {
		t.Error("a quantile without errors")
	}
	none.Add(math.Inf(1)) // a decoder may overflow
	none.Add(1e300)
}
