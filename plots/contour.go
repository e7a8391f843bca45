package plots

import (
	"math"
	"slices"
)

// point is a place on a grid, in units of cells from the centre of the first.
type point struct{ x, y float64 }

// edge is a side of a square of four neighbouring grid points: from (x, y) to
// the right, or upwards.
type edge struct {
	x, y int
	up   bool
}

// contours returns the lines on which a function on a grid has a level, by marching squares. One or
// two segments cross each square of four neighbouring points that are not all above or all below
// the level. Each goes round what is above in the same sense, so that a segment that ends at a side
// of a square goes on in the next one. Squares with a NaN are left out, and so are those beside
// them: where a function falls to the level once more just before what is blank, as the paper's bounds do, the
// steps of the edge cut that second line into hooks and fragments. The grid is continued by half a cell on all sides, so
// that contours reach the ends of its outer cells.
//
// (The contours of gonum/plot come in random order, and run along the edges of what is NaN.)
func contours(grid [][]float64, level float64) [][]point {
	rows, columns := len(grid), len(grid[0])
	// z has a row and a column more than the grid on each side, where it goes on as it does there,
	// for half a step; place is the place on the grid of one on z.
	z := func(x, y int) float64 {
		atX, atY := min(max(x, 1), columns), min(max(y, 1), rows)
		v := grid[atY-1][atX-1]
		end := v
		for _, before := range []float64{
			grid[atY-1][min(max(2*atX-x, 1), columns)-1], grid[min(max(2*atY-y, 1), rows)-1][atX-1],
		} {
			if !math.IsNaN(before) {
				end += (v - before) / 2
			}
		}
		return end
	}
	place := func(v float64, n int) float64 {
		return v - 1 + max(1-v, 0)/2 - max(v-float64(n), 0)/2
	}
	blank := func(x, y int) bool { // of a square, from its first corner
		return x >= 0 && y >= 0 && x <= columns && y <= rows && math.IsNaN(z(x, y)+z(x+1, y)+z(x+1, y+1)+z(x, y+1))
	}
	around := [][2]int{{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1}}
	next := map[edge]edge{}
	entered := map[edge]bool{}
	var order []edge
	for y := range rows + 1 {
		for x := range columns + 1 {
			corners := [4]float64{z(x, y), z(x+1, y), z(x+1, y+1), z(x, y+1)}
			mean := (corners[0] + corners[1] + corners[2] + corners[3]) / 4
			if slices.ContainsFunc(around, func(off [2]int) bool { return blank(x+off[0], y+off[1]) }) {
				continue
			}
			sides := [4]edge{{x, y, false}, {x + 1, y, true}, {x, y + 1, false}, {x, y, true}}
			above := func(i int) bool { return corners[i%4] >= level }
			// At a saddle the mean decides which corners a segment cuts off: those below the
			// level lie on the way to the next side that is crossed, the others on the way back.
			turn := 1
			if mean < level {
				turn = 3
			}
			for i := range 4 {
				if !above(i) || above(i+1) {
					continue
				}
				to := i + turn
				for above(to) == above(to+1) {
					to += turn
				}
				next[sides[i]], entered[sides[to%4]] = sides[to%4], true
				order = append(order, sides[i])
			}
		}
	}
	cross := func(e edge) point {
		at, a, to := point{float64(e.x), float64(e.y)}, z(e.x, e.y), z(e.x+1, e.y)
		along := &at.x
		if e.up {
			along, to = &at.y, z(e.x, e.y+1)
		}
		*along += (level - a) / (to - a) // how far the level is on the way to the next point
		return point{place(at.x, columns), place(at.y, rows)}
	}
	return join(order, next, entered, cross)
}

// join joins the segments from an edge to the next one to lines through the points of the edges.
// entered are the edges at which a segment ends. It empties next.
func join(order []edge, next map[edge]edge, entered map[edge]bool, cross func(edge) point) [][]point {
	var paths [][]point
	for _, ring := range []bool{false, true} { // open lines from their ends, then rings
		for _, at := range order {
			to, more := next[at]
			if !more || entered[at] != ring {
				continue
			}
			path := []point{cross(at)}
			for ; more; to, more = next[at] {
				path = append(path, cross(to))
				delete(next, at)
				at = to
			}
			paths = append(paths, path)
		}
	}
	return paths
}
