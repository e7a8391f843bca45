package code

import "math/bits"

func hadamardBits(levels int) int { return 1 << naturalBits(levels) }

// buildHadamard sets the first rows of the Sylvester matrix, +1 as 1 and −1 as 0. Entry
// (i, k), from 0, is (−1)^c, where c is the number of ones that i and k have in common.
func buildHadamard(c *Code) {
	// The low six bits of k run through a word, the others choose it.
	var low [64]uint64
	for i := range low {
		for k := range 64 {
			if bits.OnesCount(uint(i&k))%2 == 0 {
				low[i] |= 1 << k
			}
		}
	}
	used := ^uint64(0)
	if c.bits < 64 {
		used = 1<<c.bits - 1
	}
	for i := range c.levels {
		word := c.data[i*c.stride : (i+1)*c.stride]
		for j := range word {
			word[j] = low[i%64]
			if bits.OnesCount(uint(i/64&j))%2 == 1 {
				word[j] = ^word[j]
			}
			word[j] &= used
		}
	}
}
