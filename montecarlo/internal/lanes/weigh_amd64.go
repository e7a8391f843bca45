//go:build !purego

package lanes

import (
	"belsim/montecarlo/internal/processor"
	"belsim/montecarlo/tables"
)

// weighAVX2 is Weigh for n ≥ 1 correlations; c are the coefficients of Decay.
//
//go:noescape
func weighAVX2(dst *Floats, sums, most *Ints, n int, limit int32, scale float32, c *[6]float32)

// weighAVX512 is weighAVX2 with AVX-512.
//
//go:noescape
func weighAVX512(dst *Floats, sums, most *Ints, n int, limit int32, scale float32, c *[6]float32)

func weigh(dst []Floats, sums []Ints, most *Ints, limit int32, scale float32) {
	switch {
	case !processor.AVX2():
		weighGeneric(dst, sums, most, limit, scale)
	case processor.AVX512():
		weighAVX512(&dst[0], &sums[0], most, len(sums), limit, scale, &tables.Decay)
	default:
		weighAVX2(&dst[0], &sums[0], most, len(sums), limit, scale, &tables.Decay)
	}
}
