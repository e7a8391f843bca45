package montecarlo

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestNormal compares magnitudes with the inverse distribution function where it
// is known independently: exceeding the result must have the draw's probability.
// The interpolation error is at most h³/(36√3)·|x′′′| on a part of relative width
// h = 1/64, and |x′′′|·p³ is below 4 wherever x is above 10⁻²; rounding adds four
// units of 2⁻²⁴.
func TestNormal(t *testing.T) {
	const tolerance = 4./(64*64*64*36*1.7320508) + 4./normalOne
	table := NormalTable()
	rng := rand.New(rand.NewPCG(1, 2))
	check := func(draw uint32, more uint64) {
		got := float64(normal(table, draw, func() uint64 { return more })) / normalOne
		v := float64(draw &^ (1 << 31))
		p := (v + 0.5) * 0x1p-32
		if v < normalTail {
			p = max((v+float64(more>>15|1)*0x1p-49)*0x1p-32, 0x1p-65)
		}
		if draw>>31 == 1 {
			got = -got
		}
		want := exceededWith(p)
		if math.Abs(got-want) > tolerance {
			t.Fatalf("draw %#x, %#x: %v, want %v", draw, more, got, want)
		}
	}
	for range 200000 {
		draw := rng.Uint32()
		check(draw, 0)
		check(draw>>rng.IntN(32)|draw&(1<<31), rng.Uint64()>>rng.IntN(64))
	}
	for _, draw := range []uint32{0, 1, normalTail - 1, normalTail, 1<<31 - 1, 1 << 31, math.MaxUint32} {
		check(draw, 0)
		check(draw, math.MaxUint64)
	}
}

// TestExceededWith: the inverse undoes the distribution function.
func TestExceededWith(t *testing.T) {
	for p := 0.999; p > 1e-200; p *= 0.7 {
		x := exceededWith(p)
		back := math.Erfc(x/math.Sqrt2) / 2
		// An error of one ulp of x moves p by x·x ulps.
		if tolerance := 8 * 0x1p-52 * (2 + x*x); math.Abs(back-p) > tolerance*p {
			t.Errorf("p = %v: x = %v is exceeded with probability %v", p, x, back)
		}
	}
}

// TestDecay: 2^−t to the error of the polynomial, 2.7·10⁻⁷ with its roundings. t
// itself is exact.
func TestDecay(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 100000 {
		x := 119 * rng.Float32()
		if i < 120 {
			x = float32(i)
		}
		if got, want := float64(decay(x)), math.Exp2(-float64(x)); math.Abs(got-want) > 3e-7*want {
			t.Fatalf("2^−%v = %v, want %v", x, got, want)
		}
	}
}
