package theory_test

import (
	"math"
	"testing"

	"belsim/errmodel"
	"belsim/theory"
	"belsim/theory/base/must"
)

// BenchmarkLarge computes the bound and the exact value of all labels.
func BenchmarkLarge(b *testing.B) {
	for _, name := range []string{"unary", "johnson-nonzero"} {
		b.Run(name, func(b *testing.B) {
			c := mustCode(b, name, 4096)
			d := mustDecoder(b, "auto", c)
			e := must.Get(errmodel.NewMixture(b.Context(), c, 2, 5))(b)
			for b.Loop() {
				must.Get(theory.Bounds(b.Context(), 0, c, d, e))(b)
				must.Get(theory.QuickMoments(b.Context(), 0, math.MaxInt, c, d, e))(b)
			}
		})
	}
}
