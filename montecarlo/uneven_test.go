package montecarlo

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// randomValues are the labels of some levels, far from even.
func randomValues(rng *rand.Rand, levels int) code.Values {
	v := make(code.Values, levels)
	for i := range v {
		v[i] = math.Exp(3 * rng.NormFloat64())
	}
	slices.Sort(v)
	return v
}

// TestUneven holds exact errors of uneven levels against a sum over all outputs that knows nothing
// of places, and samples against both. Exact values are right to 1e-12 of themselves. Of 48
// z-values, one is beyond 5 with a probability of 3e-5; rounding moves a mean by 2⁻¹⁷ levels at
// most.
func TestUneven(t *testing.T) {
	rng := rand.New(rand.NewPCG(46, 1))
	for _, tt := range []struct{ name, decoder string }{
		{"unary", "bel-u"}, {"unary", "gen"}, {"johnson", "bel-j"}, {"johnson-nonzero", "bel-j"}, {"hexj",
			"gen"}, {"gray", "gen"}, {"unary", "gen-ex"}, {"johnson", "gen-ex"},
	} {
		t.Run(tt.name+" "+tt.decoder, func(t *testing.T) {
			levels := 8
			v := randomValues(rng, levels)
			even := must.Get(code.New(tt.name, levels))(t)
			c := even.Placed(v)
			d := must.Get(decode.New(tt.decoder, c))(t)
			e := mat.NewDense(levels, c.Bits(), nil)
			e.Apply(func(_, _ int, _ float64) float64 { return 0.3 * rng.Float64() }, e)
			exact := must.Get(theory.ExactLevels(context.Background(), 1, c, d, e))(t)
			width := (v[levels-1] - v[0]) / float64(levels-1)
			p := &Problem{Code: c, Decoder: d, Errors: e, Kind: DenseBits, Seed: 1}
			sums, _, err := Estimate(context.Background(), CPU{}, p,
				Target{Samples: 20000, Prior: slices.Repeat([]float64{0.125}, levels)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range levels {
				want, square := 0.0, 0.0
				for w := range uint64(1) << c.Bits() {
					probability, weight, sum := 1.0, 0.0, 0.0
					for k := range c.Bits() {
						if q := e.At(i, k); (w>>k&1 == 1) == even.Bit(i, k) {
							probability *= 1 - q
						} else {
							probability *= q
						}
					}
					if tt.decoder == "gen-ex" {
						for n := range levels {
							z := 0.0
							for k := range c.Bits() {
								z += (2*float64(w>>k&1) - 1) * even.Value(n, k)
							}
							weight += math.Exp(z)
							sum += math.Exp(z) * v[n]
						}
					} else {
						n := must.Get(decode.New(tt.decoder, even))(t).Decode([]uint64{w})
						weight, sum = 1, v[min(max(n, 1), levels)-1]
					}
					err := (sum/weight - v[i]) / width
					want += probability * math.Abs(err)
					square += probability * err * err
				}
				if got := exact[i]; math.Abs(got.Mean-want) > 1e-12*want ||
					math.Abs(got.MeanSquare-square) > 1e-12*square {
					t.Errorf("level %d: exact %v, want %v and %v", i+1, got, want, square)
				}
				if s := sums[i]; math.Abs(s.Mean()-want) > 5*math.Sqrt((square-want*want)/float64(s.Samples))+0x1p-17 {
					t.Errorf("level %d: %v sampled ± %v, exact %v", i+1, s.Mean(), s.StdErr(), want)
				}
			}
			if b, err := theory.NewBound(c, d); tt.decoder == "gen" {
				for i := range levels {
					if bound := must.Get(b.Row(context.Background(), i,
						e.RawRowView(i)))(t); bound < exact[i].Mean*(1-1e-12) {
						t.Errorf("level %d: the bound %v is below %v", i+1, bound, exact[i].Mean)
					}
				}
			} else if err == nil {
				t.Error("a bound of levels that are counted")
			}
		})
	}
}

// TestUnevenRefused holds what does not know uneven levels against them: it refuses them by name.
// Even ones give the very code.
func TestUnevenRefused(t *testing.T) {
	c := must.Get(code.New("unary", 4))(t)
	if even := c.Placed(code.Values{-1, 0, 1, 2}); even.Uneven() || even.Place(2) != 3 {
		t.Error("even values are not even levels")
	}
	uneven := c.Placed(code.Values{0, 1, 10, 100})
	p := &Problem{Code: uneven, Decoder: must.Get(decode.New("gen", uneven))(t), Errors: mat.NewDense(4, 3, nil)}
	for _, kind := range []Kind{IndependentBits, PerceivedBits} {
		if p.Kind = kind; p.Validate() == nil {
			t.Errorf("kind %v samples uneven levels", kind)
		}
	}
	for _, v := range []code.Values{{1, 2, 3}, {1, 2, 2, 3}, {1, 2, math.NaN(), 3}, {1, 2, 3, math.Inf(1)},
		{4, 3, 2, 1}, {-math.MaxFloat64, 0, 1, math.MaxFloat64}, {}} {
		if err := v.Check(4); err == nil {
			t.Errorf("%v are values", v)
		} else if fmt.Sprint(err) == "" {
			t.Error("refused without a reason")
		}
	}
}
