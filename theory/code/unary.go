package code

func unaryBits(levels int) int { return levels - 1 }

// buildUnary: bit k of level n is one iff k < n.
func buildUnary(c *Code) {
	for i := range c.levels {
		c.set(i, 0, i)
	}
}
