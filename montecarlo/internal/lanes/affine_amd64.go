//go:build !purego

package lanes

import (
	"belsim/montecarlo/internal/processor"
	"belsim/montecarlo/tables"
)

// affineAVX2 is Affine for n ≥ 1 groups.
//
//go:noescape
func affineAVX2(sums, most, x *Ints, factors, offsets *float32, lengths *uint32, n int)

// affineAVX512 is affineAVX2 with AVX-512.
//
//go:noescape
func affineAVX512(sums, most, x *Ints, factors, offsets *float32, lengths *uint32, n int)

func affine(sums []Ints, most *Ints, x []Ints, f *tables.Affine) {
	if !processor.AVX2() || len(f.Factors) == 0 {
		affineGeneric(sums, most, x, f)
		return
	}
	if processor.AVX512() {
		affineAVX512(&sums[0], most, &x[0], &f.Factors[0], &f.Offsets[0], &f.Lengths[0], len(f.Lengths))
		return
	}
	affineAVX2(&sums[0], most, &x[0], &f.Factors[0], &f.Offsets[0], &f.Lengths[0], len(f.Lengths))
}

// medianAVX2 is Median for n ≥ 1 candidates; c are the coefficients of Decay.
//
//go:noescape
func medianAVX2(place, sums, most *Ints, n int, limit int32, scale float32, c *[6]float32, scratch *Floats)

// medianAVX512 is medianAVX2 with AVX-512.
//
//go:noescape
func medianAVX512(place, sums, most *Ints, n int, limit int32, scale float32, c *[6]float32, scratch *Floats)

func median(place *Ints, sums []Ints, most *Ints, limit int32, scale float32, scratch []Floats) {
	switch {
	case !processor.AVX2():
		medianGeneric(place, sums, most, limit, scale, scratch)
	case processor.AVX512():
		medianAVX512(place, &sums[0], most, len(sums), limit, scale, &tables.Decay, &scratch[0])
	default:
		medianAVX2(place, &sums[0], most, len(sums), limit, scale, &tables.Decay, &scratch[0])
	}
}

// firstAVX2 is First for n ≥ 1 candidates.
//
//go:noescape
func firstAVX2(place, sums, most *Ints, n int)

// firstAVX512 is firstAVX2 with AVX-512.
//
//go:noescape
func firstAVX512(place, sums, most *Ints, n int)

func first(place *Ints, sums []Ints, most *Ints) {
	switch {
	case !processor.AVX2():
		firstGeneric(place, sums, most)
	case processor.AVX512():
		firstAVX512(place, &sums[0], most, len(sums))
	default:
		firstAVX2(place, &sums[0], most, len(sums))
	}
}
