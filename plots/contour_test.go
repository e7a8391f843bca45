package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// cone is a grid of distances from a place, NaN in a disc of radius hole around
// another.
func cone(n int, x0, y0, hx, hy, hole float64) [][]float64 {
	z := make([][]float64, n)
	for y := range z {
		z[y] = make([]float64, n)
		for x := range z[y] {
			z[y][x] = math.Hypot(float64(x)-x0, float64(y)-y0)
			if math.Hypot(float64(x)-hx, float64(y)-hy) < hole {
				z[y][x] = math.NaN()
			}
		}
	}
	return z
}

// A contour of a cone is one closed circle.
func TestContourOfCone(t *testing.T) {
	const r = 9.3
	paths := contours(cone(31, 15.2, 14.7, 0, 0, 0), r)
	if len(paths) != 1 {
		t.Fatalf("%d lines, want 1", len(paths))
	}
	path := paths[0]
	if path[0] != path[len(path)-1] {
		t.Errorf("begins at %v and ends at %v", path[0], path[len(path)-1])
	}
	for _, p := range path {
		if d := math.Hypot(p.x-15.2, p.y-14.7); math.Abs(d-r) > 0.05 {
			t.Errorf("(%g, %g) is %g from the centre, want %g", p.x, p.y, d, r)
		}
	}
}

// Where values are missing a contour ends; it does not bend, nor cross.
func TestContourAtHole(t *testing.T) {
	const r = 9.3
	z := cone(31, 15.2, 14.7, 24, 15, 3)
	paths := contours(z, r)
	if len(paths) != 1 || paths[0][0] == paths[0][len(paths[0])-1] {
		t.Fatalf("%d lines, want 1, open", len(paths))
	}
	for i, p := range paths[0] {
		if d := math.Hypot(p.x-15.2, p.y-14.7); math.Abs(d-r) > 0.05 {
			t.Errorf("(%g, %g) is %g from the centre, want %g", p.x, p.y, d, r)
		}
		if i == 0 {
			continue
		}
		q := paths[0][i-1]
		x, y := int((p.x+q.x)/2), int((p.y+q.y)/2)
		if math.IsNaN(z[y][x] + z[y][x+1] + z[y+1][x] + z[y+1][x+1]) {
			t.Errorf("from (%g, %g) to (%g, %g) across a square without a value", q.x, q.y, p.x, p.y)
		}
	}
}

// At a saddle two lines pass each other.
func TestContourAtSaddle(t *testing.T) {
	for _, z := range [][][]float64{{{1, -2}, {-2, 1}}, {{2, -1}, {-1, 2}}} {
		if paths := contours(z, 0); len(paths) != 2 {
			t.Errorf("%v: %d lines, want 2", z, len(paths))
		}
	}
}

func TestNoContour(t *testing.T) {
	nan := math.NaN()
	for _, z := range [][][]float64{{{1}}, {{0, 0}, {0, 0}}, {{nan, nan}, {nan, nan}}} {
		if paths := contours(z, 0); len(paths) != 0 {
			t.Errorf("%v: %d lines, want none", z, len(paths))
		}
	}
}

// A contour reaches the ends of the outer cells, half a cell beyond their middles.
func TestContourToFrame(t *testing.T) {
	for _, tt := range []struct {
		z    [][]float64
		want []point
	}{
		{[][]float64{{-1, 3}}, []point{{0.25, -0.5}, {0.25, 0}, {0.25, 0.5}}},
		{[][]float64{{-1, 1}, {-1, 1}}, []point{{0.5, -0.5}, {0.5, 0}, {0.5, 1}, {0.5, 1.5}}},
		{[][]float64{{-1, 1}, {-2, 2}, {-1, 1}}, []point{{0.5, -0.5}, {0.5, 0}, {0.5, 1}, {0.5, 2}, {0.5, 2.5}}},
	} {
		paths := contours(tt.z, 0)
		if len(paths) == 1 && paths[0][0] != tt.want[0] {
			slices.Reverse(paths[0])
		}
		if len(paths) != 1 || !slices.Equal(paths[0], tt.want) {
			t.Errorf("%v: %v, want %v", tt.z, paths, tt.want)
		}
	}
}

// TestPixels: edges of cells are half-way between their centres, and fill the picture.
func TestPixels(t *testing.T) {
	for _, tt := range []struct {
		a    axis
		want []int
	}{
		{axis{at: []float64{1, 2, 3}}, []int{0, 33, 66, 99}},
		{axis{at: []float64{1, 2.05, 3}}, []int{0, 35, 68, 99}},
		{axis{at: []float64{1, 2, 4}}, []int{0, 22, 55, 99}}, // 0.5, 1.5, 3, 5
		{axis{at: []float64{1, 10, 1000}, log: true}, []int{0, 22, 55, 99}},
		{axis{at: []float64{7}}, []int{0, 100}},
	} {
		if got := tt.a.pixels(100); !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.a, got, tt.want)
		}
	}
}

