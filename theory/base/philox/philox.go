// Package philox is the counter-based random number generator Philox4x32-10 of
// Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3" (SC
// 2011). It is written out here, and not taken from a library, because a kernel on
// another device must give the same numbers.
package philox

const (
	m0 = 0xD2511F53
	m1 = 0xCD9E8D57
	w0 = 0x9E3779B9
	w1 = 0xBB67AE85

	rounds = 10
)

// Keys is the key schedule of one seed: words 2r and 2r+1 are the keys of round r.
type Keys [2 * rounds]uint32

// NewKeys returns the key schedule of a seed: its low half is the first key word, its
// high half the second.
func NewKeys(seed uint64) *Keys {
	var keys Keys
	k0, k1 := uint32(seed), uint32(seed>>32)
	for r := range rounds {
		keys[2*r], keys[2*r+1] = k0, k1
		k0 += w0
		k1 += w1
	}
	return &keys
}

// Counter is Philox's 128-bit counter. Element 0 is the index of the call within a
// stream; the others name the stream.
type Counter [4]uint32

// Call returns the 128 bits of one call.
func Call(keys *Keys, c Counter) [4]uint32 {
	x0, x1, x2, x3 := c[0], c[1], c[2], c[3]
	for r := 0; r < len(keys); r += 2 {
		p0 := m0 * uint64(x0)
		p1 := m1 * uint64(x2)
		x0, x1, x2, x3 = uint32(p1>>32)^x1^keys[r], uint32(p1), uint32(p0>>32)^x3^keys[r+1], uint32(p0)
	}
	return [4]uint32{x0, x1, x2, x3}
}
