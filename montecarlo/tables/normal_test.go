package tables

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"belsim/theory/base/must"
)

var update = flag.Bool("update", false, "write the generated table instead of comparing with it")

// exceededWith returns the x that a standard normal number exceeds with
// probability p, 0 < p < 1: −Φ⁻¹(p).
func exceededWith(p float64) float64 { return -distuv.UnitNormal.Quantile(p) }

// makeNormalTable interpolates the inverse on each octave at Chebyshev's points, and
// turns the interpolation into powers.
func makeNormalTable() *NormalTable {
	const n = NormalDegree + 1
	t := new(NormalTable)
	for octave := range NormalOctaves {
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
			t[k][octave] = float32(c[k] * NormalOne)
		}
	}
	return t
}

// TestNormalTable: the table is what its definition gives, to the last bits of
// single precision.
func TestNormalTable(t *testing.T) {
	want := makeNormalTable()
	if *update {
		b := must.Get(binary.Append(nil, binary.LittleEndian, want))(t)
		must.Succeed(t, os.WriteFile("normal_table.f32", b, 0o644))
		return
	}
	for k := range want {
		for o, c := range want[k] {
			// A processor that fuses products with sums may round a coefficient
			// otherwise; high powers lose a few digits to cancellation.
			if d := math.Abs(float64(Normals[k][o] - c)); d > 2e-7*math.Abs(float64(c))+0.5 {
				t.Errorf("octave %d, power %d: %v, want %v", o, k, Normals[k][o], c)
			}
		}
	}
}

// TestAliasTable adds up the shares of the table: each bit gets its part of the
// hazard. The table is made in floating point with a few operations a column,
// each good to 2⁻⁵³ of a column's unit share.
func TestAliasTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 700).Draw(t, "bits")
		hazards := make([]float64, n)
		total := 0.0
		for k := range hazards {
			if rapid.Bool().Draw(t, "some") {
				hazards[k] = math.Pow(10, rapid.Float64Range(-25, 0).Draw(t, "exponent"))
			}
		}
		hazards[rapid.IntRange(0, n-1).Draw(t, "sure")] = 0.3
		for _, h := range hazards {
			total += h
		}
		columns := newColumns(nil, hazards, &aliasScratch{})
		share := make([]float64, n)
		for _, col := range columns {
			p := math.Ldexp(float64(col.Share), -64)
			share[col.Own] += p / float64(len(columns))
			share[col.Alias] += (1 - p) / float64(len(columns))
		}
		for k, h := range hazards {
			if math.Abs(share[k]-h/total) > 1e-13 {
				t.Fatalf("bit %d has share %v of the points, want %v", k, share[k], h/total)
			}
			if h == 0 && share[k] != 0 {
				t.Fatalf("bit %d without a hazard has share %v", k, share[k])
			}
		}
	})
}

// TestHazard: −ln(1−e) to within the error of its operations. With u = 2⁻⁵³, s
// is off by 2u at most (2−e and the quotient), the sum of the other terms is
// below s/24 and off by a few u of itself, and the last addition adds u: 4u
// covers them. math.Log1p may be off by 1u itself.
func TestHazard(t *testing.T) {
	check := func(e float64) {
		want := -math.Log1p(-e)
		must.Near(t, fmt.Sprintf("hazard(%v)", e), want, hazard(e), 5*0x1p-53*want)
	}
	for _, e := range []float64{0, 0x1p-1020, 1e-12, 0.1, 0.25, 0.5} {
		check(e)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		check(0.5 * rng.Float64())
		check(0.5 * math.Exp(-700*rng.Float64()))
	}
}

// TestMaxClasses: no row has more classes, whatever its hazards.
func TestMaxClasses(t *testing.T) {
	for _, bits := range []int{1, 2, 3, 10, 128, 1000} {
		most := MaxClasses(bits)
		top := float64(bits) * hazard(0.5)
		for i := range 2000 {
			mean := top * float64(i+1) / 2000
			for _, h := range []float64{mean, math.Floor(mean), math.Nextafter(math.Floor(mean), 0), mean * 1e-6} {
				if h <= 0 {
					continue
				}
				below, above := likelyPoints(nil, nil, h)
				if n := len(below) + len(above); n > most {
					t.Fatalf("%d bits, hazard %v: %d numbers of points, more than %d", bits, h, n, most)
				}
			}
		}
	}
}
