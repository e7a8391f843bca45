package philox

import (
	"math"
	"testing"
)

// TestPhiloxKnownAnswers holds the generator against the vectors published with
// the paper's own implementation (Random123, kat_vectors, philox4x32 10).
func TestPhiloxKnownAnswers(t *testing.T) {
	for _, tt := range []struct {
		c    Counter
		seed uint64
		want [4]uint32
	}{
		{Counter{}, 0, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{Counter{math.MaxUint32, math.MaxUint32, math.MaxUint32, math.MaxUint32}, math.MaxUint64,
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{Counter{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0_a4093822,
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		if got := Call(NewKeys(tt.seed), tt.c); got != tt.want {
			t.Errorf("philox(%x, %x) = %x, want %x", tt.c, tt.seed, got, tt.want)
		}
	}
}
