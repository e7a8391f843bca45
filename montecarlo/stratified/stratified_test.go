package stratified_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/montecarlo/stratified"
	"belsim/theory"
	"belsim/theory/code"
	"belsim/theory/decode"
	"belsim/theory/enclose"
)

func problem(tb testing.TB, name string, levels int, r, sigma float64) *montecarlo.Problem {
	tb.Helper()
	c, err := code.New(name, levels)
	if err != nil {
		tb.Fatal(err)
	}
	e, err := errmodel.NewMixture(context.Background(), c, r, sigma)
	if err != nil {
		tb.Fatal(err)
	}
	return withGen(tb, c, e)
}

func withGen(tb testing.TB, c *code.Code, e mat.Matrix) *montecarlo.Problem {
	tb.Helper()
	d, err := decode.New("gen", c)
	if err != nil {
		tb.Fatal(err)
	}
	return &montecarlo.Problem{Code: c, Decoder: d, Errors: e, Seed: 1, Within: 2}
}

// random is a problem with a code of random words, and probabilities of very different sizes with
// zeros and ones among them.
func random(tb testing.TB, rng *rand.Rand, levels, bits int) *montecarlo.Problem {
	tb.Helper()
	m, e := mat.NewDense(levels, bits, nil), mat.NewDense(levels, bits, nil)
	most := math.Pow(10, -2*rng.Float64())
	for i, w := range rng.Perm(1 << bits)[:levels] {
		for k := range bits {
			m.Set(i, k, float64(w>>k&1))
			v := most * rng.Float64()
			switch rng.IntN(12) {
			case 0, 1:
				v = 0
			case 2:
				v = float64(rng.IntN(3)) / 2
			case 3, 4, 5:
				v = math.Pow(v, 3)
			}
			e.Set(i, k, v)
		}
	}
	c, err := code.FromMatrix("random", m)
	if err != nil {
		tb.Fatal(err)
	}
	return withGen(tb, c, e)
}

var _ = errors.Is
var _ = reflect.DeepEqual
var _ = theory.Uniform
var _ = enclose.ErrTooWide

// BenchmarkGain compares stratified samples with plain ones at the command's usual number. It reports
// the standard error relative to the mean, the part that is left over, how many times the time of the
// plain samples it takes ("time"), and how many times smaller its standard error is after
// the same time ("gain"). Where errors are too frequent "time" is what finding that out costs besides.
func BenchmarkGain(b *testing.B) {
	const samples = 100_000
	for _, bb := range []struct {
		name     string
		levels   int
		r, sigma float64
	}{
		{"b1jdj", 256, 0.5, 3}, {"b2jdj", 256, 0.5, 3}, {"hexj", 256, 0.5, 3}, {"hadamard", 256, 0.02, 3},
		{"b1jdj", 256, 1, 3}, {"hexj", 256, 1, 3}, {"hadamard", 256, 0.05, 3},
		{"b1jdj", 256, 2, 5}, {"b2jdj", 256, 2, 5}, {"hexj", 256, 2, 5}, {"b1jdj", 256, 1.4, 3}, {"hexj",256,0.7,3}, {"b2jdj", 256, 0.7, 3}, {"b2jdj", 64, 1, 2},
	} {
		b.Run(fmt.Sprintf("%s/L=%d/r=%g/σ=%g", bb.name, bb.levels, bb.r, bb.sigma), func(b *testing.B) {
			ctx := context.Background()
			p := problem(b, bb.name, bb.levels, bb.r, bb.sigma)
			prior := theory.Uniform(bb.levels)
			for b.Loop() {
				began := time.Now()
				sums, _, err := montecarlo.Estimate(ctx, montecarlo.CPU{Workers: 1}, p, montecarlo.Target{Prior: prior, Samples: samples}, nil)
				if err != nil {
					b.Fatal(err)
				}
				plain := time.Since(began).Seconds()
				sampled := montecarlo.Average(prior, sums)
				began = time.Now()
				levels, err := stratified.Estimate(ctx, 1, p, prior, samples, stratified.Usual(), nil)
				took := time.Since(began).Seconds()
				b.ReportMetric(took/plain, "time")
				if errors.Is(err, enclose.ErrTooWide) {
					continue
				}
				if err != nil {
					b.Fatal(err)
				}
				o := stratified.Average(prior, levels)
				left := 0.0
				for i, l := range levels {
					left += prior[i] * l.Left
				}
				if d := math.Abs(o.Mean - sampled.Mean); d > 6*math.Hypot(o.StdErr, sampled.StdErr) {
					b.Errorf("%v ± %v is not near %v ± %v", o.Mean, o.StdErr, sampled.Mean, sampled.StdErr)
				}
				b.ReportMetric(left, "left")
				b.ReportMetric(o.StdErr/o.Mean, "stderr")
				b.ReportMetric(sampled.StdErr*math.Sqrt(plain/took)/o.StdErr, "gain")
			}
		})
	}
}
