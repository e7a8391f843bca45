package search

import (
	"math/rand/v2"
	"testing"
)

// TestTranspose: bit j of row i becomes bit i of row j.
func TestTranspose(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var before, after [64]uint64
	for i := range before {
		before[i] = rng.Uint64()
	}
	after = before
	transpose(&after)
	for i := range 64 {
		for j := range 64 {
			if before[i]>>j&1 != after[j]>>i&1 {
				t.Fatalf("bit %d of row %d is wrong", j, i)
			}
		}
	}
}
