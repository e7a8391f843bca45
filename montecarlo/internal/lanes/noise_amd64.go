//go:build !purego

package lanes

import (
	"belsim/montecarlo/internal/processor"
	"belsim/montecarlo/tables"
)

// noiseAVX2 is Noise for n ≥ 1 rows; centers may be nil. It reports whether any draw is
// in the tail, and then dst is of no use.
//
//go:noescape
func noiseAVX2(dst *Ints, words *uint64, n int, table *tables.NormalTable, centers *int32) (tails bool)

// noiseAVX512 is noiseAVX2 with AVX-512.
//
//go:noescape
func noiseAVX512(dst *Ints, words *uint64, n int, table *tables.NormalTable, centers *int32) (tails bool)

// noise is Noise where the processor has AVX2 and no draw is in the tail; else it
// returns false.
func noise(dst []Ints, words []uint64, centers []int32) bool {
	if !processor.AVX2() {
		return false
	}
	var c *int32
	if centers != nil {
		c = &centers[0]
	}
	if processor.AVX512() {
		return !noiseAVX512(&dst[0], &words[0], len(dst), &tables.Normals, c)
	}
	return !noiseAVX2(&dst[0], &words[0], len(dst), &tables.Normals, c)
}
