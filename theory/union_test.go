package theory

import (
	"math/rand/v2"
	"testing"
)

// TestPoissonBinomialTail: the numbers are those of one bit at a time, to the last digit.
func TestPoissonBinomialTail(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		set, e := []uint64{rng.Uint64()>>rng.IntN(64) | 1, rng.Uint64() >> (8 * rng.IntN(9))}, make([]float64, 128)
		var chosen []float64
		for k := range e {
			if e[k] = rng.Float64() * rng.Float64(); set[k/64]>>(k%64)&1 == 1 {
				chosen = append(chosen, e[k])
			}
		}
		last := 1 + rng.IntN(len(chosen)) // at least so many
		want := make([]float64, last+1)
		want[0] = 1
		for _, p := range chosen {
			want[last] += float64(want[last-1] * p)
			for s := last - 1; s > 0; s-- {
				want[s] = float64(want[s]*(1-p)) + float64(want[s-1]*p)
			}
			want[0] *= 1 - p
		}
		if got := PoissonBinomialTail(make([]float64, last+1), set, e); got != want[last] {
			t.Fatalf("at least %d of %d bits: %v, want %v", last, len(chosen), got, want[last])
		}
	}
}
