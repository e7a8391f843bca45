package code

func johnsonBits(levels int) int { return (levels + 1) / 2 }

// buildJohnson: level n is J(n−1, M).
func buildJohnson(c *Code) {
	for i := range c.levels {
		c.setJohnson(i, 0, i, c.bits)
	}
}

func johnsonNonzeroBits(levels int) int { return (levels + 2) / 2 }

// buildJohnsonNonzero: level n is J(n, M). This is the code of the paper's
// appendix, whose N−1 levels have M = N/2 bits.
func buildJohnsonNonzero(c *Code) {
	for i := range c.levels {
		c.setJohnson(i, 0, i+1, c.bits)
	}
}
