package decode_test

import (
	"math"
	"testing"

	"belsim/theory/decode"
)

// TestRules: labels by hand; ties go to the lowest level, also where rounding made the scores
// differ, and −Inf is impossible.
func TestRules(t *testing.T) {
	inf := math.Inf(-1)
	log := math.Log
	for _, tt := range []struct {
		scores            []float64
		values            []float64
		most, half, mean_ float64
	}{
		{[]float64{0, 0, 0}, nil, 1, 2, 2},
		{[]float64{log(0.2), log(0.5), log(0.3)}, nil, 2, 2, 2.1},
		{[]float64{log(0.4), log(0.25), log(0.35)}, nil, 1, 2, 1.95},
		{[]float64{log(0.5), log(0.5)}, nil, 1, 1, 1.5},
		{[]float64{1, 1 + 0.9e-9}, nil, 1, 1, 1.5}, {[]float64{1, 1 + 1.1e-9}, nil, 2, 1, 1.5},
		{[]float64{0, -44.9}, []float64{0, 1e19}, 0, 0, 1e19 * math.Exp(-44.9)}, {[]float64{0, -45.1},
			[]float64{0, 1e19}, 0, 0, 0},
		{[]float64{inf, 3, inf}, nil, 2, 2, 2},
		{[]float64{-2000, -1000, -1000}, nil, 2, 2, 2.5},
		{[]float64{1e6, 1e6 - 700}, nil, 1, 1, 1},
		{[]float64{log(0.4), log(0.25), log(0.35)}, []float64{-5, 10, 11.5}, -5, 10, 4.525},
	} {
		for _, r := range []struct {
			rule decode.Rule
			want float64
		}{{decode.MAP, tt.most}, {decode.Median, tt.half}, {decode.Mean, tt.mean_}} {
			scores := append([]float64(nil), tt.scores...)
			if got := r.rule.Label(scores, tt.values, nil); math.Abs(got-r.want) > 1e-9 {
				t.Errorf("%s of %v, labels %v: %v, want %v", r.rule, tt.scores, tt.values, got, r.want)
			}
		}
	}
}
