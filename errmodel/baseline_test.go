package errmodel

import (
	"testing"

	"belsim/theory/base/must"
)

// TestLine: which errors are less, more and neither.
func TestLine(t *testing.T) {
	b := Baseline{Name: DirectRegression, Error: 2, Unit: InLabelUnits}
	rivals := []Rival{{"a", 1, 1.9}, {"b", 1, 2}, {"c", 2.1, 3}, {"d", 3, 3}}
	want := "direct regression (no code): 2 label units; a has less; b is not told apart from it; c and d have more"
	must.Equal(t, "line", want, b.Line(rivals))
}
