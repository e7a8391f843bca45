package lanes

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/montecarlo/tables"
)

// TestNormal compares magnitudes with the inverse distribution function. The
// interpolation error is that of degree 7 at Chebyshev's points: the inverse is
// analytic but for p = 0 and p = 1, three times half an octave away from its middle at
// least, so that it falls by 3+√8 a degree, to below 10⁻⁶; single precision adds some
// units of 2⁻²⁴ of numbers up to 9.2, and leaving out m's last bits 2⁻²³ of an octave,
// over which the number changes by less than one.
func TestNormal(t *testing.T) {
	const tolerance = 2e-6
	rng := rand.New(rand.NewPCG(1, 2))
	check := func(draw uint32, more uint64) {
		got := float64(normal(draw, func() uint64 { return more })) / tables.NormalOne
		v := float64(draw &^ (1 << 31))
		p := (v + 0.5) * 0x1p-32
		if v < tables.NormalTail {
			p = max((v+float64(more>>15|1)*0x1p-49)*0x1p-32, 0x1p-65)
		}
		if draw>>31 == 1 {
			got = -got
		}
		want := -distuv.UnitNormal.Quantile(p)
		if math.Abs(got-want) > tolerance {
			t.Fatalf("draw %#x, %#x: %v, want %v", draw, more, got, want)
		}
	}
	for range 200000 {
		draw := rng.Uint32()
		check(draw, 0)
		check(draw>>rng.IntN(32)|draw&(1<<31), rng.Uint64()>>rng.IntN(64))
	}
	for _, draw := range []uint32{0, 1, tables.NormalTail - 1, tables.NormalTail, 1<<31 - 1, 1 << 31, math.MaxUint32} {
		check(draw, 0)
		check(draw, math.MaxUint64)
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
		if got, want := float64(Decay(x)), math.Exp2(-float64(x)); math.Abs(got-want) > 3e-7*want {
			t.Fatalf("2^−%v = %v, want %v", x, got, want)
		}
	}
}

// randomLogits are rows of logits, equal ones among them where few is set.
func randomLogits(rng *rand.Rand, rows int, few bool) []Ints {
	logits := make([]Ints, rows)
	for k := range logits {
		for i := range logits[k] {
			logits[k][i] = int32((rng.Float64()*16 - 8) * tables.LogitOne)
			if few {
				logits[k][i] = int32(rng.IntN(3)-1) * tables.LogitOne
			}
		}
	}
	return logits
}
