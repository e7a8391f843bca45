package theory_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"belsim/errmodel"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/cost"
)

// TestShort: the short ways to the means of a mixture, windows of one sequence and mirror images, give what
// its table gives, level by level: for any r and σ to 1e-13 of it.
func TestShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"unary", "johnson", "johnson-nonzero"}).Draw(t, "code")
		c := mustCode(t, name, rapid.IntRange(2, 90).Draw(t, "levels"))
		d := mustDecoder(t, "auto", c)
		sigma := math.Exp(rapid.Float64Range(-3, 5).Draw(t, "ln σ"))
		p := must.Get(errmodel.NewProfile(t.Context(), c, c.Transitions(), sigma))(t)
		r := min(p.MaxR(), 1e3) * math.Exp(-math.Abs(rapid.Float64Range(-9, 9).Draw(t, "ln r")))
		e := must.Get(p.Mixture(r))(t)
		table, bound := mat.DenseCopyOf(e), must.Get(theory.NewBound(c, d, cost.Cost{}))(t)
		means := must.Get(exactMeans(t.Context(), 1, c, d, cost.Cost{}, e))(t)
		want := must.Get(exactMeans(t.Context(), 1, c, d, cost.Cost{}, table))(t)
		bounds := bound.OfTable(e, nil)
		weights := make([]float64, c.Levels())
		for i := range weights {
			weights[i] = rapid.Float64Range(0.1, 1).Draw(t, "weight")
		}
		folded := theory.Fold(d, e, weights)
		sums := [2]float64{}
		for i, w := range weights {
			sums[0] += w * want[i]
			sums[1] += folded[i] * want[i]
			near := func(what string, got, want float64) {
				if math.Abs(got-want) > 1e-13*want {
					t.Fatalf("%s, %d levels, r = %v, σ = %v, level %d: %s %v, want %v", name, c.Levels(), r, sigma, i+1, what,
						got, want)
				}
			}
			near("mean", means[i], want[i])
			if bounds != nil {
				near("bound", bounds[i], must.Get(bound.Row(t.Context(), i, table.RawRowView(i)))(t))
			}
		}
		if math.Abs(sums[0]-sums[1]) > 1e-13*sums[0] {
			t.Fatalf("%s, %d levels, r = %v, σ = %v: %v folded, want %v", name, c.Levels(), r, sigma, sums[1], sums[0])
		}
	})
}
