package philox

import "belsim/theory/base/processor"

// Fill writes the calls c, c+1, … (in element 0, wrapping) to dst, two words of 64
// bits a call: outputs 0 and 1, then 2 and 3, the first of each pair in the low half.
// len(dst) is even. It takes the widest routine that the processor has; all give the same words.
func Fill(dst []uint64, keys *Keys, c Counter) {
	if groups := len(dst) / 16; processor.Wide && groups > 0 {
		fillWide(&dst[0], groups, keys, &c)
		dst = dst[16*groups:]
		c[0] += uint32(8 * groups)
	}
	if groups := len(dst) / 8; processor.Vectors && groups > 0 {
		fillVector(&dst[0], groups, keys, &c)
		dst = dst[8*groups:]
		c[0] += uint32(4 * groups)
	}
	fillGeneric(dst, keys, c)
}

// fillVector writes groups×4 calls to dst as fillGeneric does, four calls at a time: in assembly
// for processors of which processor.Vectors says so.
//
//go:noescape
func fillVector(dst *uint64, groups int, keys *Keys, c *Counter)

// fillWide is fillVector for groups of eight calls, where processor.Wide says so.
//
//go:noescape
func fillWide(dst *uint64, groups int, keys *Keys, c *Counter)

// fillGeneric is Fill in Go.
func fillGeneric(dst []uint64, keys *Keys, c Counter) {
	for i := 0; i+1 < len(dst); i += 2 {
		x := Call(keys, c)
		dst[i] = uint64(x[0]) | uint64(x[1])<<32
		dst[i+1] = uint64(x[2]) | uint64(x[3])<<32
		c[0]++
	}
}
