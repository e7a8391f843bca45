package montecarlo

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"belsim/montecarlo/tables"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
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

// TestPointDecodersAgree: a point decoder gives for any places of any number of points what
// the decoder says of the word.
func TestPointDecodersAgree(t *testing.T) {
	for _, tt := range []struct {
		code, decoder string
		levels        int
	}{
		{"unary", "bel-u", 2}, {"unary", "bel-u", 65}, {"unary", "bel-u", 129}, {"unary", "bel-u", 140},
		{"johnson", "bel-j", 2}, {"johnson", "bel-j", 100}, {"johnson", "bel-j", 256}, {"johnson", "bel-j", 301},
		{"johnson-nonzero", "bel-j", 33}, {"johnson-nonzero", "bel-j", 255}, {"johnson-nonzero", "bel-j", 300},
		{"johnson", "gen", 40}, {"unary", "gen", 150}, {"hadamard", "gen", 64}, {"hexj", "gen", 256}, {"gray", "gen",
			100},
	} {
		t.Run(tt.code+" "+tt.decoder, func(t *testing.T) {
			c := must.Get(code.New(tt.code, tt.levels))(t)
			d := must.Get(decode.New(tt.decoder, c))(t)
			agree := map[string]pointDecoder{"any": newFlipPoints(c, &anyFlips{decoder: d}),
				"flips": newFlipPoints(c, flipDecoderOf(c, d)), "chosen": newPointDecoder(c, d)}
			for _, of := range pointDecoders { // those that large codes use too, at every size
				if k, ok := of(c, d); ok {
					agree[fmt.Sprintf("%T", k)] = k
				}
			}
			rapid.Check(t, func(t *rapid.T) {
				row := rapid.IntRange(0, tt.levels-1).Draw(t, "row")
				e := mat.NewDense(c.Levels(), c.Bits(), nil)
				for k := range c.Bits() {
					e.Set(row, k, rapid.SampledFrom([]float64{0.1, 0.1, 0.1, 0.9}).Draw(t, "e"))
				}
				var p tables.Bits
				p.Set(row, c.Word(row), e.RawRowView(row))
				points := rapid.IntRange(1, 9).Draw(t, "points")
				samples := rapid.IntRange(1, 5).Draw(t, "samples")
				places := rapid.SliceOfN(rapid.Uint16Range(0, uint16(c.Bits()-1)), points*samples,
					points*samples).Draw(t, "places")
				var want Sums
				for i := 0; i < len(places); i += points {
					word := append([]uint64(nil), p.Base...)
					hit := map[uint16]bool{}
					for _, k := range places[i : i+points] {
						if !hit[k] {
							hit[k] = true
							word[k/64] ^= 1 << (k % 64)
						}
					}
					want.tally(d.Decode(word)-(row+1), 3, 1)
				}
				for name, k := range agree {
					k.prepare(&p)
					var got Sums
					k.add(&got, 3, places, points)
					if got != want {
						t.Fatalf("%s: %+v, want %+v", name, got, want)
					}
					if err := d.Decode(p.Base) - (row + 1); k.undisturbed() != err {
						t.Fatalf("%s: undisturbed error %d, want %d", name, k.undisturbed(), err)
					}
					bit := int(places[0])
					word := append([]uint64(nil), p.Base...)
					word[bit/64] ^= 1 << (bit % 64)
					if err := d.Decode(word) - (row + 1); k.single(bit) != err {
						t.Fatalf("%s: error %d with bit %d toggled, want %d", name, k.single(bit), bit, err)
					}
				}
			})
		})
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
