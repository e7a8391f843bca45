package decode

import (
	"math"
	"math/big"
	"testing"
)

// TestExp compares exp with e^x to 120 bits, over its range and densely where k changes.
func TestExp(t *testing.T) {
	const most = 2.0 // units in the last place
	check := func(x float64) {
		got, want := exp(x), new(big.Float).SetPrec(120)
		// e^x = (e^(x/2^20))^(2^20), whose factor is 1 + x + x²/2 + … to x⁷
		small := new(big.Float).SetPrec(160).SetFloat64(math.Ldexp(x, -20))
		want.SetPrec(160).SetInt64(1)
		for n := 7.0; n >= 1; n-- {
			want.Mul(want, small)
			want.Quo(want, big.NewFloat(n))
			want.Add(want, big.NewFloat(1))
		}
		for range 20 {
			want.Mul(want, want)
		}
		near, _ := want.Float64()
		off, _ := want.Sub(want, big.NewFloat(got)).Float64()
		if ulp := math.Nextafter(near, 2) - near; !(math.Abs(off) <= most*ulp) {
			t.Fatalf("exp(%v) = %v is off by %.3g units in the last place", x, got, off/ulp)
		}
	}
	for i := range 20001 {
		check(-80 * float64(i) / 20000)
	}
	for k := range 7386 { // where a half of ln 2/64 is rounded up or down
		at := -(float64(k) + 0.5) * math.Ln2 / 64
		check(at)
		check(math.Nextafter(at, 0))
		check(math.Nextafter(at, -80))
	}
	for _, x := range []float64{0, math.Copysign(0, -1), -5e-324, -1e-300, -1e-17, -1e-9, -80} {
		check(x)
	}
}
