package mixturefit

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel"
	"belsim/theory/base/must"
	"belsim/theory/code"
)

// simulated draws counts of wrong outputs of independent classifiers.
func simulated(rng *rand.Rand, e mat.Matrix, samples func(i int) uint64) *errmodel.Counts {
	levels, bits := e.Dims()
	c := errmodel.NewCounts(levels, bits)
	for i := range levels {
		c.Samples[i] = samples(i)
		for k := range bits {
			b := distuv.Binomial{N: float64(c.Samples[i]), P: e.At(i, k), Src: rng}
			if b.P > 0 && b.N > 0 {
				c.Row(i)[k] = uint64(b.Rand())
			}
		}
	}
	return c
}

func mustCode(t testing.TB, name string, levels int) *code.Code {
	t.Helper()
	return must.Get(code.New(name, levels))(t)
}

func mustMixture(t testing.TB, c *code.Code, r, sigma float64) *errmodel.Mixture {
	t.Helper()
	return must.Get(errmodel.NewMixture(context.Background(), c, r, sigma))(t)
}

// TestLikelihood compares the likelihood of grouped cells with that of every cell by
// itself, and its derivatives with finite differences.
func TestLikelihood(t *testing.T) {
	for _, name := range []string{"unary", "johnson", "hexj", "hadamard", "gray", "circle of johnson", "circle of gray"} {
		name, circular := strings.CutPrefix(name, "circle of ")
		c, images := mustCode(t, name, 40), 0
		if circular {
			c, images = c.OnCircle(), 30
		}
		r, sigma := 0.11, 2.5
		counts := simulated(rand.New(rand.NewPCG(1, 2)), mustMixture(t, c, r, sigma),
			func(i int) uint64 { return uint64(i % 50) })
		l := newLikelihood(counts, c.Transitions(), round(c))
		// Where far cells are beyond the underflow of Gaussians, too.
		for _, at := range [][]float64{{math.Log(r), math.Log(sigma)}, {math.Log(0.07), math.Log(0.4)},
			{math.Log(0.01), math.Log(0.12)}, {math.Log(0.002), math.Log(35)}} {
			a, b := at[0], at[1]
			l.at(b)
			want := 0.0
			for i := range c.Levels() {
				for k, ns := range c.Transitions() {
					if len(ns) == 0 {
						continue
					}
					var logs []float64 // of the Gaussians
					for _, n := range ns {
						gaussian := distuv.Normal{Mu: float64(n) + 0.5, Sigma: math.Exp(b)}
						for w := -images; w <= images; w++ {
							logs = append(logs, gaussian.LogProb(float64(i+1+40*w)))
						}
					}
					logE := a + floats.LogSumExp(logs)
					x, n := float64(counts.Row(i)[k]), float64(counts.Samples[i])
					want += x*logE + (n-x)*math.Log1p(-math.Exp(logE))
				}
			}
			// Some 1,600 terms, each rounded to 2⁻⁵³ of itself and of the sum.
			must.Near(t, name+": value", want, l.value(a), 1e-11*math.Abs(want))
			value := func(x []float64) float64 {
				l.at(x[1])
				return l.value(x[0])
			}
			gradient := fd.Gradient(nil, value, at, &fd.Settings{Formula: fd.Central})
			hessian := mat.NewSymDense(2, nil)
			fd.Hessian(hessian, value, at, &fd.Settings{Formula: fd.Central, Step: 1e-4})
			l.at(b)
			d := l.derivatives(a)
			// Central differences of step 6·10⁻⁶ and 10⁻⁴: errors of the order of
			// (1e-16·|value|/step) and (1e-16·|value|/step²).
			slack1, slack2 := 1e-9*math.Abs(want)+1e-6, 1e-7*math.Abs(want)+1e-3*math.Abs(d.ibb)
			for _, v := range [][3]float64{{d.ga, gradient[0], slack1}, {d.gb, gradient[1], slack1},
				{d.iaa, -hessian.At(0, 0), slack2}, {d.iab, -hessian.At(0, 1), slack2},
				{d.ibb, -hessian.At(1, 1), slack2}} {
				if math.Abs(v[0]-v[1]) > v[2] {
					t.Errorf("%s at %v: derivative %v, by differences %v", name, at, v[0], v[1])
				}
			}
			s, info := l.score(a)
			if math.Abs(s-d.ga) > 1e-9*(1+l.total) || math.Abs(info-d.iaa) > 1e-9*d.iaa {
				t.Errorf("%s: score %v and information %v, want %v and %v", name, s, info, d.ga, d.iaa)
			}
		}
	}
}

