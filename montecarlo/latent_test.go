package montecarlo

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"belsim/errmodel"
	"belsim/montecarlo/internal/lanes"
	"belsim/montecarlo/tables"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// latentProblem is a code under a mixture, with a decoder by name.
func latentProblem(tb testing.TB, c *code.Code, decoder string, tau, r, sigma float64, kind Kind) *Problem {
	tb.Helper()
	d := must.Get(decode.New(decoder, c))(tb)
	if decoder == "gen-ex" {
		d = must.Get(decode.NewGenEx(c, tau))(tb)
	}
	e := must.Get(errmodel.NewMixture(context.Background(), c, r, sigma))(tb)
	return &Problem{Code: c, Decoder: d, Errors: e, Seed: 1, Kind: kind}
}

func mustCode(tb testing.TB, name string, levels int) *code.Code {
	tb.Helper()
	return must.Get(code.New(name, levels))(tb)
}

// decoded returns the labels of a group.
func (c *correlator) decoded(logits []lanes.Ints) (out [lanes.Width]float64) {
	if c.batches() {
		sum, weight := c.batch(slices.Repeat(logits, lanes.Batch), len(logits))
		for i := range out {
			out[i] = float64(c.tables.Row+1) + batchLabel(sum, weight, i)
		}
		return out
	}
	for i := range out {
		one := slices.Clone(logits)
		for k := range one {
			one[k][0] = logits[k][i]
		}
		var labels [lanes.Width]float64
		c.decode(&labels, one, 1)
		out[i] = labels[0]
	}
	return out
}

// TestLogitDecoders compares the decoded labels of every way to compute correlations with the
// decoders' definition on all M logits, those that are not drawn at their means. gen's levels are
// the same; gen-ex's labels differ by what is left out, at most L levels of weight 2⁻³⁰/L each, by
// the 3·10⁻⁷ of a weight, at most L levels from the true one.
func TestLogitDecoders(t *testing.T) {
	products := 0
	for name, c := range map[string]*code.Code{
		"unary": mustCode(t, "unary", 60), "johnson": mustCode(t, "johnson", 64), "b1jdj": mustCode(t, "b1jdj", 64),
		"hexj": mustCode(t, "hexj", 256), "hadamard": mustCode(t, "hadamard", 64), "binary": mustCode(t, "binary", 37),
		"onehot": mustCode(t, "onehot", 20), "gray": mustCode(t, "gray", 256), "b2jdj-nr": mustCode(t, "b2jdj-nr",
			50),
	} {
		for _, decoder := range []string{"gen", "gen-ex"} {
			for _, kind := range []Kind{IndependentLogits, DenseBits} {
				t.Run(name+"/"+decoder+map[bool]string{true: "/hard"}[kind.Hard()], func(t *testing.T) {
					const tau = 0.7
					r := 0.5
					if name == "hadamard" || name == "binary" {
						r = 0.2
					}
					p := latentProblem(t, c, decoder, tau, r, 2, kind)
					maker := p.LogitTables()
					rng := rand.New(rand.NewPCG(3, 4))
					for _, row := range []int{0, 1, c.Levels() / 3, c.Levels() - 1} {
						rowTables := must.Get(maker.Row(t.Context(), row))(t)
						if rowTables.Product != nil {
							products++
						}
						for range 12 {
							everyWay(t, p, rowTables, rng)
						}
					}
				})
			}
		}
	}
	if products == 0 {
		t.Error("no code was factored")
	}
}

// everyWay compares what every way to compute correlations decodes from random logits of a row.
func everyWay(t *testing.T, p *Problem, row *tables.Logits, rng *rand.Rand) {
	t.Helper()
	c := p.Code
	logits, want := randomLogits(p, row, rng)
	paths := []correlation{narrow, wide}
	switch {
	case row.Product != nil:
		paths = nil
	case c.Sylvester():
		paths = append(paths, transform)
	}
	tolerance := 1e-6 * float64(c.Levels())
	if _, gen := p.Decoder.(decode.Gen); gen {
		tolerance = 0
	}
	var first [lanes.Width]float64
	for n, path := range append(paths, -1) {
		k, row := newCorrelator(p), *row
		row.Transform = path == transform
		k.prepare(&row)
		if path >= 0 { // else the one it chose
			k.path = path
			k.narrow, k.wide = make([]lanes.Ints, lanes.Batch*len(row.Levels)), make([]lanes.Wide,
				len(row.Levels))
			k.whole = make([]lanes.Ints, c.Bits())
		}
		got := k.decoded(logits)
		if n == 0 {
			first = got
		}
		if got != first {
			t.Fatalf("level %d: way %d decodes %v, the first way %v", row.Row+1, path, got, first)
		}
		for i := range got {
			if math.Abs(got[i]-want[i]) > tolerance {
				t.Fatalf("level %d, way %d, sample %d: label %v, want %v", row.Row+1, path, i, got[i], want[i])
			}
		}
	}
}

// randomLogits draws a group of logits of a row, and decodes them by definition. Those of hard
// outputs are ±tables.LogitOne.
func randomLogits(p *Problem, row *tables.Logits, rng *rand.Rand) (logits []lanes.Ints, want [lanes.Width]float64) {
	c := p.Code
	logits = make([]lanes.Ints, len(row.Bits))
	for i := range want {
		z := make([]float64, c.Bits())
		for k := range z {
			z[k] = (2*c.Value(row.Row, k) - 1) * decode.MeanLogit(p.Errors.At(row.Row, k))
		}
		for k, bit := range row.Bits {
			v := int32(math.Round((z[bit] + rng.NormFloat64()) * tables.LogitOne))
			if p.Kind.Hard() {
				v = -tables.LogitOne + 2*tables.LogitOne*int32(1-uint32(v-1)>>31)
			}
			logits[k][i] = v
			z[bit] = float64(v) / tables.LogitOne
		}
		if p.Kind.Hard() {
			for k := range z {
				if z[k] > 0 {
					z[k] = 1
				} else {
					z[k] = -1
				}
			}
		}
		want[i] = p.Decoder.(decode.LogitDecoder).DecodeLogits(z)
	}
	return logits, want
}

// TestExtremeTemperature: exponents of 10⁴ and more give numbers, and those of a
// cold softmax are gen's.
func TestExtremeTemperature(t *testing.T) {
	c := mustCode(t, "johnson", 32)
	mean := func(decoder string, tau float64) float64 {
		p := latentProblem(t, c, decoder, tau, 0.5, 2, IndependentLogits)
		sums, _, err := Estimate(context.Background(), CPU{}, p, Sampling{Samples: 3000}, theory.Uniform(32), nil)
		must.Succeed(t, err)
		return Average(theory.Uniform(32), sums).Mean
	}
	gen := mean("gen", 1)
	for _, tau := range []float64{1e4, 1e300} {
		// The candidates, and with them the samples, are not gen's.
		if got := mean("gen-ex", tau); !(math.Abs(got-gen) < 0.05*gen) {
			t.Errorf("τ = %v: mean %v, gen %v", tau, got, gen)
		}
	}
	// A hot one gives the middle of all levels whatever the outputs.
	must.Near(t, "mean at τ = 10⁻⁹", 8, mean("gen-ex", 1e-9), 0.01)
}

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
