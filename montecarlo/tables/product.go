package tables

import (
	"slices"

	"belsim/theory/code"
)

// factors are a code cut in two.
type factors struct {
	cut                 int      // columns of a prefix
	prefixes, suffixes  []uint16 // a row with each, in the order in which they appear
	patternOf, patterns []uint16
}

// Limits of codes that are searched for products, which a short search finds.
const (
	productBits   = 64
	productLevels = 1 << 12
)

// newFactors cuts a code where prefixes and suffixes are fewest; nil where it is
// no product of two, or there is little to gain.
func newFactors(c *code.Code) *factors {
	if c.Bits() > productBits || c.Levels() > productLevels {
		return nil
	}
	var best *factors
	for cut := 1; cut < c.Bits(); cut++ {
		if p := cutAt(c, cut); p != nil && (best == nil || p.work() < best.work()) {
			best = p
		}
	}
	if best == nil || 2*best.work() > c.Levels() {
		return nil
	}
	return best
}

// work is about the number of weights and sums that a product takes.
func (p *factors) work() int { return len(p.prefixes) + len(p.suffixes) + len(p.patterns)/4 }

// cutAt cuts a code after some columns; nil where the levels of a prefix are not
// neighbours, or do not have every suffix once.
func cutAt(c *code.Code, cut int) *factors {
	p := &factors{cut: cut}
	suffixes := map[uint64]uint16{}
	prefix := func(i int) uint64 { return c.Word(i)[0] & (1<<cut - 1) }
	suffix := func(i int) uint64 { return c.Word(i)[0] >> cut }
	q := 1 // levels of the first prefix
	for q < c.Levels() && prefix(q) == prefix(0) {
		q++
	}
	if c.Levels()%q != 0 {
		return nil
	}
	for j := range q { // words differ, so these do
		suffixes[suffix(j)] = uint16(j)
		p.suffixes = append(p.suffixes, uint16(j))
	}
	for first := 0; first < c.Levels(); first += q {
		p.prefixes = append(p.prefixes, uint16(first))
		pattern := make([]uint16, q)
		for j := range pattern {
			s, ok := suffixes[suffix(first+j)]
			if !ok || prefix(first+j) != prefix(first) {
				return nil
			}
			pattern[j] = s
		}
		n := 0
		for n < len(p.patterns)/q && !slices.Equal(p.patterns[n*q:(n+1)*q], pattern) {
			n++
		}
		if n == len(p.patterns)/q {
			p.patterns = append(p.patterns, pattern...)
		}
		p.patternOf = append(p.patternOf, uint16(n))
	}
	return p
}
