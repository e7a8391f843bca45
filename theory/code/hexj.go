package code

import "math/bits"

// hexDigits is the number of hexadecimal digits that the largest label needs, at least
// two.
func hexDigits(levels int) int { return max(2, (bits.Len(uint(levels-1))+3)/4) }

func hexjBits(levels int) int { return 8 * hexDigits(levels) }

// buildHexJ writes level n as the hexadecimal digits of n−1, the most significant first,
// each as a Johnson word of 8 bits. In the reflected code, a digit runs backwards where
// the number formed by the digits before it is odd.
func buildHexJ(c *Code, reflected bool) {
	digits := hexDigits(c.levels)
	for v := range c.levels {
		for place := range digits {
			above := v >> (4 * (digits - 1 - place))
			digit := above & 15
			if reflected && above>>4&1 == 1 {
				digit = 15 - digit
			}
			c.setJohnson(v, 8*place, digit, 8)
		}
	}
}
