package code

// buildOneHot: bit k of level n is one iff k = n.
func buildOneHot(c *Code) {
	for i := range c.levels {
		c.set(i, i, i+1)
	}
}

// setNumber writes a number to row i, the high bit first.
func (c *Code) setNumber(i, number int) {
	for k := range c.bits {
		if number>>(c.bits-1-k)&1 == 1 {
			c.set(i, k, k+1)
		}
	}
}

// buildBinary: level n is the binary number n−1.
func buildBinary(c *Code) {
	for v := range c.levels {
		c.setNumber(v, v)
	}
}

// buildGray: level n is the reflected binary number n−1; neighbours differ in
// one bit.
func buildGray(c *Code) {
	for v := range c.levels {
		c.setNumber(v, v^v>>1)
	}
}
