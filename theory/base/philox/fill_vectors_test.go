//go:build amd64 && !purego

package philox

import (
	"math"
	"testing"

	"belsim/theory/base/processor"
)

// TestFillVectors: the generators in assembly give the words of Go's, for any number of groups:
// some are made at a time, and what is left. They write no more.
func TestFillVectors(t *testing.T) {
	keys := NewKeys(0x123456789ABCDEF0)
	check := func(set string, size int, fill func(*uint64, int, *Keys, *Counter)) {
		for _, start := range []uint32{0, 7, math.MaxUint32 - 9, math.MaxUint32 - 70} {
			c := Counter{start, 1, 2, 3}
			for groups := 1; groups < 12; groups++ {
				want, got := make([]uint64, size*12), make([]uint64, size*12)
				fillGeneric(want[:size*groups], keys, c)
				fill(&got[0], groups, keys, &c)
				for i := range want {
					if got[i] != want[i] {
						t.Fatalf("%s, %d groups, word %d: %x, want %x", set, groups, i, got[i], want[i])
					}
				}
			}
		}
	}
	if !processor.Vectors {
		t.Skip("the processor has no AVX2")
	}
	check("vectors", 8, fillVector)
	if processor.Wide {
		check("AVX-512", 16, fillWide)
	}
}
