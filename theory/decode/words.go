package decode

import (
	"slices"

	"belsim/theory/code"
)

// ones sets word to the packed word whose bits lo ≤ k < hi, from 0, are one.
func ones(word []uint64, lo, hi int) {
	clear(word)
	for k := lo; k < hi; {
		n := min(64-k%64, hi-k)
		word[k/64] |= (1<<n - 1) << (k % 64)
		k += n
	}
}

// matches reports whether row i of c has ones exactly at lo(i) ≤ k < hi(i).
func matches(c *code.Code, run func(i int) (lo, hi int)) bool {
	want := make([]uint64, (c.Bits()+63)/64)
	for i := range c.Levels() {
		lo, hi := run(i)
		if lo < 0 || lo > hi || hi > c.Bits() {
			return false
		}
		ones(want, lo, hi)
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
