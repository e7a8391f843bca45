package montecarlo

import (
	"testing"

	"belsim/montecarlo/tables"
)

// TestPlaces: the three ways of placing a draw agree on every one.
func TestPlaces(t *testing.T) {
	words := make([]uint64, 1<<14)
	for i := range words {
		d := uint64(4 * i)
		words[i] = d | (d+1)<<16 | (d+2)<<32 | (d+3)<<48 // every draw of 16 bits
	}
	low := func(i int) uint64 { return uint64(i) * 0x9E3779B97F4A7C15 }
	for _, n := range []int{1, 2, 3, 64, 100, 128} {
		e := make([]float64, n)
		for k := range e {
			e[k] = 0.5 / float64(1+(k-n/2)*(k-n/2))
		}
		var b tables.Bits
		b.Set(0, make([]uint64, (n+63)/64), e)
		var table aliasTable
		table.prepare(b.Columns)
		narrow, direct := make([]uint16, 1<<16), make([]uint16, 1<<16)
		table.placeNarrow(narrow, words, low)
		var d directTable
		table.multiply(&d)
		table.placeDirect(&d, direct, words, low)
		undecided := 0
		for draw := range 1 << 16 {
			asked := false
			want := table.place(uint32(draw), func() uint64 { asked = true; return low(draw) })
			if asked {
				undecided++
			}
			if narrow[draw] != want || direct[draw] != want {
				t.Fatalf("%d bits, draw %x: %d narrow, %d direct, want %d", n, draw, narrow[draw], direct[draw], want)
			}
		}
		if undecided > len(table.columns) {
			t.Errorf("%d bits: %d of 65536 draws undecided by their own bits; want at most one a column, %d", n,
				undecided, len(table.columns))
		}
	}
}

// TestReached: a standard error may be a tenth above the target. Of 200 errors of 0 or 1, 59 ones have
// a relative one of √(141/59/199) = 0.1096, and 58 one of 0.1109.
func TestReached(t *testing.T) {
	e := estimation{Sampling: Sampling{RelErr: 0.1}, prior: []float64{1}}
	if !e.reached([]Sums{{Samples: 200, Abs: 59, Square: 59}}) || e.reached([]Sums{{Samples: 200, Abs: 58, Square: 58}}) {
		t.Error("59 wrong samples of 200 reach a relative standard error of 0.1, and 58 do not")
	}
}
