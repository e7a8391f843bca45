//go:build !purego

package lanes

import (
	"belsim/montecarlo/internal/processor"
	"belsim/montecarlo/tables"
)

// softmaxAVX2 is Softmax for n ≥ 1 candidates; c are the coefficients of Decay.
//
//go:noescape
func softmaxAVX2(weight, sum *Floats, sums, most *Ints, offsets *float32, n int, limit int32, scale float32, c *[6]float32)

// softmaxAVX512 is softmaxAVX2 with AVX-512.
//
//go:noescape
func softmaxAVX512(weight, sum *Floats, sums, most *Ints, offsets *float32, n int, limit int32, scale float32, c *[6]float32)

func softmax(weight, sum *Floats, sums []Ints, most *Ints, offsets []float32, limit int32, scale float32) {
	switch {
	case !processor.AVX2():
		softmaxGeneric(weight, sum, sums, most, offsets, limit, scale)
	case processor.AVX512():
		softmaxAVX512(weight, sum, &sums[0], most, &offsets[0], len(sums), limit, scale, &tables.Decay)
	default:
		softmaxAVX2(weight, sum, &sums[0], most, &offsets[0], len(sums), limit, scale, &tables.Decay)
	}
}
