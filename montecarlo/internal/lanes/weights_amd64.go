//go:build !purego

package lanes

import (
	"belsim/montecarlo/internal/processor"
	"belsim/montecarlo/tables"
)

// weightsAVX2 is Weights for n ≥ 1 correlations; c are the coefficients of Decay.
//
//go:noescape
func weightsAVX2(dst *Floats, sums, most *Ints, n int, limit int32, scale float32, c *[6]float32)

// weightsAVX512 is weightsAVX2 with AVX-512.
//
//go:noescape
func weightsAVX512(dst *Floats, sums, most *Ints, n int, limit int32, scale float32, c *[6]float32)

func weights(dst []Floats, sums []Ints, most *Ints, limit int32, scale float32) {
	switch {
	case !processor.AVX2():
		weightsGeneric(dst, sums, most, limit, scale)
	case processor.AVX512():
		weightsAVX512(&dst[0], &sums[0], most, len(sums), limit, scale, &tables.Decay)
	default:
		weightsAVX2(&dst[0], &sums[0], most, len(sums), limit, scale, &tables.Decay)
	}
}
