package code

// displacementBits is m for b<base>jdj: each of its 2·base base values has 2m
// displacements.
func displacementBits(levels, base int) int { return (levels + 4*base - 1) / (4 * base) }

func jdjBits(levels, base int) int { return displacementBits(levels, base) + base }

// buildJDJ splits level n into n−1 = base·2m + displacement. The displacement is on m
// Johnson bits, and the base is on the bits after them. In the reflected code,
// displacements run backwards where the base is odd, so that neighbouring words always
// differ in one bit.
func buildJDJ(c *Code, base int, reflected bool) {
	m := c.bits - base
	for v := range c.levels {
		b, d := v/(2*m), v%(2*m)
		if reflected && b%2 == 1 {
			d = 2*m - 1 - d
		}
		c.setJohnson(v, 0, d, m)
		c.setJohnson(v, m, b, base)
	}
}
