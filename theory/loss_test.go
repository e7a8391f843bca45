package theory_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

// TestLossWeights: they are those of their definition, 1 for unary, and no answer of gen to any logits
// costs more than the bound, under costs of several kinds.
func TestLossWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, f := range code.Families() {
		c, err := code.New(f.Name, 16)
		if err != nil {
			continue
		}
		levels, m := c.Dims()
		gen := must.Get(decode.New("gen", c))(t).(decode.LogitDecoder)
		for at, of := range []cost.Cost{{}, cost.Cost{}.Squared(), cost.Circular(levels),
			cost.OfValues(code.Values{0, 1, 3, 4, 5, 7, 8, 9, 10, 12, 20, 21, 22, 30, 31, 40})} {
			w := theory.LossWeights(c, of)
			for i := range levels {
				for k := range m {
					want := 0.0
					for j := range levels {
						if c.Bit(i, k) != c.Bit(j, k) {
							want = max(want, of.Of(i+1, float64(j+1))/float64(c.Distance(i, j)))
						}
					}
					if w.At(i, k) != want || f.Name == "unary" && at == 0 && want != 1 {
						t.Fatalf("%s, %s: w[%d,%d] = %v, want %v", f.Name, of.Name(), i, k, w.At(i, k), want)
					}
				}
			}
			for range 2000 {
				i, tau, z := rng.IntN(levels), math.Exp(rng.NormFloat64()), make([]float64, m)
				bound, size := 0.0, math.Exp(2*rng.NormFloat64())
				for k := range z {
					z[k] = size * rng.NormFloat64()
					if c.Bit(i, k) {
						z[k] += size
					}
					u := z[k]
					if !c.Bit(i, k) {
						u = -u
					}
					bound += w.At(i, k) * math.Log2(1+math.Exp(-tau*u))
				}
				if paid := of.Of(i+1, gen.DecodeLogits(z)); paid > bound*(1+1e-12) {
					t.Fatalf("%s, %s: level %d costs %v, above the bound of %v", f.Name, of.Name(), i+1, paid, bound)
				}
			}
		}
	}
}
