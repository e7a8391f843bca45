package plots

import (
	"slices"
	"strings"
	"testing"
)

// TestFactors: the marks of ratios are powers of two, named as factors.
func TestFactors(t *testing.T) {
	for _, tt := range []struct {
		z    []float64
		want string
	}{
		{[]float64{-1, 0, 5.3}, "÷64 ÷16 ÷4 equal ×4 ×16 ×64"},
		{[]float64{0.2, 0.1, 1.7}, "÷4 ÷2 equal ×2 ×4"},
		{[]float64{0.1}, "÷2 equal ×2"},
		{append(slices.Repeat([]float64{1.9}, 99), 40), "≥ ÷4 ÷2 equal ×2 ≥ ×4"},
	} {
		s := newColourScale([][]float64{tt.z}, true)
		var labels []string
		for _, v := range s.marks {
			labels = append(labels, s.label(v))
		}
		if got := strings.Join(labels, " "); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.z[:min(3, len(tt.z))], got, tt.want)
		}
	}
	if s := newColourScale([][]float64{{-50, 100}}, false); s.label(50) != "+50" || s.label(-50) != "−50" || s.label(0) != "0" {
		t.Errorf("percents: %s, %s, %s", s.label(50), s.label(-50), s.label(0))
	}
}
