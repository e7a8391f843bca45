//go:build linux && cgo

package gpu

import (
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/gpu/internal/emulator"
	"belsim/montecarlo"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

var openEmulator = sync.OnceValues(func() (*emulator.Emulator, error) { return emulator.Open(".") })

// emulate returns the emulator. Without a C++ compiler the test is skipped, but in CI
// it fails.
func emulate(tb testing.TB) *emulator.Emulator {
	tb.Helper()
	e, err := openEmulator()
	if errors.Is(err, emulator.ErrNoCompiler) && os.Getenv("BELSIM_LONG") == "" {
		tb.Skipf("the kernels are not tested: %v", err)
	}
	must.Succeed(tb, err)
	return e
}

// TestPhilox compares the kernels' generator with the known answers that come
// with Random123.
func TestPhilox(t *testing.T) {
	cuda := emulate(t)
	for _, tt := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, [2]uint32{0xffffffff, 0xffffffff},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		if got := cuda.Philox(tt.key, tt.counter); got != tt.want {
			t.Errorf("philox(%x, %x) = %x, want %x", tt.key, tt.counter, got, tt.want)
		}
	}
}

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

// TestTables: what the kernels prepare for a row equals what Go does, to the
// last bit.
func TestTables(t *testing.T) {
	cuda := emulate(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, levels := range []int{2, 3, 4, 17, 129, 257, 258, 700} {
		c := must.Get(code.New("unary", levels))(t)
		d := must.Get(decode.New("gen", c))(t)
		m := c.Bits()
		size := sizeOf(shape{code: c})
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
			want := must.Get((&montecarlo.Problem{Code: c, Decoder: d, Errors: e}).BitTables(i))(t)
			got := must.Get(cuda.MakeTables(split(c.Word(i), words32(c)), mat.Row(nil, i, e), int(size.columns), int(size.classes)))(t)
			wantTables := &emulator.Tables{Base: split(want.Base, words32(c))}
			for _, cl := range want.Classes {
				wantTables.ClassPoints = append(wantTables.ClassPoints, uint32(cl.Points))
				wantTables.ClassShare = append(wantTables.ClassShare, cl.Share)
			}
			for _, col := range want.Columns {
				wantTables.ColumnShare = append(wantTables.ColumnShare, col.Share)
				wantTables.ColumnBit = append(wantTables.ColumnBit, uint32(col.Own)|uint32(col.Alias)<<16)
			}
			if !slices.Equal(got.Base, wantTables.Base) || !slices.Equal(got.ClassPoints, wantTables.ClassPoints) ||
				!slices.Equal(got.ClassShare, wantTables.ClassShare) || !slices.Equal(got.ColumnShare, wantTables.ColumnShare) ||
				!slices.Equal(got.ColumnBit, wantTables.ColumnBit) {
				t.Fatalf("%d bits, trial %d: tables differ\nkernel %+v\nGo     %+v", m, trial, got, wantTables)
			}
		}
	}
}

// TestWholeMeans: the law of the number of points when its mean is a whole
// number, so that two classes weigh exactly the same.
func TestWholeMeans(t *testing.T) {
	cuda := emulate(t)
	for _, m := range []int{2, 4, 8, 16, 32} {
		e, ok := errorOfHazard(cuda, 1/float64(m))
		if !ok {
			continue
		}
		c := must.Get(code.New("unary", m+1))(t)
		d := must.Get(decode.New("bel-u", c))(t)
		table := mat.NewDense(m+1, m, nil)
		for k := range m {
			table.Set(0, k, e)
		}
		entry := must.Get((&montecarlo.Problem{Code: c, Decoder: d, Errors: table}).BitTables(0))(t)
		if entry.Hazard != 1 {
			t.Fatalf("%d hazards of 1/%d have the sum %v", m, m, entry.Hazard)
		}
		size := sizeOf(shape{code: c})
		got := must.Get(cuda.MakeTables(split(c.Word(0), words32(c)), mat.Row(nil, 0, table), int(size.columns), int(size.classes)))(t)
		for i, cl := range entry.Classes {
			if got.ClassPoints[i] != uint32(cl.Points) || got.ClassShare[i] != cl.Share {
				t.Fatalf("class %d: %d points, share %x; want %d, %x", i, got.ClassPoints[i], got.ClassShare[i], cl.Points, cl.Share)
			}
		}
		return
	}
	t.Fatal("no row with a whole mean was found")
}

// errorOfHazard looks for the probability that has exactly a hazard.
func errorOfHazard(cuda *emulator.Emulator, h float64) (e float64, ok bool) {
	lo, hi := 0.0, 0.5
	for range 100 {
		e = (lo + hi) / 2
		switch got := cuda.Hazard(e); {
		case got == h:
			return e, true
		case got < h:
			lo = e
		default:
			hi = e
		}
	}
	return 0, false
}
