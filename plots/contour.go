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
// all above or all below the level. Segments that share a side of a square are joined.
// Squares with a NaN are left out.
func contours(z [][]float64, level float64) [][]point {
	// The segments form a graph. A side belongs to at most two squares, so it has at most
	// two neighbours.
	next := map[edge][]edge{}
	var order []edge // of first appearance, so that the result is always the same
	join := func(a, b edge) {
		for _, e := range []edge{a, b} {
			if _, seen := next[e]; !seen {
				order = append(order, e)
			}
		}
		next[a] = append(next[a], b)
		next[b] = append(next[b], a)
	}
	above := func(x, y int) bool { return z[y][x] >= level }
	for y := range len(z) - 1 {
		for x := range len(z[y]) - 1 {
			if math.IsNaN(z[y][x] + z[y][x+1] + z[y+1][x] + z[y+1][x+1]) {
				continue
			}
			bottom, top := edge{x, y, false}, edge{x, y + 1, false}
			left, right := edge{x, y, true}, edge{x + 1, y, true}
			var crossed []edge
			for _, side := range []struct {
				e    edge
				a, b bool
			}{
				{bottom, above(x, y), above(x+1, y)},
				{right, above(x+1, y), above(x+1, y+1)},
				{top, above(x, y+1), above(x+1, y+1)},
				{left, above(x, y), above(x, y+1)},
			} {
				if side.a != side.b {
					crossed = append(crossed, side.e)
				}
			}
			switch len(crossed) {
			case 2:
				join(crossed[0], crossed[1])
			case 4:
				// A saddle: the mean of the corners decides which of them are joined.
				mean := (z[y][x] + z[y][x+1] + z[y+1][x] + z[y+1][x+1]) / 4
				if (mean >= level) == above(x, y) {
					join(bottom, right)
					join(left, top)
				} else {
					join(bottom, left)
					join(right, top)
				}
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
	used := map[edge]bool{}
	walk := func(start edge) []point {
		path := []point{cross(start)}
		used[start] = true
		for at := start; ; {
			ahead, found := edge{}, false
			for _, n := range next[at] {
				if !used[n] {
					ahead, found = n, true
					break
				}
			}
			if !found {
				// A ring closes where it began.
				if len(path) > 2 && len(next[start]) == 2 {
					for _, n := range next[at] {
						if n == start {
							path = append(path, path[0])
							break
						}
					}
				}
				return path
			}
			used[ahead] = true
			path = append(path, cross(ahead))
			at = ahead
		}
	}
	var paths [][]point
	for _, ends := range []bool{true, false} { // open lines from their ends, then rings
		for _, e := range order {
			if !used[e] && (!ends || len(next[e]) == 1) {
				paths = append(paths, walk(e))
			}
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
