package montecarlo_test

import (
	"context"
	"testing"

	"belsim/montecarlo"
	"belsim/theory/base/must"
	"belsim/theory/decode"
)

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
