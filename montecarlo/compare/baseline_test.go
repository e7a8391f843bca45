package compare_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"belsim/montecarlo/compare"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
)

// TestBaselines: direct regression stands in the notes, in JSON and in the CSV, and the rows are
// codes alone.
func TestBaselines(t *testing.T) {
	_, c := compared(t, scenario.Mixture{R: 0.5, Sigma: 1.5}, "unary", "johnson", "hadamard")
	rows := len(c.Results)
	c.AddBaseline(0.5)
	want := "direct regression (no code): 0.5 levels; unary and johnson have less; hadamard has more.\n"
	if notes := c.Notes(); !strings.Contains(notes, want) &&
		!strings.Contains(notes, strings.Replace(want, "unary and johnson", "johnson and unary", 1)) {
		t.Errorf("%q, want %q", notes, want)
	}
	raw, err := table.JSON(c)
	if err != nil || len(c.Results) != rows || !strings.Contains(string(raw),
		`"baselines":[{"name":"direct regression","error":0.5,"unit":"levels"}]`) {
		t.Errorf("%v, %d rows: %s", err, len(c.Results), raw)
	}
	var b bytes.Buffer
	must.Succeed(t, table.WriteCSV(&b, c.Results, c.Missing()...))
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 1+rows || !strings.HasSuffix(lines[0], ",tie,direct_regression") ||
		!strings.HasSuffix(lines[1], ",0.5") {
		t.Errorf("%s", b.String())
	}
	for _, x := range []float64{-1, math.NaN(), math.Inf(1)} {
		if compare.CheckBaseline(x) == nil {
			t.Errorf("%v was taken", x)
		}
	}
}

// TestLine: which errors are less, more and neither; long lists are cut.
func TestLine(t *testing.T) {
	b := compare.Baseline{Name: compare.DirectRegression, Error: 2, Unit: compare.InLabelUnits}
	rivals := []compare.Rival{{"a", 1, 1.9}, {"b", 1, 2}, {"c", 2.1, 3}}
	if got, want := b.Line(rivals), "direct regression (no code): 2 label units; a has less; b is not told apart from it; c has more"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var many []compare.Rival
	for _, name := range strings.Split("abcdefghijk", "") {
		many = append(many, compare.Rival{Name: name, Lo: 3, Hi: 4})
	}
	if got, want := b.Line(many), "a, b, c, d, e, f, g, h and 3 others have more"; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := b.Line(many[:9]), "a, b, c, d, e, f, g, h and 1 others"; strings.Contains(got, want) {
		t.Errorf("%q", got)
	}
}
