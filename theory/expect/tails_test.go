package expect_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
	"belsim/theory/expect"
)

// TestTails: the share of far answers is right to 1e-12 of it, however unlikely they are: by a sum over all
// outputs, of which no term is negative. Each has fewer roundings than 2¹⁰.
func TestTails(t *testing.T) {
	rng := rand.New(rand.NewPCG(69, 11))
	for trial := range 60 {
		levels := 4 + rng.IntN(6)
		name := []string{"unary", "johnson", "johnson-nonzero", "hexj"}[trial%4]
		c := must.Get(code.New(name, levels))(t)
		e := mat.NewDense(levels, c.Bits(), nil)
		rare := -1 - 30*rng.Float64()
		e.Apply(func(int, int, float64) float64 { return math.Pow(10, rare*(0.2+rng.Float64())) }, e)
		of := must.Get(cost.Parse(fmt.Sprintf("beyond:%d", rng.IntN(levels-1)), levels, false))(t)
		d := must.Get(decode.New(decode.Auto, c))(t)
		p := &expect.Problem{Code: c, Decoder: d, Errors: e, Cost: of}
		th := must.Get(expect.Of(t.Context(), 1, p, theory.Uniform(levels), expect.Skip{Intervals: true, AnyLaw: true}))(t)
		for i := range levels {
			want := 0.0
			for w := range uint64(1) << c.Bits() {
				q := of.Of(i+1, float64(d.Decode([]uint64{w})))
				for k := range c.Bits() {
					if w>>k&1 == 1 != c.Bit(i, k) {
						q *= e.At(i, k)
					} else {
						q *= 1 - e.At(i, k)
					}
				}
				want += q
			}
			if want > 1e-290 { // above numbers of fewer digits
				must.Near(t, fmt.Sprintf("%s of %d levels, %s, level %d", name, levels, of.Name(), i+1), want,
					th.Levels[i].Mean, 1e-12*want)
			}
		}
	}
}
