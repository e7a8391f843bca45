package fitdecoder

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestScores: the routine of this processor gives the bits of the loop in Go.
func TestScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{32, 64, 256} {
		for _, width := range []int{1, 7, 64} {
			draw := func(n int) []float64 {
				out := make([]float64, n)
				for i := range out {
					out[i] = rng.NormFloat64() * math.Exp(4*rng.NormFloat64())
				}
				return out
			}
			weights, features, got := draw(n*width), draw(width), draw(n)
			want := slices.Clone(got)
			scoresGeneric(want, weights, features)
			addScores(got, weights, features)
			if !slices.Equal(got, want) {
				t.Errorf("%d levels, %d features: %v, want %v", n, width, got, want)
			}
		}
	}
}

func TestAsinh(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100000 {
		x := rng.NormFloat64() * math.Exp(10*rng.NormFloat64())
		if got, want := asinh(x), math.Asinh(x); math.Abs(got-want) > 1e-15*max(1, math.Abs(want)) || asinh(-x) != -got {
			t.Fatalf("asinh %v is %v, want %v", x, got, want)
		}
	}
	for _, x := range []float64{0, 1e-300, 1e300, math.MaxFloat64} {
		if got, want := asinh(x), math.Asinh(x); math.Abs(got-want) > 1e-13 {
			t.Errorf("asinh %v is %v, want %v", x, got, want)
		}
	}
}
