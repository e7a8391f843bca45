package perceived

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

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
	prior, err := shares(prior, c.Levels())
	must.Succeed(t, err)
	ch := newChannel(c.Levels(), p.Noise, prior)
	cs, err := newColumns(context.Background(), 1, c, ch, newBasis(ch), p)
	must.Succeed(t, err)
	return cs
}

func named(t testing.TB, name string, levels int) *code.Code {
	t.Helper()
	c := must.Get(code.New(name, levels))(t)
	return c
}

// close2 compares a derivative with a difference of the function's values.
func close2(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestDecoderLossDerivatives(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []*code.Code{named(t, "johnson", 12), named(t, "hadamard", 16), named(t, "gray", 16)} {
		cs := prepared(t, c, Model{Noise: 1.1, Cutoff: 5, Training: CE})
		l := must.Get(newDecoderLoss(context.Background(), cs, 1))(t)
		x := make([]float64, len(l.gradient))
		for i := range x {
			x[i] = rng.NormFloat64() / 3
		}
		value := must.Get(l.at(context.Background(), x))(t)
		gradient := append([]float64(nil), l.gradient...)
		for range 40 {
			i := rng.IntN(len(x))
			at := func(d float64) float64 {
				y := append([]float64(nil), x...)
				y[i] += d
				v := must.Get(l.at(context.Background(), y))(t)
				return v
			}
			close2(t, c.Name()+": a slope", gradient[i], (at(1e-5)-at(-1e-5))/2e-5, 1e-5)
		}
		// The roots, by the definition of what they are roots of.
		k := len(l.penalty)
		for bit := range c.Bits() {
			mean, r := cs.column(bit), l.root(bit).Data
			for i := range k {
				for j := i; j < k; j++ {
					want, got, di, dj := 0.0, 0.0, 0.0, 0.0
					for g, w := range cs.ch.weight {
						p := min(max(mean[g], 1e-8), 1-1e-8)
						want += w * p * (1 - p) * l.features[g*k+i] * l.features[g*k+j]
					}
					if i == j {
						want += l.penalty[i]
					}
					for n := range i + 1 {
						got += r[n*k+i] * r[n*k+j]
						di += r[n*k+i] * r[n*k+i]
					}
					for n := range j + 1 {
						dj += r[n*k+j] * r[n*k+j]
					}
					// Cholesky's error is some K roundings of √(h_ii·h_jj), and the sums' some G.
					if tolerance := float64(k+len(mean)) * 0x1p-52 * math.Sqrt(di*dj); !(math.Abs(got-want) <= tolerance) {
						t.Errorf("%s, bit %d: RᵀR[%d,%d] is %v, want %v", c.Name(), bit, i, j, got, want)
					}
				}
			}
		}
		// The value from its definition, with dense products.
		must.Get(l.at(context.Background(), x))(t)
		m := c.Bits()
		want := 0.0
		other, f, s := make([]float64, m), make([]float64, m), make([]float64, c.Levels())
		for g, w := range cs.ch.weight {
			l.functions(other, f, len(cs.ch.weight)-1-g)
			largest := math.Inf(-1)
			for i := range s {
				s[i] = 0
				for k, v := range f {
					s[i] += v * cs.target(i, k)
				}
				largest = max(largest, s[i])
			}
			sum := 0.0
			for _, v := range s {
				sum += math.Exp(v - largest)
			}
			want += w * (largest + math.Log(sum))
			for i, v := range s {
				if b := cs.ch.joint[i]; g >= b.from && g < b.from+len(b.values) {
					want -= b.values[g-b.from] * v
				}
			}
		}
		for j, pen := range l.penalty {
			for k := range m {
				want += pen * l.b[j*m+k] * l.b[j*m+k] / 2
			}
		}
		close2(t, c.Name()+": the loss", value, want, 1e-9)
	}
}

// TestConverged: more steps gain no more than what the last one left.
func TestConverged(t *testing.T) {
	for _, c := range []*code.Code{named(t, "unary", 64), named(t, "johnson", 64), named(t, "b1jdj", 64), named(t, "hexj", 64), named(t, "gray", 64), named(t, "onehot", 8)} {
		cs := prepared(t, c, Model{Noise: 1.6, Cutoff: 15, Training: CE})
		loss := func() float64 {
			l := must.Get(newDecoderLoss(t.Context(), cs, 1))(t)
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
