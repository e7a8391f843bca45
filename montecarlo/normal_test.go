package montecarlo

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the generated table instead of comparing with it")

// makeNormalTable interpolates the inverse on each octave at Chebyshev's points, and
// turns the interpolation into powers.
func makeNormalTable() *NormalTable {
	const n = normalDegree + 1
	t := new(NormalTable)
	for octave := range normalOctaves {
		var x, y [n]float64
		for i := range n {
			x[i] = math.Cos(math.Pi*(float64(i)+0.5)/n) / 2
			y[i] = exceededWith(math.Ldexp(1.5+x[i], -2-octave))
		}
		// Newton's divided differences, then Horner's scheme on polynomials.
		for k := 1; k < n; k++ {
			for i := n - 1; i >= k; i-- {
				y[i] = (y[i] - y[i-1]) / (x[i] - x[i-k])
			}
		}
		var c [n]float64
		for k := n - 1; k >= 0; k-- {
			for i := n - 1; i > 0; i-- {
				c[i] = c[i-1] - x[k]*c[i]
			}
			c[0] = y[k] - x[k]*c[0]
		}
		for k := range n {
			t[k][octave] = float32(c[k] * normalOne)
		}
	}
	return t
}

// TestNormalTable: the table is what its definition gives, to the last bits of
// single precision: go test ./montecarlo -run NormalTable -update writes it.
func TestNormalTable(t *testing.T) {
	want := makeNormalTable()
	if *update {
		var b bytes.Buffer
		fmt.Fprint(&b, "// Made by go test ./montecarlo -run NormalTable -update. DO NOT EDIT.\n\npackage montecarlo\n\nvar normalTable = NormalTable{\n")
		for _, row := range want {
			fmt.Fprint(&b, "\t{\n")
			for i := 0; i < len(row); i += 4 {
				fmt.Fprintf(&b, "\t\t%v, %v, %v, %v,\n", row[i], row[i+1], row[i+2], row[i+3])
			}
			fmt.Fprint(&b, "\t},\n")
		}
		fmt.Fprint(&b, "}\n")
		if err := os.WriteFile("normal_table.go", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for k := range want {
		for o, c := range want[k] {
			// A processor that fuses products with sums may round a coefficient
			// otherwise; high powers lose a few digits to cancellation.
			if d := math.Abs(float64(normalTable[k][o] - c)); d > 2e-7*math.Abs(float64(c))+0.5 {
				t.Errorf("octave %d, power %d: %v, want %v", o, k, normalTable[k][o], c)
			}
		}
	}
}

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
		got := float64(normal(draw, func() uint64 { return more })) / normalOne
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