// TestFitExtremes has data that do not determine both parameters.
func TestFitExtremes(t *testing.T) {
	ctx := context.Background()
	c := mustCode(t, "unary", 16)
	beside := errmodel.NewCounts(16, 15) // errors right beside the transitions alone
	anywhere := errmodel.NewCounts(16, 15)
	certain := errmodel.NewCounts(16, 15) // always wrong beside the transitions
	for i := range 16 {
		beside.Samples[i], anywhere.Samples[i], certain.Samples[i] = 10, 100, 3
		for k, ns := range c.Transitions() {
			anywhere.Row(i)[k] = 10
			if ns[0] == i || ns[0] == i+1 {
				beside.Row(i)[k] = 2
				certain.Row(i)[k] = 3
			}
		}
	}
	for name, tt := range map[string]struct {
		counts *errmodel.Counts
		lo, hi float64 // of σ
	}{"errors beside transitions alone": {beside, 0.1, 0.5}, "errors anywhere": {anywhere, 20, 160}} {
		f := must.Get(New(ctx, 0, c, tt.counts, c.Transitions()))(t)
		j := must.Get(NewJoint(ctx, f))(t)
		j.Erring = FewestErring
		intervals := j.Intervals()
		if !(f.Sigma >= tt.lo && f.Sigma <= tt.hi) || !math.IsNaN(intervals[0][0]) || !math.IsNaN(intervals[1][1]) {
			t.Errorf("%s: σ = %v, intervals %v", name, f.Sigma, intervals)
		}
	}
	f, err := New(ctx, 0, c, certain, c.Transitions())
	if err != nil || !f.Limited {
		t.Fatalf("always wrong: %+v, %v", f, err)
	}
	if _, err := f.Table(ctx); err != nil {
		t.Error(err)
	}
	if _, err := New(ctx, 0, c, errmodel.NewCounts(16, 15), c.Transitions()); !errors.Is(err, ErrNoFit) {
		t.Errorf("no errors: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := New(cancelled, 0, c, beside, c.Transitions()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := New(ctx, 0, c, beside, c.Transitions()[1:]); err == nil {
		t.Error("transitions of another code are taken")
	}
}

// TestLargestR: where bits are always wrong beside their transitions, the r of a fit is still
// valid.
func TestLargestR(t *testing.T) {
	ctx := context.Background()
	for levels := 8; levels < 40; levels++ {
		for _, name := range []string{"unary", "johnson", "hexj"} {
			c := mustCode(t, name, levels)
			counts := errmodel.NewCounts(c.Dims())
			for i := range levels {
				counts.Samples[i] = 2
				for k, ns := range c.Transitions() {
					for _, n := range ns {
						if n == i || n == i+1 {
							counts.Row(i)[k] = 2
						}
					}
				}
			}
			f := must.Get(New(ctx, 0, c, counts, c.Transitions()))(t)
			if _, err := errmodel.NewMixture(ctx, c, f.R, f.Sigma); err != nil {
				t.Errorf("%s of %d levels: %v, r = %v", name, levels, err, f.R)
			}
		}
	}
}

// TestFitMaximum holds the estimate to the definition of a maximum.
func TestFitMaximum(t *testing.T) {
	for _, name := range []string{"unary", "johnson", "b1jdj", "hexj"} {
		c := mustCode(t, name, 64)
		counts := simulated(rand.New(rand.NewPCG(3, 4)), mustMixture(t, c, 0.5, 2), func(int) uint64 { return 100 })
		f := must.Get(New(context.Background(), 0, c, counts, c.Transitions()))(t)
		inverse, regular := f.inverse()
		if !regular {
			t.Errorf("%s: the estimate is at a limit", name)
		}
		d := f.l.derivatives(math.Log(f.R))
		// Newton's step from here, in standard errors.
		for i, step := range []float64{inverse[0]*d.ga + inverse[1]*d.gb, inverse[1]*d.ga + inverse[2]*d.gb} {
			if sd := math.Sqrt(inverse[2*i]); !(math.Abs(step) <= 1e-6*sd) {
				t.Errorf("%s: parameter %d is %g standard errors from the maximum", name, i, step/sd)
			}
		}
	}
}

// TestLargest: a probability may be above 1 by rounding.
func TestLargest(t *testing.T) {
	l := &likelihood{n: []float64{2}, wrong: []float64{2}, logU: []float64{0}}
	for a, valid := range map[float64]bool{-0.1: true, 0.9e-12: true, 1.1e-12: false} {
		if v := l.value(a); math.IsInf(v, -1) == valid || valid && v != 2*min(a, 0) {
			t.Errorf("ln e = %v: %v", a, v)
		}
	}
}
