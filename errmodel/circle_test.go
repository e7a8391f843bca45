package errmodel_test

import (
	"math"
	"testing"

	"belsim/errmodel"
	"belsim/theory/base/must"
	"belsim/theory/code"
)

// images is e[n,k] as the sum of a Gaussian over all images of a transition.
func images(c *code.Code, k int, y, r, sigma float64) (e float64) {
	for i := range c.Levels() { // transitions, by hand
		if c.Bit(i, k) == c.Bit((i+1)%c.Levels(), k) {
			continue
		}
		far := 60 + int(40*sigma)/c.Levels()
		for w := -far; w <= far; w++ {
			d := (y - float64(i) - 1.5 + float64(w*c.Levels())) / sigma
			e += r / (sigma * math.Sqrt(2*math.Pi)) * math.Exp(-d*d/2)
		}
	}
	return e
}

// TestWrapped compares mixtures on a circle with sums over all images, for narrow and very wide
// Gaussians, in tables, in single columns and at labels between levels.
func TestWrapped(t *testing.T) {
	for _, name := range []string{"unary", "johnson", "gray", "hadamard"} {
		for _, levels := range []int{2, 7, 16} {
			for _, sigma := range []float64{0.3, 1.5, 8, 30, 300} {
				c := must.Get(code.New(name, levels))(t).OnCircle()
				const r = 0.01
				m := must.Get(errmodel.NewMixture(t.Context(), c, r, sigma))(t)
				columns := must.Get(errmodel.MixtureColumn(levels, true, r, sigma))(t)
				column := make([]float64, levels)
				for k, at := range c.Transitions() {
					columns(column, at)
					for i, got := range column {
						want := images(c, k, float64(i+1), r, sigma)
						if math.Abs(got-want) > 1e-12*want || math.Abs(m.At(i, k)-want) > 1e-12*want {
							t.Errorf("%s of %d levels, σ = %v: e[%d,%d] = %v and %v, want %v", name, levels, sigma, i+1, k+1,
								got, m.At(i, k), want)
						}
					}
				}
			}
		}
	}
}
