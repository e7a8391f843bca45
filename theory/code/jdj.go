package code

// displacementBits is m of b<base>jdj, whose 2·base base values have 2m
// displacements each.
func displacementBits(levels, base int) int { return (levels + 4*base - 1) / (4 * base) }

func jdjBits(levels, base int) int { return displacementBits(levels, base) + base }

// buildJDJ: level n is a displacement on m Johnson bits, then a base on the
// others, of n−1 = base·2m + displacement. Reflected, displacements run back
// where the base is odd, so that neighbours differ in one bit there too.
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
