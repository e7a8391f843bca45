package theory_test

import (
	"fmt"
	"math"
	"testing"

	"belsim/errmodel"
	"belsim/theory"
	"belsim/theory/base/matrix"
	"belsim/theory/base/must"
	"belsim/theory/cost"
)

// BenchmarkLarge computes the bound and the exact value of all labels.
func BenchmarkLarge(b *testing.B) {
	for _, name := range []string{"unary", "johnson-nonzero"} {
		b.Run(name, func(b *testing.B) {
			c := mustCode(b, name, 4096)
			d := mustDecoder(b, "auto", c)
			e := must.Get(errmodel.NewMixture(b.Context(), c, 2, 5))(b)
			var row []float64
			for b.Loop() {
				bound := must.Get(theory.NewBound(c, d, cost.Cost{}))(b)
				for i := range c.Levels() {
					row = matrix.Row(row, i, e)
					must.Get(bound.Row(b.Context(), i, row))(b)
				}
				must.Get(theory.Means(b.Context(), 0, c, d, cost.Cost{}, e))(b)
			}
		})
	}
}

// BenchmarkSquared computes the mean squared error of all labels, as a cell of a map of 255 levels has it.
func BenchmarkSquared(b *testing.B) {
	for _, name := range []string{"unary", "johnson-nonzero"} {
		for _, sigma := range []float64{0.5, 5, 20} {
			b.Run(fmt.Sprintf("%s/%g", name, sigma), func(b *testing.B) {
				c := mustCode(b, name, 255)
				x := must.Get(theory.NewLaw(b.Context(), math.MaxInt, c, mustDecoder(b, "auto", c)))(b)
				e := must.Get(errmodel.NewMixture(b.Context(), c, min(2, sigma), sigma))(b)
				for b.Loop() {
					must.Get(x.Means(b.Context(), 1, nil, e, cost.Cost{}.Squared()))(b)
				}
			})
		}
	}
}
