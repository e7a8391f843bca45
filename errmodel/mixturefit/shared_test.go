package mixturefit_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"belsim/errmodel"
	"belsim/errmodel/mixturefit"
	"belsim/theory/base/must"
	"belsim/theory/code"
)

// TestFitShared: what samples were drawn with is found again: of 10,000 samples the standard error
// of the mean |δ| is 1.4 % here, and that of r about 1/√(wrong bits) = 2 %; 5 of each allow for
// what both share.
func TestFitShared(t *testing.T) {
	const levels, n, r, sigma, sd = 64, 10_000, 0.3, 1.5, 3
	for _, name := range []string{"unary", "johnson"} {
		c := must.Get(code.New(name, levels))(t)
		e := must.Get(errmodel.NewMixture(t.Context(), c, r, sigma))(t)
		rng := rand.New(rand.NewPCG(71, 2))
		x, abs := mixturefit.NewWords(c), 0.0
		for range n {
			i := rng.IntN(levels)
			d := int(math.Round(sd * rng.NormFloat64()))
			abs += math.Abs(float64(d)) / n
			seen := min(max(i+d, 0), levels-1)
			var wrong []int
			for k := range c.Bits() {
				if c.Bit(seen, k) != c.Bit(i, k) != (rng.Float64() < e.At(seen, k)) {
					wrong = append(wrong, k)
				}
			}
			x.Add(i, wrong)
		}
		start := time.Now()
		f := must.Get(mixturefit.FitShared(t.Context(), x, c.Transitions()))(t)
		t.Logf("%s: %v: r %v, σ %v, E|δ| %v of %v, sd %v, gain %v", name, time.Since(start), f.R, f.Sigma, f.MeanAbs, abs, f.SD, f.Gain)
		must.Near(t, name+": r", r, f.R, 0.1*r)
		must.Near(t, name+": σ", sigma, f.Sigma, 0.1*sigma)
		must.Near(t, name+": mean |δ|", abs, f.MeanAbs, 0.07*abs)
		if f.Gain < 1000 {
			t.Errorf("%s: the log-likelihood rises by %v", name, f.Gain)
		}
	}
}
