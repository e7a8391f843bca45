//go:build !purego

package montecarlo

import "golang.org/x/sys/cpu"

// fillGroups writes groups×4 calls to dst as fillPortable does, four calls at a
// time: one call to a 64-bit lane.
//
//go:noescape
func fillGroups(dst *uint64, groups int, keys *roundKeys, c *counter)

// fillGroups512 is fillGroups with AVX-512, for groups of eight calls.
//
//go:noescape
func fillGroups512(dst *uint64, groups int, keys *roundKeys, c *counter)

// hasAVX512 reports whether the processor has what the functions for AVX-512 use.
func hasAVX512() bool {
	return cpu.X86.HasAVX512F && cpu.X86.HasAVX512CD && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW
}

// fill is fillPortable, with AVX-512 or AVX2 where the processor has it. All
// give the same words; TestFill holds them together.
func fill(dst []uint64, keys *roundKeys, c counter) {
	if groups := len(dst) / 16; hasAVX512() && groups > 0 {
		fillGroups512(&dst[0], groups, keys, &c)
		dst = dst[16*groups:]
		c[0] += uint32(8 * groups)
	}
	if groups := len(dst) / 8; cpu.X86.HasAVX2 && groups > 0 {
		fillGroups(&dst[0], groups, keys, &c)
		dst = dst[8*groups:]
		c[0] += uint32(4 * groups)
	}
	fillPortable(dst, keys, c)
}
