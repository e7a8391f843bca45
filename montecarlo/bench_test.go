package montecarlo_test

import (
	"context"
	"fmt"
	"testing"

	"belsim/montecarlo"
	"belsim/theory/base/must"
)

// BenchmarkSample reports samples per second on all cores: the figures of the
// README's table.
func BenchmarkSample(b *testing.B) {
	for _, bb := range []struct {
		code, decoder string
		levels        int
		r, sigma      float64
		samples       uint64
	}{
		{"johnson-nonzero", "bel-j", 255, 2, 5, 1 << 18}, // the reference workload
		{"johnson-nonzero", "bel-j", 255, 0.5, 5, 1 << 18},
		{"johnson-nonzero", "gen", 255, 2, 5, 1 << 14},
		{"unary", "bel-u", 128, 2, 5, 1 << 18},
		{"unary", "bel-u", 255, 2, 5, 1 << 17},
		{"b1jdj", "gen", 256, 0.6, 1.5, 1 << 17},
		{"hexj", "gen", 256, 0.6, 1.5, 1 << 17},
		{"johnson-nonzero", "bel-j", 1023, 2, 5, 1 << 16},
		{"hadamard", "gen", 256, 0.02, 5, 1 << 13},
	} {
		name := fmt.Sprintf("%s/%s/L=%d/r=%g/σ=%g", bb.code, bb.decoder, bb.levels, bb.r, bb.sigma)
		b.Run(name, func(b *testing.B) {
			p := mixtureProblem(b, bb.code, bb.decoder, bb.levels, bb.r, bb.sigma)
			spans := everyRow(p, bb.samples)
			sums := make([]montecarlo.Sums, bb.levels)
			b.ReportAllocs()
			for b.Loop() {
				must.Succeed(b, (montecarlo.CPU{}).Sample(context.Background(), p, spans, sums, nil))
			}
			b.ReportMetric(float64(bb.samples)*float64(bb.levels)*float64(b.N)/b.Elapsed().Seconds(), "samples/s")
		})
	}
}

// BenchmarkLogits reports samples of logits per second on all cores: the figures
// of the README's table, beside testdata/logits.py.
func BenchmarkLogits(b *testing.B) {
	for _, name := range []string{"unary", "johnson", "b1jdj", "hexj", "hadamard"} {
		for _, decoder := range []string{"gen", "gen-ex"} {
			b.Run(name+"/"+decoder, func(b *testing.B) {
				r := 0.5
				if name == "hadamard" {
					r = 0.005
				}
				p := mixtureProblem(b, name, decoder, 256, r, 3)
				p.Kind = montecarlo.IndependentLogits
				const samples = 1 << 15
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
