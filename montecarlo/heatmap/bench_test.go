package heatmap_test

import (
	"testing"

	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/montecarlo/heatmap"
	"belsim/theory/base/must"
	"belsim/theory/code"
)

// BenchmarkPaper computes the paper's map, bounds and exact values, on one goroutine.
func BenchmarkPaper(b *testing.B) {
	for b.Loop() {
		s := scenario.New(nil)
		var codes [2]*code.Code
		for i, name := range heatmap.PaperCodes() {
			codes[i] = must.Get(code.New(name, heatmap.PaperLevels))(b)
		}
		q := heatmap.Question{Codes: codes, Decoder: "auto"}
		q.R, q.Sigma = heatmap.PaperAxes(30)
		m := must.Get(heatmap.New(b.Context(), s, q))(b)
		must.Succeed(b, m.Fill(b.Context(), montecarlo.Run{Workers: 1}, montecarlo.Sampling{}))
	}
}
