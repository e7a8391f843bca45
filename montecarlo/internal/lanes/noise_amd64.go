//go:build !purego

package lanes

import (
	"belsim/montecarlo/internal/processor"
	"belsim/montecarlo/tables"
)

// noiseAVX2 is Noise for n ≥ 1 rows; centers may be nil. It reports whether any draw is
// in the tail: the numbers of such draws are of no use.
//
//go:noescape
func noiseAVX2(dst *Ints, words *uint64, n int, table *tables.NormalTable, centers *int32) (tails bool)

// noiseAVX512 is noiseAVX2 with AVX-512.
//
//go:noescape
func noiseAVX512(dst *Ints, words *uint64, n int, table *tables.NormalTable, centers *int32) (tails bool)

// noise is Noise but for the draws in the tail, and reports whether there are any. It does nothing
// where the processor has no AVX2.
func noise(dst []Ints, words []uint64, centers []int32) (done, tails bool) {
	if !processor.AVX2() {
		return false, false
	}
	var c *int32
	if centers != nil {
		c = &centers[0]
	}
	if processor.AVX512() {
		return true, noiseAVX512(&dst[0], &words[0], len(dst), &tables.Normals, c)
	}
	return true, noiseAVX2(&dst[0], &words[0], len(dst), &tables.Normals, c)
}
