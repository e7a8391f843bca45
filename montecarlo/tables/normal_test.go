package tables

import (
	"encoding/binary"
	"flag"
	"math"
	"os"
	"testing"

	"belsim/theory/base/must"

	"gonum.org/v1/gonum/stat/distuv"
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
