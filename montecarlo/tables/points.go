package tables

import "math"

// Class is one number of points that a sample may have.
type Class struct {
	Points int
	Share  uint64 // P(this class | none before it) · 2⁶⁴; the last class takes the rest
}

// pointScratch is memory that newClasses uses again.
type pointScratch struct{ below, above, weights, remaining []float64 }

// newClasses makes the classes of the Poisson law of mean hazard, for dealing the
// samples of a block to the possible numbers of points: the likeliest first, so that
// few samples are left to deal after the first ones. Numbers of points less likely than
// 2⁻⁶⁴ altogether are beyond the resolution of a share and are left out. dst and
// scratch are reused.
func newClasses(dst []Class, hazard float64, c *pointScratch) []Class {
	c.below, c.above = likelyPoints(c.below[:0], c.above[:0], hazard)
	below, above := c.below, c.above
	mode := int(hazard)
	dst, c.weights = dst[:0], c.weights[:0]
	// Both lists fall, so merging them sorts all; of equal weights the smaller
	// number of points comes first.
	for i, j := 0, 0; i < len(below) || j < len(above); {
		if j == len(above) || i < len(below) && below[i] >= above[j] {
			dst, c.weights = append(dst, Class{Points: mode - i}), append(c.weights, below[i])
			i++
		} else {
			dst, c.weights = append(dst, Class{Points: mode + 1 + j}), append(c.weights, above[j])
			j++
		}
	}
	if len(below) > 1 && below[1] == 1 { // hazard is a whole number: twins at the mode
		dst[0].Points, dst[1].Points = mode-1, mode
	}

	// Conditional shares need the sum of what remains, added from the smallest
	// weight up.
	n := len(c.weights)
	c.remaining = append(c.remaining[:0], c.weights...)
	for i := n - 2; i >= 0; i-- {
		c.remaining[i] += c.remaining[i+1]
	}
	last := n - 1
	for last > 0 && c.remaining[last] < 0x1p-65*c.remaining[0] {
		last--
	}
	dst = dst[:last+1]
	for i := range dst {
		dst[i].Share = fixed64(c.weights[i] / c.remaining[i])
	}
	return dst
}

// likelyPoints appends to below and above the weights of the numbers of points mode,
// mode−1, … and mode+1, mode+2, … relative to the weight of the mode, the whole part of
// hazard: each a product of ratios below one, no factorials and nothing to overflow. What
// lies beyond the cut is less than cut·mode·(1/(1−ratio)) of the whole, far
// below 2⁻⁶⁴.
func likelyPoints(below, above []float64, hazard float64) ([]float64, []float64) {
	const cut = 0x1p-90
	mode := int(hazard)
	below = append(below, 1)
	for m, w := mode, 1.0; m > 0; m-- {
		if w *= float64(m) / hazard; w < cut {
			break
		}
		below = append(below, w)
	}
	for m, w := mode, 1.0; ; m++ {
		if w *= hazard / float64(m+1); w < cut {
			break
		}
		above = append(above, w)
	}
	return below, above
}

// fixed64 is p·2⁶⁴, rounded, for p in [0, 1]; 1 itself becomes 2⁶⁴−1.
func fixed64(p float64) uint64 {
	if p >= 1 {
		return math.MaxUint64
	}
	return uint64(math.Ldexp(p, 64))
}
