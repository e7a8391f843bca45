package perceived

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

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

func TestColumnLossDerivatives(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	cs := prepared(t, named(t, "hexj", 32), Model{Noise: 1.3, Cutoff: 7, Training: BCE})
	l := newColumnLoss(cs.ch, cs.basis)
	for bit := range cs.c.Bits() {
		if cs.constant[bit] {
			continue
		}
		l.mean = cs.column(bit)
		b := make([]float64, cs.basis.features())
		for j := range b {
			l.penalty[j] = rng.Float64()
			b[j] = rng.NormFloat64() / float64(1+j)
		}
		l.value(b)
		l.derivatives(b)
		for j, want := range fd.Gradient(nil, l.value, b, &fd.Settings{Formula: fd.Central}) {
			close2(t, "a slope", l.gradient[j], want, 1e-6)
		}
		h := append([]float64(nil), l.h...)
		k := len(b)
		for j := 0; j < k; j += 9 {
			slope := func(x float64) []float64 {
				y := append([]float64(nil), b...)
				y[j] += x
				l.value(y)
				l.derivatives(y)
				return append([]float64(nil), l.gradient...)
			}
			const step = 1e-4
			up, down := slope(step), slope(-step)
			for i := j; i < k; i++ { // the upper triangle
				close2(t, "a curvature", h[j*k+i], (up[i]-down[i])/(2*step), 1e-4)
			}
		}
	}
}

// TestColumnLossMinimum checks that Newton's method ends where the loss has no slope.
func TestColumnLossMinimum(t *testing.T) {
	for _, name := range []string{"unary", "gray", "hadamard", "onehot"} {
		p := Model{Noise: 0.8, Cutoff: 12, Training: BCE}
		cs := prepared(t, named(t, name, 64), p)
		l := newColumnLoss(cs.ch, cs.basis)
		for bit := range cs.c.Bits() {
			if cs.constant[bit] {
				continue
			}
			l.learnColumn(cs, bit, false)
			b := append([]float64(nil), l.coefficients...)
			l.value(b)
			l.derivatives(b)
			for j, v := range l.gradient {
				if math.Abs(v) > 1e-4 {
					t.Errorf("%s, bit %d: the slope of coefficient %d is %v at the end", name, bit+1, j, v)
				}
			}
		}
	}
}

func TestDecoderLossDerivatives(t *testing.T) {
	real := must.Get(code.FromReal("real", mat.NewDense(6, 2, []float64{-3, 1, -1, 2, 0, -4, 2, 2, 5, 0, 7, 9})))(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []*code.Code{named(t, "johnson", 12), named(t, "hadamard", 16), named(t, "gray", 16), real} {
		cs := prepared(t, c, Model{Noise: 1.1, Cutoff: 5, Training: CE})
		l := newDecoderLoss(cs, 1)
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
		// The value from its definition, with dense products.
		m := c.Bits()
		want := 0.0
		other, f, s := make([]float64, m), make([]float64, m), make([]float64, c.Levels())
		for g, w := range cs.ch.weight {
			l.functions(other, f, x, len(cs.ch.weight)-1-g)
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
				want += pen * x[j*m+k] * x[j*m+k] / 2
			}
		}
		close2(t, c.Name()+": the loss", value, want, 1e-9)
	}
}

func TestGram(t *testing.T) {
	prior := must.Get(shares(nil, 20))(t)
	ch := newChannel(20, 1.5, prior)
	b := newBasis(ch)
	k, points := b.features(), len(ch.weight)
	v := make([]float64, points)
	for g := range v {
		v[g] = math.Sin(float64(g)) + 1.1
	}
	h := make([]float64, k*k)
	b.gram(h, slices.Clone(v), make([]float64, 2*waves+1), make([]float64, points))
	for i := range k {
		for j := i; j < k; j++ {
			x, fx := b.row(i)
			y, fy := b.row(j)
			want := 0.0
			for g := range v {
				want += fx * x[g] * fy * y[g] * v[g]
			}
			if math.Abs(h[i*k+j]-want) > 1e-10*float64(points) {
				t.Errorf("product of features %d and %d is %v, want %v", i, j, h[i*k+j], want)
			}
		}
		h[i*k+i] += 0.1
	}
	// Cholesky's factors solve it: h·x gives y again.
	full := append([]float64(nil), h...)
	y := make([]float64, k)
	for i := range y {
		y[i] = math.Cos(float64(3 * i))
	}
	x := append([]float64(nil), y...)
	if !solve(h, x) {
		t.Fatal("not positive definite")
	}
	for i := range k {
		sum := 0.0
		for j := range k {
			sum += full[min(i, j)*k+max(i, j)] * x[j]
		}
		if math.Abs(sum-y[i]) > 1e-9 {
			t.Errorf("row %d of h·x is %v, want %v", i, sum, y[i])
		}
	}
	if solve([]float64{1, 2, 0, 1}, []float64{1, 1}) {
		t.Error("solved with a matrix that is not positive definite")
	}
}

// TestChannel checks the joint distribution: it adds up to the prior by level, and its
// posterior is Bayes'.
func TestChannel(t *testing.T) {
	prior := []float64{0.1, 0, 0.4, 0.2, 0.3}
	for _, s := range []float64{1e-300, 1e-3, 0.1, 0.9, 5, 1e4} {
		ch := newChannel(5, s, prior)
		total := 0.0
		for _, w := range ch.weight {
			total += w
		}
		close2(t, "the total weight", total, 1, 1e-12)
		for i, b := range ch.joint {
			sum := 0.0
			for _, v := range b.values {
				sum += v
			}
			close2(t, "the probability of a level", sum, prior[i], 1e-12)
		}
		mean := make([]float64, len(ch.weight))
		ch.mean(mean, func(i int) float64 { return float64(i + 1) })
		for g, v := range mean {
			if ch.weight[g] == 0 {
				continue
			}
			if !(v >= 1-1e-9 && v <= 5+1e-9) {
				t.Errorf("s = %v: mean level %v", s, v)
			}
			if y := ch.first + float64(g)*ch.step; s == 0.9 {
				var up, down float64
				for i, p := range prior {
					d := (y - float64(i+1)) / s
					w := p * math.Exp(-d*d/2)
					up, down = up+w*float64(i+1), down+w
				}
				close2(t, "the mean level", v, up/down, 0.02) // the weights of a level are normed on the grid
			}
		}
	}
}
