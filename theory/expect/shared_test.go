package expect_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
	"belsim/theory/expect"
)

// TestShared holds 300 random problems with shared noise against the sum over offsets and outputs,
// to 1e-12 of the largest cost: sums of at most 2¹¹ products of at most 12 factors for each offset.
func TestShared(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 71))
	for n, count := 0, 0; count < 300; n++ {
		p := draw(t, rng, n)
		if p.Code.Bits() > 11 {
			continue
		}
		count++
		levels := p.Code.Levels()
		s, total := &theory.Shared{}, 0.0
		for _, offset := range rng.Perm(2*levels + 3)[:1+rng.IntN(levels)] {
			s.Offsets, s.Weights = append(s.Offsets, offset-levels-1), append(s.Weights, 0.01+rng.Float64())
			total += s.Weights[len(s.Weights)-1]
		}
		for j := range s.Weights {
			s.Weights[j] /= total
		}
		p.Problem.Shared = s
		name := fmt.Sprintf("problem %d, %s of %d levels with %s, %s", n, p.Code.Name(), levels, p.Decoder.Name(), p.Cost.Name())
		labels, scale := p.answers(), max(1, p.Cost.Scale(levels)*float64(levels))
		near := func(what string, got, want float64) {
			t.Helper()
			must.Near(t, name+": "+what, want, got, 1e-12*scale)
		}
		th := must.Get(expect.Of(t.Context(), 1, p.Problem, p.prior, expect.Skip{AnyLaw: p.Code.Bits() > 5 || n%3 > 0}))(t)
		confusion := must.Get(expect.Confusion(t.Context(), 1, p.Problem))(t)
		w := must.Get(s.Seen(p.Code))(t)
		e := must.Get(w.Marginals(p.Code, p.Errors))(t)
		var all, square float64
		seen := make([][]float64, levels) // by level, of all outputs
		for x := range seen {
			seen[x] = p.probabilities(x)
		}
		for i, level := range th.Levels {
			var mean, distance float64
			own := p.Code.Word(i)[0]
			marginals, row := make([]float64, p.Code.Bits()), make([]float64, levels)
			for j, offset := range s.Offsets {
				x := min(max(i+offset, 0), levels-1)
				if p.Code.Circular() {
					x = (i + offset + 3*levels) % levels
				}
				for word, q := range seen[x] {
					q *= s.Weights[j]
					mean += q * p.cost(i+1, labels[word])
					d := p.distance(i+1, labels[word])
					distance += q * d * d
					for k := range marginals {
						if (uint64(word)^own)>>k&1 == 1 {
							marginals[k] += q
						}
					}
					m := int(math.Floor(labels[word] + 0.5 + 1e-6))
					if p.Code.Circular() {
						m = (m-1+8*levels)%levels + 1
					}
					row[min(max(m, 1), levels)-1] += q
				}
			}
			near("mean", level.Mean, mean)
			near("squared distance", level.Square/float64(levels), distance/float64(levels))
			for m, q := range row {
				near("confusion", confusion.At(i, m), q)
			}
			for k, q := range marginals {
				near("marginal", e.At(i, k), q)
			}
			if level.Bound < mean-1e-12*scale {
				t.Errorf("%s: level %d: bound %v below the mean %v", name, i+1, level.Bound, mean)
			}
			if x := level.AnyLaw; x != nil && (mean < x[0]-1e-6*scale || mean > x[1]+1e-6*scale) {
				t.Errorf("%s: level %d: mean %v outside of any law %v", name, i+1, mean, *x)
			}
			all += p.prior[i] * mean
			square += p.prior[i] * distance
		}
		near("mean of all", th.Mean.Exact, all)
		near("RMS", th.RMS, math.Sqrt(square))
		if decode.Is[decode.Informed](p.Decoder) {
			continue
		}
		for _, exact := range []bool{true, false} {
			m, err := expect.NewMean(t.Context(), p.Problem, exact)
			if want := th.Mean.Exact; err == nil {
				if !exact {
					want = th.Mean.Bound
				}
				near("prepared mean", must.Get(m.Mean(t.Context(), p.Problem, p.prior))(t), want)
			}
		}
	}
}

// TestLittleShared: the mean is continuous where shared noise goes to 0, also of fast means at many levels.
func TestLittleShared(t *testing.T) {
	for _, name := range []string{"unary", "johnson", "johnson-nonzero", "gray"} {
		p, prior := mixture(t, name, 64)
		mean := func(s *theory.Shared) float64 {
			p.Shared = s
			return must.Get(must.Get(expect.NewMean(t.Context(), p, true))(t).Mean(t.Context(), p, prior))(t)
		}
		without := mean(nil)
		little := &theory.Shared{Offsets: []int{-1, 0, 1}, Weights: []float64{1e-9, 1 - 2e-9, 1e-9}}
		must.Near(t, name, without, mean(little), 1e-7)
		wide := &theory.Shared{Offsets: []int{-3, 0, 3}, Weights: []float64{0.25, 0.5, 0.25}}
		th := must.Get(expect.Of(t.Context(), 1, &expect.Problem{Code: p.Code, Decoder: p.Decoder, Errors: p.Errors,
			Shared: wide}, prior, expect.Skip{AnyLaw: true}))(t)
		must.Near(t, name+", three levels", th.Mean.Exact, mean(wide), 1e-12*th.Mean.Exact)
	}
}

func mixture(t *testing.T, name string, levels int) (*expect.Problem, []float64) {
	c := must.Get(code.New(name, levels))(t)
	e := must.Get(errmodel.NewMixture(t.Context(), c, 0.3, 1.5))(t)
	return &expect.Problem{Code: c, Decoder: must.Get(decode.New(decode.Auto, c))(t), Errors: mat.Matrix(e)}, theory.Uniform(levels)
}
