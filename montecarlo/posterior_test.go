package montecarlo_test

import (
	"context"
	"math"
	"testing"

	"belsim/montecarlo"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/decode"
)

// plain hides what a decoder of logits can do besides.
type plain struct{ decode.LogitDecoder }

// informed is a problem whose decoder knows the error probabilities and a prior.
func informed(tb testing.TB, code string, levels int, r, sigma float64, logits bool,
	prior []float64) *montecarlo.Problem {
	tb.Helper()
	p := mixtureProblem(tb, code, "median", levels, r, sigma)
	d := must.Get(p.Decoder.(decode.Informed).Inform(decode.Model{Errors: p.Errors, Logits: logits, Prior: prior}))(tb)
	p.Decoder = d
	if logits {
		p.Kind = montecarlo.IndependentLogits
	}
	return p
}

// TestPosteriorPaths: the fast ways to sample a decoder that knows the model give the errors of the
// slow ones, which ask the decoder for every sample. Samples are not the same ones; each of the 10
// differences is within 5 standard errors: false alarms below 10⁻⁵. With r = 2 and σ = 1 some bits
// are more often wrong than right.
func TestPosteriorPaths(t *testing.T) {
	tilted := theory.Uniform(24)
	tilted[3], tilted[4], tilted[20] = 0, 0.2, 0.01
	for _, of := range []struct {
		name     string
		r, sigma float64
	}{{"unary", 0.6, 1.5}, {"hexj", 0.6, 1.5}, {"gray", 0.6, 1.5}, {"b1jdj", 0.6, 1.5}, {"unary", 2, 1}} {
		for _, logits := range []bool{false, true} {
			p := informed(t, of.name, 24, of.r, of.sigma, logits, tilted)
			slow := *p
			slow.Decoder = plain{p.Decoder.(decode.LogitDecoder)}
			weights := theory.Uniform(24) // levels of no prior are sampled too
			got, want := montecarlo.Average(weights, sampleAll(t, p, 1500)), montecarlo.Average(weights,
				sampleAll(t, &slow, 1500))
			if !(math.Abs(got.Mean-want.Mean) <= 5*math.Hypot(got.StdErr, want.StdErr)) {
				t.Errorf("%s, r = %v, logits %v: %v ± %v, slowly %v ± %v", of.name, of.r, logits, got.Mean, got.StdErr,
					want.Mean, want.StdErr)
			}
			if ratio := got.RMS / want.RMS; !(math.Abs(ratio-1) < 0.1) {
				t.Errorf("%s, r = %v, logits %v: RMS %v, slowly %v", of.name, of.r, logits, got.RMS, want.RMS)
			}
		}
	}
}

// BenchmarkPosterior reports samples per second on all cores, beside testdata/logits.py.
func BenchmarkPosterior(b *testing.B) {
	for _, outputs := range []string{"logits", "bits"} {
		for _, name := range []string{"unary", "johnson", "b1jdj", "hexj"} {
			b.Run(outputs+"/"+name, func(b *testing.B) {
				p := informed(b, name, 256, 0.5, 3, outputs == "logits", nil)
				const samples = 1 << 12
				sums := make([]montecarlo.Sums, 256)
				b.ReportAllocs()
				for b.Loop() {
					must.Succeed(b, (montecarlo.CPU{}).Sample(context.Background(), p, everyRow(p, samples), sums, nil))
				}
				b.ReportMetric(samples*256*float64(b.N)/b.Elapsed().Seconds(), "samples/s")
			})
		}
	}
}
