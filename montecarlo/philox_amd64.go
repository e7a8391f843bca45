//go:build !purego

package montecarlo

import "golang.org/x/sys/cpu"

// fillGroups writes groups×4 calls to dst as fillPortable does, four calls at a
// time: one call to a 64-bit lane.
//
//go:noescape
func fillGroups(dst *uint64, groups int, keys *roundKeys, c *counter)

// fill is fillPortable, with AVX2 where the processor has it. Both give the
// same words; TestFill holds them together.
func fill(dst []uint64, keys *roundKeys, c counter) {
	if groups := len(dst) / 8; cpu.X86.HasAVX2 && groups > 0 {
		fillGroups(&dst[0], groups, keys, &c)
		dst = dst[8*groups:]
		c[0] += uint32(4 * groups)
	}
	fillPortable(dst, keys, c)
}
