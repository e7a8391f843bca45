package enclose

import (
	"math/rand/v2"
	"testing"

	"belsim/theory"
)

// TestAtLeast: the bound of a tail is above the tail, and not far above it where the tail is small.
func TestAtLeast(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		p, lambda := make([]float64, 64), 0.0
		most := rng.Float64() * rng.Float64()
		for k := range p {
			p[k] = most * rng.Float64()
			lambda += p[k]
		}
		n := 1 + rng.IntN(64)
		tail := theory.PoissonBinomialTail(make([]float64, n+1), []uint64{1<<64 - 1}, p)
		if bound := atLeast(n, lambda); bound < tail || lambda < 0.5 && n < 4 && bound > 10*tail {
			t.Fatalf("%d of bits with the mean number %v: a bound of %v for %v", n, lambda, bound, tail)
		}
	}
}
