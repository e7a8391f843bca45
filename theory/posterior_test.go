package theory_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

// meanError is the exact mean |error| of a decoder over a prior.
func meanError(t *testing.T, c *code.Code, d decode.Decoder, prior []float64, e mat.Matrix) float64 {
	t.Helper()
	means := must.Get(exactMeans(context.Background(), 2, c, d, cost.Cost{}, e))(t)
	sum := 0.0
	for i, m := range means {
		sum += prior[i] * m
	}
	return sum
}

// TestLeast: no decoder of bits has a smaller mean |error| than the median of the posterior, for
// random codes, priors and error probabilities, some of them 0 or 1.
func TestLeast(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 18))
	better := 0
	for range 150 {
		bits := 2 + rng.IntN(6)
		levels := 2 + rng.IntN(min(20, 1<<bits)-1)
		m, e := mat.NewDense(levels, bits, nil), mat.NewDense(levels, bits, nil)
		prior, total := make([]float64, levels), 0.0
		for i, w := range rng.Perm(1 << bits)[:levels] {
			prior[i] = rng.ExpFloat64()
			total += prior[i]
			for k := range bits {
				m.Set(i, k, float64(w>>k&1))
				e.Set(i, k, min(1, max(0, 1.2*rng.Float64()*rng.Float64()-0.1)))
			}
		}
		for i := range prior {
			prior[i] /= total
		}
		c := must.Get(code.FromMatrix("random", m))(t)
		d := must.Get(decode.NewPosterior(c, decode.Model{Prior: prior, Errors: e}))(t)
		risk := meanError(t, c, d, prior, e)
		for _, name := range decode.Names() {
			other, err := decode.New(name, c)
			if err != nil {
				continue
			}
			if i, ok := other.(decode.Informed); ok {
				other = must.Get(i.Inform(decode.Model{Prior: prior, Errors: e}))(t)
			}
			got := meanError(t, c, other, prior, e)
			if got < risk-1e-9 {
				t.Fatalf("%s: %v, below the Bayes risk %v", name, got, risk)
			}
			if got > risk+1e-9 {
				better++
			}
		}
	}
	if better < 250 { // of gen and gen-ex, in 150 cases each
		t.Errorf("the median is better than another decoder in %d cases only", better)
	}
}
