package code

import "math/bits"

// hexDigits is how many hexadecimal digits the largest label needs, two at
// least.
func hexDigits(levels int) int { return max(2, (bits.Len(uint(levels-1))+3)/4) }

func hexjBits(levels int) int { return 8 * hexDigits(levels) }

// buildHexJ: level n is the hexadecimal digits of n−1, the most significant
// first, each as a Johnson word of 8 bits. Reflected, a digit runs back where
// the number above it is odd.
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
