package decode_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// posterior is P(n) ∝ Π_k p_k^C[n,k]·(1−p_k)^(1−C[n,k]), in logarithms.
func posterior(c *code.Code, z []float64) []float64 {
	p := make([]float64, c.Levels())
	for i := range p {
		for k, v := range z {
			if !c.Bit(i, k) {
				v = -v
			}
			p[i] -= math.Max(-v, 0) + math.Log1p(math.Exp(-math.Abs(v)))
		}
	}
	floats.AddConst(-floats.LogSumExp(p), p)
	for i, v := range p {
		p[i] = math.Exp(v)
	}
	return p
}

// isotonic is the nearest descending sequence by the formula of minima and maxima of means.
func isotonic(v []float64) []float64 {
	out := make([]float64, len(v))
	for k := range v {
		least := math.Inf(1)
		for i := range k + 1 {
			most := math.Inf(-1)
			for j := k; j < len(v); j++ {
				most = max(most, floats.Sum(v[i:j+1])/float64(j+1-i))
			}
			least = min(least, most)
		}
		out[k] = least
	}
	return out
}

// TestDistribution: probabilities of 20 codes and 1,000 outputs each are 0 or more, add up to 1, are
// those of bits that err by themselves, and of unary descend as little from the sigmoids as they can.
// Sums of up to 60 terms, each rounded to 2⁻⁵³ of itself, are near 1e-14.
func TestDistribution(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	codes := 0
	for _, f := range code.Families() {
		for _, levels := range []int{8, 16, 32} {
			c, err := code.New(f.Name, levels)
			if err != nil {
				continue
			}
			codes++
			gen := must.Get(decode.NewGenEx(c, 1))(t)
			all := []decode.Decoder{gen}
			if u, err := decode.New("bel-u", c); err == nil {
				all = append(all, u)
			}
			correlations, p, of := decode.NewCorrelations(c), make([]float64, levels), make([]float64, levels)
			for range 1000 {
				z, size := make([]float64, c.Bits()), math.Exp(2*rng.NormFloat64())
				for k := range z {
					z[k] = size * rng.NormFloat64()
				}
				for _, by := range all {
					d, ok := decode.NewDistribution(c, by)
					if !ok || d.Decoder() != by.Name() {
						t.Fatalf("%s: no distribution of %s", f.Name, by.Name())
					}
					d.To(p, z, func(by decode.GenEx) ([]float64, float64) {
						total, _ := by.Weigh(of, of, of[correlations.To(of, z)])
						return of, total
					})
					want := posterior(c, z)
					if by != decode.Decoder(gen) {
						above := make([]float64, len(z))
						for k, v := range z {
							above[k] = 1 / (1 + math.Exp(-v))
						}
						above = isotonic(above)
						for i := range want {
							want[i] = 1
							if i > 0 {
								want[i] = above[i-1]
							}
							if i < len(above) {
								want[i] -= above[i]
							}
						}
					}
					if floats.Min(p) < 0 || math.Abs(floats.Sum(p)-1) > 1e-10 || !floats.EqualApprox(p, want, 1e-10) {
						t.Fatalf("%s, %d levels, %s: %v, want %v", f.Name, levels, by.Name(), p, want)
					}
					for _, q := range []float64{0.05, 0.5, 0.9} {
						row := decode.Quantile(p, q)
						if upto := floats.Sum(p[:row+1]); upto < q-1e-8 || row > 0 && upto-p[row] > q+1e-8 {
							t.Fatalf("%s: quantile %v is row %d of %v", f.Name, q, row, p)
						}
					}
				}
			}
		}
	}
	if codes < 20 {
		t.Errorf("%d codes", codes)
	}
	c := must.Get(code.FromMatrix("two", mat.NewDense(2, 2, []float64{0, 0, 1, 0})))(t)
	for _, name := range []string{"gen", "bel-u"} { // a unary code with a column more
		if _, ok := decode.NewDistribution(c, must.Get(decode.New(name, c))(t)); ok {
			t.Errorf("%s has a distribution", name)
		}
	}
}
