package montecarlo

import (
	"context"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// TestFlipScorer: words that occur are decoded as the decoder does, level by level, for tables with
// bits that are certain and a prior with zeros.
func TestFlipScorer(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, name := range []string{"unary", "johnson", "hadamard", "b1jdj"} {
		c := must.Get(code.New(name, 40))(t)
		mixture := must.Get(errmodel.NewMixture(context.Background(), c, 0.6, 1))(t)
		for _, e := range []*mat.Dense{mat.DenseCopyOf(mixture), errmodel.Random(40, c.Bits(), 5)} {
			prior := make([]float64, 40)
			for i := range prior {
				prior[i] = max(0, rng.Float64()-0.2)
				for k := range c.Bits() {
					if rng.IntN(10) == 0 {
						e.Set(i, k, float64(rng.IntN(2)))
					}
				}
			}
			d := must.Get(decode.NewPosterior(c, decode.Model{Errors: e, Prior: prior}))(t)
			f := newFlipScorer(c, posteriorOf(d))
			for row := range c.Levels() {
				word := append([]uint64(nil), c.Word(row)...)
				q := func(k int) float64 { return min(e.At(row, k), 1-e.At(row, k)) }
				for k := range c.Bits() {
					if e.At(row, k) > 0.5 {
						toggle(word, []uint16{uint16(k)})
					}
				}
				f.start(row, word, q)
				for range 20 {
					var flipped []uint16
					for k := range c.Bits() {
						if rng.Float64() < q(k) {
							flipped = append(flipped, uint16(k))
						}
					}
					toggle(word, flipped)
					want := d.Decode(word)
					toggle(word, flipped)
					if got := f.label(flipped); got != want {
						t.Fatalf("%s, level %d, bits %v: %v, want %v", name, row+1, flipped, got, want)
					}
				}
			}
		}
	}
}
