package errmodel

import (
	"strings"
	"testing"

	"belsim/theory/base/must"
)

// TestLine: which errors are less, more and neither; long lists are cut.
func TestLine(t *testing.T) {
	b := Baseline{Name: DirectRegression, Error: 2, Unit: InLabelUnits}
	rivals := []Rival{{"a", 1, 1.9}, {"b", 1, 2}, {"c", 2.1, 3}}
	want := "direct regression (no code): 2 label units; a has less; b is not told apart from it; c has more"
	must.Equal(t, "line", want, b.Line(rivals))
	var many []Rival
	for _, name := range strings.Split("abcdefghijk", "") {
		many = append(many, Rival{Name: name, Lo: 3, Hi: 4})
	}
	if got, want := b.Line(many), "a, b, c, d, e, f, g, h and 3 others have more"; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := b.Line(many[:9]), "a, b, c, d, e, f, g, h and 1 others"; strings.Contains(got, want) {
		t.Errorf("%q", got)
	}
}
