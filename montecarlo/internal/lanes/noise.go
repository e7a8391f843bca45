package lanes

import (
	"math"
	"math/bits"

	"belsim/montecarlo/tables"
	"belsim/theory/base/processor"
)

// Noise makes logits of draws, two in a word and a row of dst in Width/2 words, in units of
// 1/tables.LogitOne: each a standard normal number, in units of 1/tables.NormalOne, plus the center
// of its row, rounded. refine(i) gives the 64 bits that continue draw i where it is in the tail.
func Noise(dst []Ints, words []uint64, centers []int32, refine func(i int) uint64) {
	if !processor.Vectors || len(dst) == 0 {
		noiseGeneric(dst, words, centers, refine)
		return
	}
	if noiseVector(&dst[0], &words[0], len(dst), &tables.Normals, &centers[0]) {
		noiseTails(dst, words, centers, refine)
	}
}

// noiseTails makes the numbers of the draws in the tail, one in 2¹⁶, and leaves the others.
func noiseTails(dst []Ints, words []uint64, centers []int32, refine func(i int) uint64) {
	const above = 1<<31 - tables.NormalTail // bits of a draw that is not in the tail
	for i, w := range words[:len(dst)*Width/2] {
		if w&above != 0 && w>>32&above != 0 {
			continue
		}
		k := i / (Width / 2)
		for half := range 2 {
			draw := uint32(w >> (32 * half))
			if draw&above != 0 {
				continue
			}
			at := 2*i + half
			dst[k][at%Width] = round(centers[k] + normal(draw, func() uint64 { return refine(at) }))
		}
	}
}

// noiseGeneric is Noise in Go.
func noiseGeneric(dst []Ints, words []uint64, centers []int32, refine func(i int) uint64) {
	for k := range dst {
		z := &dst[k]
		for i, w := range words[k*Width/2 : (k+1)*Width/2] {
			for half := range 2 {
				eps := normal(uint32(w>>(32*half)), func() uint64 { return refine(k*Width + 2*i + half) })
				z[2*i+half] = round(centers[k] + eps)
			}
		}
	}
}

// round brings a number from units of 1/tables.NormalOne to units of
// 1/tables.LogitOne.
func round(z int32) int32 {
	const shift = tables.NormalFraction - tables.LogitFraction
	return (z + 1<<(shift-1)) >> shift
}

// normal returns the number that a draw stands for; refine gives the 64 bits that
// continue a draw in the tail.
func normal(draw uint32, refine func() uint64) int32 {
	v := draw &^ (1 << 31)
	var octave, m uint32
	if v >= tables.NormalTail {
		w := v<<1 | 1
		octave = uint32(bits.LeadingZeros32(w))
		m = w << (octave & 31)
	} else {
		w := uint64(v)<<49 | refine()>>15 | 1
		z := uint32(bits.LeadingZeros64(w))
		octave, m = z+tables.NormalOctaves/4, uint32(w<<(z&63)>>32)
		if octave >= tables.NormalOctaves {
			octave, m = tables.NormalOctaves-1, 1<<31
		}
	}
	f := math.Float32frombits(m>>8&(1<<23-1)|0x3F800000) - 1.5
	t := &tables.Normals
	octave &= tables.NormalOctaves - 1
	p := t[tables.NormalDegree][octave]
	for k := tables.NormalDegree - 1; k >= 0; k-- {
		p = float32(p*f) + t[k][octave]
	}
	sign := int32(draw) >> 31 // 0 or −1
	return (int32(p) ^ sign) - sign
}
