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