// A function that falls to the level once more along a blank edge has a line there, of which the
// steps of the edge would leave pieces. The first line has no hook of them, and one that crosses
// the edge goes up to it.
func TestContourAlongEdge(t *testing.T) {
	const n = 40
	for _, slope := range []float64{0.2, 0.35, 0.5, 0.7, 1, 1.3, 2} {
		grid := func(f func(x, inside float64) float64) [][]float64 {
			z := make([][]float64, n)
			for y := range z {
				z[y] = make([]float64, n)
				for x := range z[y] {
					inside := (float64(y) - slope*float64(x)) / math.Hypot(1, slope) // cells from the edge
					z[y][x] = math.NaN()
					if inside >= 0 {
						z[y][x] = f(float64(x), inside)
					}
				}
			}
			return z
		}
		nearest, longest := math.Inf(1), 0
		for _, path := range contours(grid(func(x, inside float64) float64 { return min(x-8-inside, inside-0.7) }), 0) {
			longest = max(longest, len(path))
			for _, p := range path {
				if inside := (p.y - slope*p.x) / math.Hypot(1, slope); math.Abs(p.x-8-inside) > 0.75 {
					t.Errorf("slope %g: a line at (%.3g, %.3g), %.2g from the edge", slope, p.x, p.y, inside)
				}
			}
		}
		for _, path := range contours(grid(func(x, inside float64) float64 {
			return x +
				slope*(inside*math.Hypot(1, slope)+slope*x) - 9
		}), 0) {
			for _, p := range path { // x + slope·y = 9, at a right angle to the edge
				nearest = min(nearest, (p.y-slope*p.x)/math.Hypot(1, slope))
			}
		}
		if longest < 10 || nearest > 2.5 {
			t.Errorf("slope %g: the line has %d points; the line across ends %.3g cells from the edge", slope, longest,
				nearest)
		}
	}
}

// TestColourScale: marks are increases, 100·(ratio − 1), the bar is as long as the data, and a ratio
// and its inverse have equally deep colours.
func TestColourScale(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		ratios []float64
		want   string
		points string // at the ends of the bar
	}{
		{[]float64{0.5, nan, 2}, "−40 % −20 % 0 % +20 % +50 % +100 %", ""},
		{[]float64{0.2, 0.8}, "−80 % −70 % −60 % −50 % −40 % −30 % −20 %", ""},
		{[]float64{0, 1.25}, "−100 % −80 % −60 % −40 % −20 % 0 % +20 %", ""},
		{[]float64{1}, "−1.0 % −0.5 % 0 % +0.5 % +1.0 %", ""},
		{append(slices.Repeat([]float64{1.1, 0.9}, 50), 40), "−10 % −5 % 0 % +5 % +10 %", ">"},
		{[]float64{1.05, 13}, "+10 % +50 % +100 % +200 % +500 %", ""},
		{[]float64{2, 2.2}, "+100 % +105 % +110 % +115 % +120 %", ""},
		{nil, "−1.0 % −0.5 % 0 % +0.5 % +1.0 %", ""},
	} {
		var z []float64
		for _, ratio := range tt.ratios {
			z = append(z, difference(ratio))
		}
		s := newColourScale([][]float64{z})
		var labels []string
		for _, tick := range s.ticks(s.lo, s.hi) {
			labels = append(labels, tick.Label)
			var percent float64
			fmt.Sscanf(strings.ReplaceAll(tick.Label, "−", "-"), "%g", &percent)
			if math.Abs(increase(tick.Value)-percent) > 1e-9 {
				t.Errorf("%s stands at %v %%", tick.Label, increase(tick.Value))
			}
		}
		points := strings.Repeat("<", map[bool]int{true: 1}[s.under]) + strings.Repeat(">",
			map[bool]int{true: 1}[s.over])
		if got := strings.Join(labels, " "); got != tt.want || points != tt.points {
			t.Errorf("%v: %s %q, want %s %q", tt.ratios[:min(3, len(tt.ratios))], got, points, tt.want, tt.points)
		}
	}
	s := newColourScale([][]float64{{-0.5, 0.1}})
	red, _, blue, _ := s.colour(0.5).RGBA()
	r, _, b, _ := s.colour(-0.5).RGBA()
	if light := func(strong, weak uint32) float64 { return float64(strong+weak) / (2 * 0xffff) }; red < 2*blue ||
		b < 2*r || math.Abs(light(red, blue)-light(b, r)) > 0.1 {
		t.Errorf("colours of the ends: red %d and blue %d; red %d and blue %d", red, blue, r, b)
	}
}
