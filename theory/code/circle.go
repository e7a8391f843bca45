package code

import (
	"math"
	"slices"
)

// Circle is what the levels of a circular code have in common: level n lies at the angle 2π(n−1)/L,
// and level 1 follows level L. Places go from 1 to below L+1. It is immutable; a nil Circle stands
// for levels on a line.
type Circle struct{ sin, cos []float64 }

// NewCircle is the circle of so many levels.
func NewCircle(levels int) *Circle {
	c := &Circle{make([]float64, levels), make([]float64, levels)}
	for i := range c.sin {
		c.sin[i], c.cos[i] = math.Sincos(2 * math.Pi * float64(i) / float64(levels))
	}
	return c
}

// OnCircle returns the code with level 1 behind level L where it is circular, as angles have them; else the code.
func (c *Code) OnCircle(circular bool) *Code {
	if !circular {
		return c
	}
	out := *c
	out.circle = NewCircle(c.levels)
	return &out
}

// Circular reports whether level 1 follows level L.
func (c *Code) Circular() bool { return c.circle != nil }

// Circle is that of the levels; nil where level 1 and level L are ends.
func (c *Code) Circle() *Circle { return c.circle }

// Levels is their number L.
func (c *Circle) Levels() int { return len(c.sin) }

// noDirection is the length of a mean vector, of unit vectors, that is nothing but rounding.
const noDirection = 1e-12

// Mean is the place of the direction of Σ w[i]·(cos, sin) of level i+1: of the mean vector of a
// distribution over the levels, which is w up to a factor. It is 1, the place of level 1, where the
// vector is zero.
func (c *Circle) Mean(w []float64) float64 {
	total, x, y := 0.0, 0.0, 0.0
	for i, p := range w {
		total += p
		x += float64(p * c.cos[i])
		y += float64(p * c.sin[i])
	}
	if math.Hypot(x, y) <= noDirection*total {
		return 1
	}
	return c.Wrap(1 + math.Atan2(y, x)*float64(c.Levels())/(2*math.Pi))
}

// distances sets off, of length L, to the mean distances Σ w[i]·|i−m| along the circle of each row m from
// a distribution w over the levels, up to a factor.
func (c *Circle) distances(off, w []float64) {
	levels, total := c.Levels(), 0.0
	off[0] = 0
	for i, p := range w {
		total += p
		off[0] += float64(p * float64(min(i, levels-i)))
	}
	// A step from row m to m+1 comes nearer to the half circle before it, and away from the rest: of an
	// odd number of levels, but for the one that is opposite to both.
	half := levels / 2
	near := 0.0
	for i := range half {
		near += w[1+i]
	}
	for m := range levels - 1 {
		away := total - near
		if levels%2 == 1 {
			away -= w[(m+half+1)%levels]
		}
		off[m+1] = off[m] - near + away
		near += w[(m+half+1)%levels] - w[m+1]
	}
}

// Median is the first row, from 0, of the smallest mean distance along the circle from a distribution
// w over the levels, up to a factor. Distances within tolerance·Σw are equal.
func (c *Circle) Median(w []float64, tolerance float64) int {
	off, total := make([]float64, len(w)), 0.0
	c.distances(off, w)
	least := math.Inf(1)
	for i, d := range off {
		total += w[i]
		least = min(least, d)
	}
	for i, d := range off {
		if d <= least+tolerance*total {
			return i
		}
	}
	return 0
}

// Distance is the smallest mean distance along the circle of a level from a distribution w.
func (c *Circle) Distance(w []float64) float64 {
	off := make([]float64, len(w))
	c.distances(off, w)
	return slices.Min(off)
}

// Wrap is the same place from 1 to below L+1.
func (c *Circle) Wrap(place float64) float64 {
	levels := float64(c.Levels())
	turned := place - levels*math.Floor((place-1)/levels)
	if turned < 1 || turned >= levels+1 { // by rounding
		return 1
	}
	return turned
}

// Between is the way from one place to another: their difference on a line, and on a circle the shorter
// way, from −L/2 to L/2, up where both are as long.
func (c *Circle) Between(from, to float64) float64 {
	if c == nil {
		return to - from
	}
	d := math.Remainder(to-from, float64(c.Levels()))
	if 2*d == -float64(c.Levels()) {
		return -d
	}
	return d
}

// Between is the way from one place of a level to another: see Circle.Between.
func (c *Code) Between(from, to float64) float64 { return c.circle.Between(from, to) }
