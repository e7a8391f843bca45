package mixturefit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
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
			c, images = c.OnCircle(true), 30
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
				must.Near(t, fmt.Sprintf("%s at %v: derivative, by differences", name, at), v[1], v[0], v[2])
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

// sample is a sample of a row, with its wrong bits.
type sample struct {
	row   int
	wrong []int
}

// drawn draws samples of a mixture whose bits err together: behind each is a normal number, of
// whose variance a part is common to all bits of a sample.
func drawn(t testing.TB, rng *rand.Rand, c *code.Code, r, sigma, part float64, n int) []sample {
	t.Helper()
	mixture := mustMixture(t, c, r, sigma)
	out := make([]sample, n)
	for j := range out {
		s := &out[j]
		s.row = rng.IntN(c.Levels())
		common := rng.NormFloat64()
		for k := range c.Bits() {
			noise := math.Sqrt(part)*common + math.Sqrt(1-part)*rng.NormFloat64()
			if e := mixture.At(s.row, k); e > 1e-9 && noise > decode.MeanLogit(e) {
				s.wrong = append(s.wrong, k)
			}
		}
	}
	return out
}

// fitted fits samples, and reads them again.
func fitted(t testing.TB, c *code.Code, samples []sample) (*Fit, *Joint) {
	t.Helper()
	ctx := context.Background()
	counts := errmodel.NewCounts(c.Levels(), c.Bits())
	for _, s := range samples {
		counts.Add(s.row, s.wrong)
	}
	f := must.Get(New(ctx, 0, c, counts, c.Transitions()))(t)
	j := must.Get(NewJoint(ctx, f))(t)
	for _, s := range samples {
		j.Add(s.row, s.wrong)
	}
	return f, j
}

// TestRate has the error probabilities of the mixture. Their derivatives are differences.
func TestRate(t *testing.T) {
	for _, name := range []string{"unary", "johnson", "hexj", "hadamard", "circle"} {
		c := mustCode(t, strings.Replace(name, "circle", "johnson", 1), 20).OnCircle(name == "circle")
		of := func(sigma float64) *Joint {
			f := &Fit{R: 0.05, Sigma: sigma, code: c, counts: errmodel.NewCounts(c.Dims()), positions: c.Transitions()}
			f.l = newLikelihood(f.counts, f.positions, round(c))
			return must.Get(NewJoint(t.Context(), f))(t)
		}
		const h = 1e-5
		j, other, e := of(0.6), of(0.6*math.Exp(h)), mustMixture(t, c, 0.05, 0.6)
		for i := range 20 {
			for k := range c.Bits() {
				p, q := j.rate(i, k)
				must.Near(t, fmt.Sprintf("%s, level %d, bit %d", name, i+1, k+1), e.At(i, k), p, 1e-12)
				p2, _ := other.rate(i, k)
				if by := math.Log(p2/p) / h; p > 0 && p2 > 0 && math.Abs(by-q) > 1e-2*(1+math.Abs(q)) {
					t.Errorf("%s, level %d, bit %d: derivative %v, by differences %v", name, i+1, k+1, q, by)
				}
			}
		}
	}
}

// TestCoverage: over a grid of truths, with bits that err together or not, intervals hold the truth
// as often as they say. False alarms: 2·10⁻⁶ a truth.
func TestCoverage(t *testing.T) {
	for _, tt := range []struct {
		name           string
		r, sigma, part float64
		samples        int
	}{
		{"unary", 0.5, 3, 0, 2000}, {"unary", 0.2, 1, 0.3, 3000}, {"unary", 2, 5, 0.9, 600}, {"johnson", 1, 2, 0,
			2000}, {"b1jdj", 0.4, 1.5, 0.3, 2000}, {"hexj", 0.3, 0.8, 0, 3000},
	} {
		t.Run(fmt.Sprintf("%s_%v_%v", tt.name, tt.r, tt.sigma), func(t *testing.T) {
			t.Parallel()
			sets := 30
			if os.Getenv("BELSIM_LONG") != "" {
				sets = 150
			}
			c := mustCode(t, tt.name, 32)
			rng := rand.New(rand.NewPCG(5, uint64(1000*tt.r+tt.sigma)))
			var missed [2]int
			for range sets {
				_, j := fitted(t, c, drawn(t, rng, c, tt.r, tt.sigma, tt.part, tt.samples))
				intervals := j.Intervals()
				for i, truth := range [2]float64{tt.r, tt.sigma} {
					if !(intervals[i][0] <= truth && truth <= intervals[i][1]) {
						missed[i]++
					}
				}
			}
			b := distuv.Binomial{N: float64(sets), P: 1 - errmodel.Confidence}
			for i, n := range missed { // so many have a probability of less than 10⁻⁶; none is likely
				if 1-b.CDF(float64(n-1)) < 1e-6 {
					t.Errorf("of %d intervals of parameter %d, %d missed it", sets, i, n)
				}
			}
		})
	}
}

// TestFewSamples: Student's quantile widens intervals that rest on few samples; one sample is
// nothing to rest on, and fewer than 30 with a wrong bit have no intervals.
func TestFewSamples(t *testing.T) {
	few := Joint{square: [2]float64{10, 3}, fourth: [2]float64{10, 9}}
	if n := few.samples(); n != [2]float64{10, 1} {
		t.Errorf("%v, want 10 and 1", n)
	}
	c := mustCode(t, "johnson", 32)
	f, j := fitted(t, c, drawn(t, rand.New(rand.NewPCG(12, 13)), c, 1, 2, 0.3, 50))
	n := j.samples()[0]
	want := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n}.Quantile(0.975) * math.Sqrt(j.square[0])
	for _, end := range j.Intervals()[0] {
		if got := math.Abs(math.Log(end / f.R)); n > 50 || math.Abs(got/want-1) > 1e-12 {
			t.Errorf("with %v samples, r = %v goes to %v: by a factor of e^%v, want e^%v", n, f.R, end, got, want)
		}
	}
	for erring, none := range map[uint64]bool{29: true, 30: false} {
		if j.Erring = erring; math.IsNaN(j.Intervals()[1][0]) != none {
			t.Errorf("%d samples with a wrong bit have the intervals %v", erring, j.Intervals())
		}
	}
}

// TestVariance: where bits err independently, the variances of ln r and ln σ are those that the
// likelihood says. A sum of squares is known to 1/√samples; five times that is a false alarm less
// than once in a million.
func TestVariance(t *testing.T) {
	c := mustCode(t, "johnson", 32)
	samples := drawn(t, rand.New(rand.NewPCG(6, 7)), c, 0.6, 0.7, 0, 20000)
	_, j := fitted(t, c, samples)
	for i, n := range j.samples() {
		ratio := j.square[i] / j.inverse[2*i]
		if !(n > 500 && math.Abs(ratio-1) < 5/math.Sqrt(n)) {
			t.Errorf("the variance of parameter %d, from %.0f samples, is %v times what the likelihood says", i, n,
				ratio)
		}
	}
}
