package errmodel

import (
	"context"
	"fmt"
	"testing"

	"belsim/theory/base/must"
	"belsim/theory/code"
)

// TestSumColumn: the table that is made column by column has the rows of large ones to the last
// bit, with transitions beyond the levels, too.
func TestSumColumn(t *testing.T) {
	positions := [][]int{{1, 2, 5, 19}, {}, {-3, 4}, {0, 20}, {7, 26}, {60}, {-60, 3, 3}}
	for _, sigma := range []float64{0.05, 0.8, 9} {
		p := must.Get(NewProfile(context.Background(), must.Get(code.New("unary", 20))(t), positions, sigma))(t)
		row := make([]float64, len(positions))
		for i := range 20 {
			p.sum(row, positions, i)
			for k, want := range row {
				must.Equal(t, fmt.Sprintf("σ = %v, level %d, bit %d", sigma, i+1, k+1), want, p.unit.At(i, k))
			}
		}
	}
}

// TestLine: which errors are less, more and neither.
func TestLine(t *testing.T) {
	b := Baseline{Name: DirectRegression, Error: 2, Unit: InLabelUnits}
	rivals := []Rival{{"a", 1, 1.9}, {"b", 1, 2}, {"c", 2.1, 3}, {"d", 3, 3}}
	want := "direct regression (no code): 2 label units; a has less; b is not told apart from it; c and d have more"
	must.Equal(t, "line", want, b.Line(rivals))
}
