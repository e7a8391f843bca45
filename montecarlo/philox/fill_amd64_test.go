//go:build !purego

package philox

import (
	"math"
	"testing"

	"belsim/montecarlo/internal/processor"
)

// TestFillVectors: the generator for AVX2 and AVX-512 gives the words of Go's.
func TestFillVectors(t *testing.T) {
	if !processor.AVX2() {
		t.Skip("the processor has no AVX2")
	}
	keys := NewKeys(0x123456789ABCDEF0)
	for _, start := range []uint32{0, 7, math.MaxUint32 - 9, math.MaxUint32 - 70} {
		c := Counter{start, 1, 2, 3}
		want, got := make([]uint64, 16*11), make([]uint64, 16*11)
		fillGeneric(want, keys, c)
		fillAVX2(&got[0], len(got)/8, keys, &c)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("AVX2, word %d: %x, want %x", i, got[i], want[i])
			}
		}
		if !processor.AVX512() {
			continue
		}
		for groups := 1; groups <= len(want)/16; groups++ { // four at a time, and what is left
			clear(got)
			fillAVX512(&got[0], groups, keys, &c)
			for i := range want {
				if expected := want[i]; i < 16*groups && got[i] != expected || i >= 16*groups && got[i] != 0 {
					t.Fatalf("AVX-512, %d groups, word %d: %x, want %x", groups, i, got[i], expected)
				}
			}
		}
	}
}
