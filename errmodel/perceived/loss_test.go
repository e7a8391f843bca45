package perceived

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"

	"belsim/theory/base/must"
	"belsim/theory/code"
)

// prepared returns the columns of a code and a prior that is not uniform.
func prepared(t *testing.T, c *code.Code, p Model) *columns {
	t.Helper()
	prior := make([]float64, c.Levels())
	for i := range prior {
		prior[i] = 1 + float64(i*i%7)
	}
	prior, err := shares(prior)
	must.Succeed(t, err)
	ch := newChannel(c.Levels(), p.Noise, prior)
	cs, err := newColumns(context.Background(), 1, c, ch, newBasis(ch), p)
	must.Succeed(t, err)
	return cs
}

func named(t testing.TB, name string, levels int) *code.Code {
	t.Helper()
	return must.Get(code.New(name, levels))(t)
}

// softmax is the mean level of softmax(C·z), what gen-ex answers, and the logarithm of its sum.
func softmax(c *code.Code, z []float64) (mean, logSum float64) {
	scores := make([]float64, c.Levels())
	for i := range scores {
		for k, v := range z {
			scores[i] += v * c.Value(i, k)
		}
	}
	logSum = floats.LogSumExp(scores)
	for i, s := range scores {
		mean += math.Exp(s-logSum) * float64(i+1)
	}
	return mean, logSum
}

// TestConverged: more steps gain no more than what the last one left.
func TestConverged(t *testing.T) {
	for _, c := range []*code.Code{named(t, "unary", 64), named(t, "johnson", 64), named(t, "b1jdj", 64),
		named(t, "hexj", 64), named(t, "gray", 64), named(t, "onehot", 8)} {
		cs := prepared(t, c, Model{Noise: 1.6, Cutoff: 15, Training: CE})
		loss := func() float64 {
			l := must.Get(newDecoderLoss(t.Context(), cs, 1, nil))(t)
			l.read()
			return must.Get(l.at(t.Context(), must.Get(l.start(t.Context()))(t)))(t)
		}
		must.Succeed(t, cs.learn(t.Context(), 1, decoderSteps, false))
		first := loss()
		must.Succeed(t, cs.learn(t.Context(), 1, 400, true))
		if gain := first - loss(); gain > 1e-7 {
			t.Errorf("%s: more steps gain %v", c.Name(), gain)
		}
	}
}

// TestMisfitOfMean: after L1 and L2 the residuals of all bits move the mean as a misfit of η levels
// would, to first order. The mean and its derivatives are those of the definition, with
// differences: the second ones have an error of 10⁻⁵ of them.
func TestMisfitOfMean(t *testing.T) {
	for _, name := range []string{"unary", "johnson", "hexj", "onehot"} {
		for _, training := range []Training{L1, L2} {
			c := named(t, name, 16)
			cs := prepared(t, c, Model{Noise: 1.1, Cutoff: 5, Training: training})
			p := Model{Noise: 1.1, Cutoff: 5, Floor: 0.2, Misfit: 0.3, Training: training}
			must.Succeed(t, cs.learn(t.Context(), 1, decoderSteps, false))
			n := newNetwork(p, c, cs.ch, cs)
			label := func(z []float64) float64 {
				mean, _ := softmax(c, z)
				return mean
			}
			m, moved := c.Bits(), 0.0
			means := make([]float64, len(cs.ch.weight))
			for g, w := range cs.ch.weight {
				z := n.logits[g*m : (g+1)*m]
				means[g] = label(z)
				for k, sd := range n.ResidualSD() {
					const step = 1e-4
					other := slices.Clone(z)
					other[k] += step
					above := label(other)
					other[k] -= 2 * step
					by := (above - label(other)) / (2 * step)
					moved += w * by * by * sd * sd
				}
			}
			if want := p.Misfit * p.Misfit * cs.ch.slope(means); !(math.Abs(moved/want-1) < 1e-4) {
				t.Errorf("%s, %s: residuals move the mean by %v, want %v", name, training, moved, want)
			}
		}
	}
}

// near compares numbers, with a tolerance for numbers up to 1.
func near(tolerance float64) func(got, want float64) bool {
	return func(got, want float64) bool { return math.Abs(got-want) <= tolerance*(1+math.Abs(want)) }
}

func TestDecoderLossDerivatives(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i, c := range []*code.Code{named(t, "johnson", 12), named(t, "hadamard", 8), named(t, "gray", 16),
		named(t, "johnson", 12), named(t, "hexj", 16), named(t, "gray", 16), named(t, "onehot", 9)} {
		cs := prepared(t, c, Model{Noise: 1.1, Cutoff: 5, Training: []Training{CE, CE, CE, L1, L1, L2, L2}[i]})
		mean := &cs.error
		if cs.training == CE {
			mean = nil
		}
		l := must.Get(newDecoderLoss(context.Background(), cs, 1, mean))(t)
		x := make([]float64, len(l.gradient))
		for i := range x {
			x[i] = rng.NormFloat64() / 3
		}
		at := func(x []float64) float64 { return must.Get(l.at(t.Context(), x))(t) }
		slopes := fd.Gradient(nil, at, x, &fd.Settings{Formula: fd.Central, Step: 1e-5})
		value := at(x)
		if !floats.EqualFunc(l.gradient, slopes, near(1e-5)) {
			t.Errorf("%s: slopes are %v, want %v", c.Name(), l.gradient, slopes)
		}
		// The value from its definition.
		m := c.Bits()
		want := 0.0
		other, f := make([]float64, m), make([]float64, m)
		for g, w := range cs.ch.weight {
			l.functions(other, f, len(cs.ch.weight)-1-g)
			label, logSum := softmax(c, f)
			if mean == nil {
				want += w * logSum
			}
			for i, b := range cs.ch.joint {
				if g < b.from || g >= b.from+len(b.values) {
					continue
				}
				switch p, d := b.values[g-b.from], label-float64(i+1); cs.training {
				case CE:
					for k, v := range f {
						want -= p * v * c.Value(i, k)
					}
				case L2:
					want += p * d * d / (2 * 1.1 * 1.1)
				case L1: // labels within half a level, by the midpoint rule: its error is at most 10⁻⁷
					const parts = 1000
					for j := range parts {
						want += p * math.Abs(d-(float64(j)+0.5)/parts+0.5) / parts * math.Sqrt(math.Pi/2) / 1.1
					}
				}
			}
		}
		for j, pen := range l.penalty {
			for k := range m {
				want += pen * l.b[j*m+k] * l.b[j*m+k] / 2
			}
		}
		tolerance := 1e-9
		if cs.training == L1 {
			tolerance = 1e-6
		}
		if !near(tolerance)(value, want) {
			t.Errorf("%s: the loss is %v, want %v", c.Name(), value, want)
		}
	}
}
