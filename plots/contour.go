package plots

import "math"

// point is a place on a grid, in units of cells from the centre of the first.
type point struct{ x, y float64 }

// edge is a side of a square of four neighbouring grid points: from (x, y) to
// the right, or upwards.
type edge struct {
	x, y int
	up   bool
}

// contours returns the lines on which a function on a grid has a level, by marching
// squares. One or two segments cross each square of four neighbouring points that are not
// all above or all below the level. Each goes round what is above in the same sense, so that
// a segment that ends at a side of a square goes on in the next one.
// Squares with a NaN are left out.
//
// (The contours of gonum/plot come in random order, and run along the edges of what is NaN.)
func contours(z [][]float64, level float64) [][]point {
	next := map[edge]edge{}
	entered := map[edge]bool{}
	var order []edge
	for y := range len(z) - 1 {
		for x := range len(z[y]) - 1 {
			corners := [4]float64{z[y][x], z[y][x+1], z[y+1][x+1], z[y+1][x]}
			mean := (corners[0] + corners[1] + corners[2] + corners[3]) / 4
			if math.IsNaN(mean) {
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
		x, y := e.x, e.y
		a := z[y][x]
		if e.up {
			return point{float64(x), float64(y) + fraction(a, z[y+1][x], level)}
		}
		return point{float64(x) + fraction(a, z[y][x+1], level), float64(y)}
	}
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

// fraction is how far from a to b the level is reached.
func fraction(a, b, level float64) float64 { return (level - a) / (b - a) }

// stray reports whether a contour on a grid of nx × ny points is a fragment at the edge of blank
// cells: it ends at blank cells on both sides, and is shorter than an eighth of the map. Where a
// function has a level along the edge, the steps of the edge cut the contour into such fragments.
func stray(path []point, nx, ny int) bool {
	first, last := path[0], path[len(path)-1]
	if len(path) > 2 && first == last { // a ring
		return false
	}
	for _, end := range []point{first, last} {
		if end.x == 0 || end.y == 0 || end.x == float64(nx-1) || end.y == float64(ny-1) {
			return false // it ends at the frame
		}
	}
	length := 0.0
	for i, at := range path[1:] {
		length += math.Hypot(at.x-path[i].x, at.y-path[i].y)
	}
	return length < float64(max(nx, ny))/8
}
