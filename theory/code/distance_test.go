package code_test

import (
	"slices"
	"testing"

	"belsim/theory/base/must"
	"belsim/theory/code"
)

// TestOrderByDistance: every row once, the nearest first, rows ascending within a
// distance, and the numbers of rows up to each distance.
func TestOrderByDistance(t *testing.T) {
	for _, f := range code.Families() {
		c := must.Get(code.New(f.Name, 70))(t)
		distances := make([]int32, c.Levels())
		order, reach := make([]uint16, c.Levels()), make([]uint32, c.Bits()+2)
		for row := range c.Levels() {
			c.Distances(distances, row)
			code.OrderByDistance(order, reach, distances)
			var want []uint16
			for i := range c.Levels() {
				want = append(want, uint16(i))
			}
			slices.SortStableFunc(want, func(a, b uint16) int { return c.Distance(row, int(a)) - c.Distance(row, int(b)) })
			must.Equal(t, c.Name(), want, order)
			for d := range c.Bits() + 1 {
				if n := int(reach[d]); n < len(order) && c.Distance(row, int(order[n])) <= d || n > 0 && c.Distance(row, int(order[n-1])) > d {
					t.Fatalf("%s, row %d: %d rows within %d", c.Name(), row, n, d)
				}
			}
		}
	}
}
