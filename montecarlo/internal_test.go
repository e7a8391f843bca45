package montecarlo

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"belsim/montecarlo/philox"
	"belsim/montecarlo/tables"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// chiSquare compares counts with expectations and fails below p = 1e−9.
// Expectations below 10 are pooled, so that the law of the statistic holds.
func chiSquare(t *testing.T, what string, counts, expected []float64) {
	t.Helper()
	var stat, restCount, restExpected float64
	cells := 0
	for i, e := range expected {
		if e < 10 {
			restCount += counts[i]
			restExpected += e
			continue
		}
		stat += (counts[i] - e) * (counts[i] - e) / e
		cells++
	}
	if restExpected >= 10 {
		stat += (restCount - restExpected) * (restCount - restExpected) / restExpected
		cells++
	} else if restCount > 100 {
		t.Errorf("%s: %v in cells that expect %v", what, restCount, restExpected)
	}
	if cells < 2 {
		return // one cell has all the counts
	}
	if p := 1 - (distuv.ChiSquared{K: float64(cells - 1)}).CDF(stat); p < 1e-9 {
		t.Errorf("%s: χ² = %v with %d degrees of freedom, p = %v", what, stat, cells-1, p)
	}
}

// TestBinomial: the law of the popcount binomial.
func TestBinomial(t *testing.T) {
	for _, n := range []int{1, 40, 64, 200} {
		for _, p := range []float64{1e-3, 0.25, 0.5, 0.7, 0.999} {
			var r bitReader
			r.reset(stream{philox.NewKeys(5), uint32(n), uint32(p * 1000)}, streamCounts)
			counts, expected := make([]float64, n+1), make([]float64, n+1)
			const draws = 40000
			for range draws {
				counts[binomial(n, uint64(math.Ldexp(p, 64)), &r)]++
			}
			law := distuv.Binomial{N: float64(n), P: p}
			for k := range expected {
				expected[k] = draws * law.Prob(float64(k))
			}
			chiSquare(t, "binomial", counts, expected)
		}
	}
	// Ends of the range.
	var r bitReader
	r.reset(stream{philox.NewKeys(5), 0, 0}, streamCounts)
	if binomial(1000, 0, &r) != 0 {
		t.Error("binomial with p = 0 is not 0")
	}
	if got := binomial(1000, math.MaxUint64, &r); got != 1000 {
		t.Errorf("binomial with p = 1 − 2⁻⁶⁴: %d of 1000", got)
	}
}

// tablesOf makes the tables of a row whose hazards, all alike, have about a sum.
func tablesOf(hazard float64) *tables.Bits {
	e := make([]float64, 1+int(2*hazard))
	for k := range e {
		e[k] = -math.Expm1(-hazard / float64(len(e)))
	}
	b := new(tables.Bits)
	b.Set(0, make([]uint64, (len(e)+63)/64), e)
	return b
}

// TestPointCounts: all samples are dealt, and by the Poisson law.
func TestPointCounts(t *testing.T) {
	for _, hazard := range []float64{1e-6, 0.3, 2.1, 40, 3000} {
		b := tablesOf(hazard)
		hazard = b.Hazard
		counts := make([]float64, int(hazard+40*math.Sqrt(hazard))+40)
		expected := make([]float64, len(counts))
		total := 0.0
		for block := range uint32(30) {
			var r bitReader
			r.reset(stream{philox.NewKeys(9), 0, block}, streamCounts)
			left := BlockSize
			if err := deal(b.Classes, BlockSize, &r, func(points, samples int) error {
				counts[points] += float64(samples)
				left -= samples
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if left != 0 {
				t.Fatalf("hazard %v: %d samples were not dealt", hazard, left)
			}
			total += BlockSize
		}
		law := distuv.Poisson{Lambda: hazard}
		for k := range expected {
			expected[k] = total * law.Prob(float64(k))
		}
		chiSquare(t, "points", counts, expected)
	}
}

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
			t.Errorf("%d bits: %d of 65536 draws undecided by their own bits; want at most one a column, %d", n, undecided, len(table.columns))
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
		{"johnson", "gen", 40}, {"unary", "gen", 150}, {"hadamard", "gen", 64}, {"hexj", "gen", 256}, {"gray", "gen", 100},
	} {
		t.Run(tt.code+" "+tt.decoder, func(t *testing.T) {
			c := must.Get(code.New(tt.code, tt.levels))(t)
			d := must.Get(decode.New(tt.decoder, c))(t)
			agree := map[string]pointDecoder{"any": newFlipPoints(c, newAnyFlips(c, d)), "flips": newFlipPoints(c, flipDecoderOf(c, d)), "chosen": newPointDecoder(c, d)}
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
				places := rapid.SliceOfN(rapid.Uint16Range(0, uint16(c.Bits()-1)), points*samples, points*samples).Draw(t, "places")
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
