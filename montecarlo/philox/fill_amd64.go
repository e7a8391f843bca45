//go:build !purego

package philox

import "belsim/montecarlo/internal/processor"

// fillAVX2 writes groups×4 calls to dst as fillGeneric does, four calls at a time: one
// call to a 64-bit lane.
//
//go:noescape
func fillAVX2(dst *uint64, groups int, keys *Keys, c *Counter)

// fillAVX512 is fillAVX2 with AVX-512, for groups of eight calls.
//
//go:noescape
func fillAVX512(dst *uint64, groups int, keys *Keys, c *Counter)

// fill takes the widest routine that the processor has. All give the same words.
func fill(dst []uint64, keys *Keys, c Counter) {
	if groups := len(dst) / 16; processor.AVX512() && groups > 0 {
		fillAVX512(&dst[0], groups, keys, &c)
		dst = dst[16*groups:]
		c[0] += uint32(8 * groups)
	}
	if groups := len(dst) / 8; processor.AVX2() && groups > 0 {
		fillAVX2(&dst[0], groups, keys, &c)
		dst = dst[8*groups:]
		c[0] += uint32(4 * groups)
	}
	fillGeneric(dst, keys, c)
}
