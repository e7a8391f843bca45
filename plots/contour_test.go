package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"belsim/theory/base/must"
)

// cone is a grid of distances from a place.
func cone(n int, x0, y0 float64) [][]float64 {
	z := make([][]float64, n)
	for y := range z {
		for x := range n {
			z[y] = append(z[y], math.Hypot(float64(x)-x0, float64(y)-y0))
		}
	}
	return z
}

// A contour of a cone is one closed circle.
func TestContourOfCone(t *testing.T) {
	const r = 9.3
	paths := contours(cone(31, 15.2, 14.7), r)
	if len(paths) != 1 {
		t.Fatalf("%d lines, want 1", len(paths))
	}
	path := paths[0]
	if path[0] != path[len(path)-1] {
		t.Errorf("begins at %v and ends at %v", path[0], path[len(path)-1])
	}
	for _, p := range path {
		must.Near(t, fmt.Sprintf("distance of (%g, %g) from the centre", p.x, p.y), r, math.Hypot(p.x-15.2, p.y-14.7), 0.05)
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
			must.Near(t, "percent at "+tick.Label, percent, increase(tick.Value), 1e-9)
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
