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
	for _, start := range []uint32{0, 7, math.MaxUint32 - 9} {
		c := Counter{start, 1, 2, 3}
		want, got := make([]uint64, 64), make([]uint64, 64)
		fillGeneric(want, keys, c)
		fillAVX2(&got[0], 8, keys, &c)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("AVX2, word %d: %x, want %x", i, got[i], want[i])
			}
		}
		if !processor.AVX512() {
			continue
		}
		clear(got)
		fillAVX512(&got[0], 4, keys, &c)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("AVX-512, word %d: %x, want %x", i, got[i], want[i])
			}
		}
	}
}
