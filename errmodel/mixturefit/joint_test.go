package mixturefit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

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
		c := mustCode(t, strings.Replace(name, "circle", "johnson", 1), 20)
		if name == "circle" {
			c = c.OnCircle()
		}
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
				if want := e.At(i, k); math.Abs(p-want) > 1e-12 {
					t.Errorf("%s, level %d, bit %d: %v, want %v", name, i+1, k+1, p, want)
				}
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
