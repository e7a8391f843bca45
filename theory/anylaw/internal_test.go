package anylaw

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestDualRounded: the value of a plane holds in exact arithmetic.
func TestDualRounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 45))
	for range 200 {
		plane, right, exact := make([]float64, 12), make([]float64, 12), new(big.Rat)
		for k := range plane {
			plane[k], right[k] = rng.NormFloat64(), rng.Float64()
			exact.Add(exact, new(big.Rat).Mul(new(big.Rat).SetFloat64(plane[k]), new(big.Rat).SetFloat64(right[k])))
		}
		if v := dual(plane, right, 0); exact.Cmp(new(big.Rat).SetFloat64(v)) > 0 {
			t.Fatalf("a plane of %v is %v at %v", plane, v, right)
		}
	}
}

// TestOrdered: rounding puts no lower bound above the upper one.
func TestOrdered(t *testing.T) {
	if l := (Level{Lo: 3.5e-17, Hi: 1.4e-17}).ordered(); l.Lo != 1.4e-17 || l.Hi != 1.4e-17 {
		t.Errorf("%v to %v", l.Lo, l.Hi)
	}
}
