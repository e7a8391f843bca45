package paper_test

import (
	"math"
	"strings"
	"testing"

	"belsim/montecarlo/scenario"
	"belsim/plots"
	"belsim/plots/paper"
)

// TestMapData: a map shows ratios of errors, and its words name the codes.
func TestMapData(t *testing.T) {
	m := &scenario.Map{A: "unary", B: "johnson", DecoderA: "bel-u", DecoderB: "bel-j"}
	m.Axes = scenario.AxesOf(scenario.Mixtures, []float64{1, 2, 3, 4}, []float64{1})
	for _, v := range []float64{-50, 300, math.NaN(), -100} {
		m.Cells = append(m.Cells, scenario.Cell{Increase: v})
	}
	d := paper.MapData(m, scenario.New(scenario.Mixture{R: 1, Sigma: 1}), nil, plots.Style{})
	if z := d.Z[0]; z[0] != 0.5 || z[1] != 4 || !math.IsNaN(z[2]) || z[3] != 0 {
		t.Errorf("ratios %v", z)
	}
	if !strings.HasPrefix(d.Title, "unary (bel-u) and johnson (bel-j): ") || !strings.Contains(d.Below, "unary is smaller") || !strings.Contains(d.Above, "johnson is smaller") {
		t.Errorf("words %q, %q, %q", d.Title, d.Below, d.Above)
	}
}
