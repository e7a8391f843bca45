package montecarlo

import (
	"testing"

	"belsim/montecarlo/tables"
)

// TestPlaces: the two ways of placing a draw agree on every one.
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
		narrow := make([]uint16, 1<<16)
		table.placeNarrow(narrow, words, low)
		undecided := 0
		for draw := range 1 << 16 {
			asked := false
			want := table.place(uint32(draw), func() uint64 { asked = true; return low(draw) })
			if asked {
				undecided++
			}
			if narrow[draw] != want {
				t.Fatalf("%d bits, draw %x: %d narrow, want %d", n, draw, narrow[draw], want)
			}
		}
		if undecided > len(table.columns) {
			t.Errorf("%d bits: %d of 65536 draws undecided by their own bits; want at most one a column, %d", n,
				undecided, len(table.columns))
		}
	}
}
