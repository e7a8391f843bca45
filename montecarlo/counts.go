package montecarlo

import (
	"math"
	"math/bits"
)

// pointCounts is the law of the number of points of one sample, prepared for
// dealing the samples of a block to the possible numbers: class by class, the
// likeliest first, so that few samples are left to deal after the first ones.
type pointCounts struct {
	points []int    // number of points of each class
	share  []uint64 // P(this class | none before it) · 2⁶⁴; unused for the last class

	below, above, weights, remaining []float64 // scratch
}

// prepare makes c the Poisson law of mean hazard. Numbers of points less likely than
// 2⁻⁶⁴ altogether are beyond the resolution of a share and are left out.
func (c *pointCounts) prepare(hazard float64) {
	c.below, c.above = likelyPoints(c.below[:0], c.above[:0], hazard)
	below, above := c.below, c.above
	mode := int(hazard)
	c.points, c.weights = c.points[:0], c.weights[:0]
	// Both lists fall, so merging them sorts all; of equal weights the smaller
	// number of points comes first.
	for i, j := 0, 0; i < len(below) || j < len(above); {
		if j == len(above) || i < len(below) && below[i] >= above[j] {
			c.points, c.weights = append(c.points, mode-i), append(c.weights, below[i])
			i++
		} else {
			c.points, c.weights = append(c.points, mode+1+j), append(c.weights, above[j])
			j++
		}
	}
	if len(below) > 1 && below[1] == 1 { // hazard is a whole number: twins at the mode
		c.points[0], c.points[1] = mode-1, mode
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
	c.points, c.share = c.points[:last+1], c.share[:0]
	for i := range c.points {
		c.share = append(c.share, fixed64(c.weights[i]/c.remaining[i]))
	}
}

// likelyPoints appends to below and above the weights of the numbers of points mode, mode−1, … and
// mode+1, mode+2, … relative to that of the mode, the whole part of hazard: each
// a product of ratios below one, no factorials and nothing to overflow. What
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

// deal gives each of n samples its number of points and calls group once for
// each number that occurs. The counts follow the multinomial law exactly (to
// the 64 bits of a share): each class takes a binomial part of the samples that
// are left.
func (c *pointCounts) deal(n int, r *bitReader, group func(points, samples int) error) error {
	for i, points := range c.points {
		if n == 0 {
			return nil
		}
		taken := n
		if i+1 < len(c.points) {
			taken = binomial(n, c.share[i], r)
		}
		n -= taken
		if taken > 0 {
			if err := group(points, taken); err != nil {
				return err
			}
		}
	}
	return nil
}

// binomial draws from Binomial(n, p/2⁶⁴), by integer operations alone.
//
// Think of n uniform numbers, all compared with p digit by digit from the top,
// one fair bit each a digit. A number whose bit differs from p's is decided: it
// is below p where p's bit is 1 and above where it is 0. Those with an equal
// bit, about half, go on to the next digit; who is equal to the end is not
// below p. Only how many differ matters, not which: so n fair bits are words of
// the generator and their sum a population count, and about 2n bits are used in
// all, whatever p.
func binomial(n int, p uint64, r *bitReader) int {
	below := 0
	for ; n > 0 && p != 0; p <<= 1 {
		ones := 0
		left := n
		for ; left >= 64; left -= 64 {
			ones += bits.OnesCount64(r.word())
		}
		if left > 0 {
			ones += bits.OnesCount64(r.word() << (64 - left))
		}
		if p>>63 == 1 {
			below += n - ones
			n = ones
		} else {
			n -= ones
		}
	}
	return below
}
