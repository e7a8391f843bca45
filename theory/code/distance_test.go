package code_test

import (
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
			seen := map[uint16]bool{}
			for a, i := range order {
				seen[i] = true
				d := c.Distance(row, int(i))
				if a > 0 {
					before := c.Distance(row, int(order[a-1]))
					if d < before || d == before && i < order[a-1] {
						t.Fatalf("%s, row %d: row %d at distance %d stands behind row %d at %d", c.Name(), row, i, d,
							order[a-1], before)
					}
				}
			}
			for d := range c.Bits() + 1 {
				within := 0
				for i := range c.Levels() {
					if c.Distance(row, i) <= d {
						within++
					}
				}
				if int(reach[d]) != within {
					t.Fatalf("%s, row %d: %d rows within %d, want %d", c.Name(), row, reach[d], d, within)
				}
			}
			if len(seen) != c.Levels() || int(order[0]) != row {
				t.Fatalf("%s, row %d: %d rows of %d, row %d first", c.Name(), row, len(seen), c.Levels(), order[0])
			}
		}
	}
}
