package montecarlo

import (
	"math"
	"math/bits"
	"slices"
)

// pointCounts is the law of the number of points of one sample, prepared for
// dealing the samples of a block to the possible numbers: class by class, the
// likeliest first, so that few samples are left to deal after the first ones.
type pointCounts struct {
	points []int    // number of points of each class
	share  []uint64 // P(this class | none before it) · 2⁶⁴; unused for the last class
}

// newPointCounts prepares the Poisson law of mean hazard. Numbers of points
// less likely than 2⁻⁶⁴ altogether are beyond the resolution of a share and
// are left out.
func newPointCounts(hazard float64) pointCounts {
	type class struct {
		points int
		weight float64
	}
	var classes []class
	below, above := likelyPoints(hazard)
	mode := int(hazard)
	for i, w := range below {
		classes = append(classes, class{mode - i, w})
	}
	for i, w := range above {
		classes = append(classes, class{mode + 1 + i, w})
	}
	slices.SortStableFunc(classes, func(a, b class) int {
		switch {
		case a.weight > b.weight:
			return -1
		case a.weight < b.weight:
			return 1
		}
		return a.points - b.points
	})

	// Conditional shares need the sum of what remains, added from the smallest
	// weight up.
	remaining := make([]float64, len(classes)+1)
	for i := len(classes) - 1; i >= 0; i-- {
		remaining[i] = remaining[i+1] + classes[i].weight
	}
	last := len(classes) - 1
	for last > 0 && remaining[last] < 0x1p-65*remaining[0] {
		last--
	}
	var c pointCounts
	for i, cl := range classes[:last+1] {
		c.points = append(c.points, cl.points)
		c.share = append(c.share, fixed64(cl.weight/remaining[i]))
	}
	return c
}

// likelyPoints returns the weights of the numbers of points mode, mode−1, … and
// mode+1, mode+2, … relative to that of the mode, the whole part of hazard: each
// a product of ratios below one, no factorials and nothing to overflow. What
// lies beyond the cut is less than cut·mode·(1/(1−ratio)) of the whole, far
// below 2⁻⁶⁴.
func likelyPoints(hazard float64) (below, above []float64) {
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
