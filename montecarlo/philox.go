package montecarlo

// Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As
// Easy as 1, 2, 3" (SC 2011). It is written out here, and not taken from a
// library, because a kernel on another device must give the same numbers.
const (
	philoxM0 = 0xD2511F53
	philoxM1 = 0xCD9E8D57
	philoxW0 = 0x9E3779B9
	philoxW1 = 0xBB67AE85

	philoxRounds = 10
)

// roundKeys is the key schedule of one seed: words 2r and 2r+1 are the keys of
// round r.
type roundKeys [2 * philoxRounds]uint32

// newRoundKeys returns the key schedule of a seed: its low half is the first
// key word, its high half the second.
func newRoundKeys(seed uint64) *roundKeys {
	var keys roundKeys
	k0, k1 := uint32(seed), uint32(seed>>32)
	for r := range philoxRounds {
		keys[2*r], keys[2*r+1] = k0, k1
		k0 += philoxW0
		k1 += philoxW1
	}
	return &keys
}

// counter is Philox's 128-bit counter. Element 0 is the index of the call
// within a stream; the others name the stream, see stream.
type counter [4]uint32

// philox returns the 128 bits of one call.
func philox(keys *roundKeys, c counter) [4]uint32 {
	x0, x1, x2, x3 := c[0], c[1], c[2], c[3]
	for r := 0; r < len(keys); r += 2 {
		p0 := philoxM0 * uint64(x0)
		p1 := philoxM1 * uint64(x2)
		x0, x1, x2, x3 = uint32(p1>>32)^x1^keys[r], uint32(p1), uint32(p0>>32)^x3^keys[r+1], uint32(p0)
	}
	return [4]uint32{x0, x1, x2, x3}
}

// fillPortable writes the calls c, c+1, … (in element 0, wrapping) to dst, two
// words of 64 bits a call: outputs 0 and 1, then 2 and 3, the first of each
// pair in the low half. len(dst) is even.
func fillPortable(dst []uint64, keys *roundKeys, c counter) {
	for i := 0; i+1 < len(dst); i += 2 {
		x := philox(keys, c)
		dst[i] = uint64(x[0]) | uint64(x[1])<<32
		dst[i+1] = uint64(x[2]) | uint64(x[3])<<32
		c[0]++
	}
}

// RoundKeys returns Philox's key schedule of a seed, for backends: elements 2r
// and 2r+1 are the keys of round r.
func RoundKeys(seed uint64) [2 * philoxRounds]uint32 { return *newRoundKeys(seed) }
