package montecarlo_test

import (
	"math"
	"os"
	"testing"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
	"belsim/theory/expect"
)

// TestShared: samples with shared noise are the same on any number of workers, and agree with the
// law W·P, for 20 problems: a level is off by more than 6 standard errors with a probability of
// 10⁻⁸ or so.
func TestShared(t *testing.T) {
	samples := uint64(20_000)
	if os.Getenv("BELSIM_LONG") != "" {
		samples = 10_000_000
	}
	for n := range 20 {
		name := []string{"unary", "johnson", "johnson-nonzero", "gray", "b1jdj"}[n%5]
		c := must.Get(code.New(name, 12+n))(t).OnCircle(n%5 == 3)
		s := errmodel.Shared{Histogram: &theory.Shared{Offsets: []int{-n, 0, 1, 40}, Weights: []float64{0.3, 0.3, 0.3, 0.1}}}
		if n == 0 || n%3 == 1 {
			s = must.Get(errmodel.ParseShared([]string{"0.7", "5"}[n%2]))(t)
		}
		e := must.Get(errmodel.NewMixture(t.Context(), c, 0.2+float64(n%3)/10, 1))(t)
		q := &expect.Problem{Code: c, Decoder: must.Get(decode.New(decode.Auto, c))(t), Errors: e, Shared: s.Of(c.Levels())}
		if c.Circular() {
			q.Cost = q.Cost.Squared()
		}
		prior := theory.Uniform(c.Levels())
		th := must.Get(expect.Of(t.Context(), 1, q, prior, expect.Skip{Bounds: true, AnyLaw: true}))(t)
		draw := montecarlo.FixedSampling().Fixed(samples)
		var first []montecarlo.Sums
		for _, workers := range []int{1, 2, 7} {
			sums, _, err := montecarlo.Estimate(t.Context(), montecarlo.CPU{Workers: workers}, draw.Of(q), draw, prior, nil)
			must.Succeed(t, err)
			if first == nil {
				first = sums
			}
			for i := range sums {
				if !sums[i].Equal(first[i]) || sums[i].Samples != samples {
					t.Fatalf("%s, level %d, %d workers: %+v, want %+v", name, i+1, workers, sums[i], first[i])
				}
			}
		}
		for i, sum := range first {
			if want := th.Levels[i].Mean; !(math.Abs(sum.Mean()-want) <= 6*sum.StdErr()) {
				t.Errorf("%s, level %d: mean %v ± %v, want %v", name, i+1, sum.Mean(), sum.StdErr(), want)
			}
		}
	}
}
