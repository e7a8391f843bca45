package decode_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// randomCode has distinct random words.
func randomCode(t *testing.T, rng *rand.Rand, levels, bits int) *code.Code {
	t.Helper()
	m := mat.NewDense(levels, bits, nil)
	for i, w := range rng.Perm(1 << bits)[:levels] {
		for k := range bits {
			m.Set(i, k, float64(w>>k&1))
		}
	}
	return must.Get(code.FromMatrix("random", m))(t)
}

// randomTable has error probabilities among which some are 0, and some 1.
func randomTable(rng *rand.Rand, levels, bits int, certain float64) *mat.Dense {
	e := mat.NewDense(levels, bits, nil)
	for i := range levels {
		for k := range bits {
			switch v := rng.Float64(); {
			case v < certain:
				e.Set(i, k, 0)
			case v < 1.2*certain:
				e.Set(i, k, 1)
			default:
				e.Set(i, k, rng.Float64())
			}
		}
	}
	return e
}

// halve is the median of probabilities, and how close the level next to it was.
func halve(p []float64) (label, margin float64) {
	total, below := floats.Sum(p), 0.0
	margin = 1
	for i, v := range p {
		below += v / total
		margin = min(margin, math.Abs(below-0.5))
		if label == 0 && below >= 0.5 {
			label = float64(i + 1)
		}
	}
	return label, margin
}

// TestPosteriorOfBits compares with products of probabilities; an output that is impossible leaves
// the levels of which the fewest bits are.
func TestPosteriorOfBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	impossible := 0
	for round := range 40 {
		levels, bits := 2+rng.IntN(12), 4+rng.IntN(4)
		c := randomCode(t, rng, levels, bits)
		e := randomTable(rng, levels, bits, float64(round%4)/4)
		prior := make([]float64, levels)
		for i := range prior {
			prior[i] = max(0, rng.Float64()-0.1)
		}
		prior[rng.IntN(levels)] = 1
		d := must.Get(decode.NewPosterior(c, decode.Model{Prior: prior, Errors: e}))(t)
		z := make([]float64, bits)
		for w := range uint64(1) << bits {
			p, missing := make([]float64, levels), make([]int, levels)
			least := bits + 1
			for i := range p {
				p[i] = prior[i]
				for k := range bits {
					right := w>>k&1 == 1 == c.Bit(i, k)
					switch v := e.At(i, k); {
					case right && v == 1 || !right && v == 0:
						missing[i]++
					case right:
						p[i] *= 1 - v
					default:
						p[i] *= v
					}
				}
				if prior[i] > 0 {
					least = min(least, missing[i])
				}
			}
			for i := range p {
				if missing[i] > least {
					p[i] = 0
				}
			}
			if least > 0 {
				impossible++
			}
			want, margin := halve(p)
			got := decode.Value(d, []uint64{w})
			if margin > 1e-8 && math.Abs(got-want) > 1e-9 {
				t.Fatalf("word %b: %v, want %v (posterior %v)", w, got, want, p)
			}
			for k := range z {
				z[k] = (float64(w>>k&1)*2 - 1) * (0.5 + rng.Float64())
			}
			if soft := d.DecodeLogits(z); soft != got {
				t.Fatalf("the signs of %v: %v, want %v", z, soft, got)
			}
		}
	}
	if impossible == 0 {
		t.Error("no output was impossible")
	}
}

// TestPosteriorOfLogits compares with products of normal densities.
func TestPosteriorOfLogits(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 40 {
		levels, bits := 2+rng.IntN(12), 4+rng.IntN(4)
		c, e := randomCode(t, rng, levels, bits), randomTable(rng, levels, bits, 0.1)
		d := must.Get(decode.NewPosterior(c, decode.Model{Logits: true, Errors: e}))(t)
		for range 50 {
			z, from := make([]float64, bits), rng.IntN(levels)
			scores := make([]float64, levels)
			for k := range z {
				mean := func(i int) float64 {
					if c.Bit(i, k) {
						return decode.MeanLogit(e.At(i, k))
					}
					return -decode.MeanLogit(e.At(i, k))
				}
				z[k] = mean(from) + rng.NormFloat64()
				for i := range scores {
					scores[i] -= (z[k] - mean(i)) * (z[k] - mean(i)) / 2
				}
			}
			p := make([]float64, levels)
			for i, s := range scores {
				p[i] = math.Exp(s - scores[from])
			}
			want, margin := halve(p)
			if got := d.DecodeLogits(z); margin > 1e-8 && math.Abs(got-want) > 1e-8 {
				t.Fatalf("%v, want %v", got, want)
			}
		}
	}
}

// TestPosteriorRefusals: what is no model is refused.
func TestPosteriorRefusals(t *testing.T) {
	c := mustNew(t, "gray", 4)
	for name, m := range map[string]decode.Model{
		"a prior of 3 levels":   {Prior: []float64{1, 1, 1}},
		"a negative prior":      {Prior: []float64{1, -1, 1, 1}},
		"a prior of zeros":      {Prior: make([]float64, 4)},
		"a prior that is NaN":   {Prior: []float64{1, math.NaN(), 1, 1}},
		"a table of one bit":    {Errors: mat.NewDense(4, 1, nil)},
		"a probability above 1": {Errors: mat.NewDense(4, 2, []float64{0, 0, 0, 2, 0, 0, 0, 0})},
		"a NaN":                 {Errors: mat.NewDense(4, 2, []float64{0, 0, 0, math.NaN(), 0, 0, 0, 0}), Logits: true},
	} {
		if _, err := decode.NewPosterior(c, m); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := decode.NewPosterior(realCode(t), decode.Model{}); !errors.Is(err, decode.ErrUnfit) {
		t.Errorf("a code of real numbers: %v", err)
	}
}

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
