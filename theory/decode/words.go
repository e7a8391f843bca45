package decode

import (
	"slices"

	"belsim/theory/code"
)

// matches reports whether row i of c has ones exactly at lo(i) ≤ k < hi(i).
func matches(c *code.Code, run func(i int) (lo, hi int)) bool {
	want := make([]uint64, (c.Bits()+63)/64)
	for i := range c.Levels() {
		lo, hi := run(i)
		if lo < 0 || lo > hi || hi > c.Bits() {
			return false
		}
		clear(want)
		code.SetOnes(want, lo, hi)
		if !slices.Equal(want, c.Word(i)) {
			return false
		}
	}
	return true
}

// signs are the outputs ±1 of a packed word.
func signs(word []uint64, m int) []float64 {
	z := make([]float64, m)
	for k := range z {
		z[k] = float64(word[k/64]>>(k%64)&1)*2 - 1
	}
	return z
}
