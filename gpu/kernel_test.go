//go:build linux && cgo

package gpu

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	"belsim/gpu/internal/driver"
	"belsim/montecarlo"
	"belsim/montecarlo/tables"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// row draws the probabilities of one row: mostly small, some zero, some above
// one half, some equal.
func row(rng *rand.Rand, bits int) []float64 {
	e := make([]float64, bits)
	scale := []float64{1, 0.1, 1e-3, 1e-9}[rng.IntN(4)]
	for k := range e {
		switch rng.IntN(6) {
		case 0:
		case 1:
			e[k] = 1 - scale*rng.Float64()
		case 2:
			e[k] = scale / 2
		default:
			e[k] = scale * rng.Float64()
		}
	}
	return e
}

// kernelTables samples a row of a problem once, and returns what the kernels prepared for it.
func kernelTables(t *testing.T, d *Device, p *montecarlo.Problem, i int) *tables.Bits {
	t.Helper()
	must.Get(jobOf(p, montecarlo.Span{Row: i, Samples: 1}).sample(t.Context(), d, nil))(t)
	leave := must.Get(d.context.Enter())(t)
	defer leave()
	size, a := sizeOf(p), &d.arenas[0]
	at := a.sums + 4*8 // the three sums of the row, and the status; then as in pointTables
	next := func(bytes uint64) uint64 {
		first := (at + 255) &^ 255
		at = first + bytes
		return first
	}
	next(8 * uint64(p.Code.Bits()))
	base := make([]uint32, size.words)
	must.Succeed(t, driver.CopyOut(a.memory, next(4*size.words), base))
	columnBits, classCount := make([]uint32, 1), make([]uint32, 1)
	must.Succeed(t, driver.CopyOut(a.memory, next(4), columnBits))
	columnShare, columnBit := make([]uint64, size.columns), make([]uint32, size.columns)
	must.Succeed(t, driver.CopyOut(a.memory, next(8*size.columns), columnShare))
	must.Succeed(t, driver.CopyOut(a.memory, next(4*size.columns), columnBit))
	must.Succeed(t, driver.CopyOut(a.memory, next(4), classCount))
	classPoints, classShare := make([]uint32, size.classes), make([]uint64, size.classes)
	must.Succeed(t, driver.CopyOut(a.memory, next(4*size.classes), classPoints))
	must.Succeed(t, driver.CopyOut(a.memory, next(8*size.classes), classShare))
	out := &tables.Bits{Base: make([]uint64, (len(base)+1)/2)}
	for k, w := range base {
		out.Base[k/2] |= uint64(w) << (32 * (k % 2))
	}
	for k := range classCount[0] {
		out.Classes = append(out.Classes, tables.Class{Points: int(classPoints[k]), Share: classShare[k]})
	}
	for k := 0; len(out.Classes) > 0 && k < 1<<columnBits[0]; k++ {
		out.Columns = append(out.Columns, tables.Column{Share: columnShare[k], Own: uint16(columnBit[k]),
			Alias: uint16(columnBit[k] >> 16)})
	}
	return out
}

// checkTables compares them with what Go prepares.
func checkTables(t *testing.T, d *Device, p *montecarlo.Problem, i int) *tables.Bits {
	t.Helper()
	want, got := must.Get(p.BitTables(i))(t), kernelTables(t, d, p, i)
	must.Equal(t, fmt.Sprintf("%d bits, row %d", p.Code.Bits(), i), want, got, cmpopts.EquateEmpty(),
		cmpopts.IgnoreFields(tables.Bits{}, "Row", "Hazard"), cmpopts.IgnoreUnexported(tables.Bits{}))
	return want
}

// TestTables: what the kernels prepare for a row equals what Go does, to the
// last bit.
func TestTables(t *testing.T) {
	d := emulated(t, usual)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, levels := range []int{2, 3, 4, 17, 129, 257, 258, 700} {
		c := must.Get(code.New("unary", levels))(t)
		u := must.Get(decode.New("bel-u", c))(t)
		m := c.Bits()
		for trial := range 24 {
			e := mat.NewDense(levels, m, nil)
			i := rng.IntN(levels)
			switch trial {
			case 0: // no bit errs
			case 1: // every bit errs as often as it does not
				for k := range m {
					e.Set(i, k, 0.5)
				}
			case 2: // one bit errs
				e.Set(i, rng.IntN(m), 1e-300)
			case 3: // one bit always errs, one is unsure
				e.Set(i, 0, 1)
				e.Set(i, m-1, 0.5)
			default:
				e.SetRow(i, row(rng, m))
			}
			checkTables(t, d, &montecarlo.Problem{Code: c, Decoder: u, Errors: e}, i)
		}
	}
}

// TestWholeMeans: the law of the number of points when its mean is a whole
// number, so that two classes weigh exactly the same.
func TestWholeMeans(t *testing.T) {
	d := emulated(t, usual)
	for _, m := range []int{2, 4, 8, 16, 32} {
		e, ok := errorOfHazard(1 / float64(m))
		if !ok {
			continue
		}
		c := must.Get(code.New("unary", m+1))(t)
		table := mat.NewDense(m+1, m, nil)
		for k := range m {
			table.Set(0, k, e)
		}
		p := &montecarlo.Problem{Code: c, Decoder: must.Get(decode.New("bel-u", c))(t), Errors: table}
		if entry := checkTables(t, d, p, 0); entry.Hazard != 1 {
			t.Fatalf("%d hazards of 1/%d have the sum %v", m, m, entry.Hazard)
		}
		return
	}
	t.Fatal("no row with a whole mean was found")
}

// errorOfHazard looks for the probability that has exactly a hazard.
func errorOfHazard(h float64) (e float64, ok bool) {
	var bits tables.Bits
	lo, hi := 0.0, 0.5
	for range 100 {
		e = (lo + hi) / 2
		switch bits.Set(0, []uint64{0}, []float64{e}); {
		case bits.Hazard == h:
			return e, true
		case bits.Hazard < h:
			lo = e
		default:
			hi = e
		}
	}
	return 0, false
}
