package paper_test

import (
	"math"
	"strings"
	"testing"

	"belsim/montecarlo/scenario"
	"belsim/plots"
	"belsim/plots/paper"
	"belsim/theory/decode"
)

// TestFactorsOfMaps: increases of more than 200 % are drawn as factors, others in percent, and the title
// names the decoders.
func TestFactorsOfMaps(t *testing.T) {
	of := func(increases ...float64) *scenario.Map {
		m := &scenario.Map{A: "unary", B: "johnson", DecoderA: "bel-u", DecoderB: "bel-j"}
		x := []float64{1, 2, 3, 4}
		m.Axes = scenario.AxesOf(scenario.Mixtures, x[:len(increases)], []float64{1})
		for _, v := range increases {
			m.Cells = append(m.Cells, scenario.Cell{Increase: v})
		}
		return m
	}
	d := paper.IncreaseData(of(-50, 200), plots.Style{})
	if d.Factors || d.Z[0][1] != 200 || !strings.Contains(d.ZLabel, "%") {
		t.Errorf("percents: %+v", d)
	}
	d = paper.IncreaseData(of(-50, 300, math.NaN(), -100), plots.Style{})
	if z := d.Z[0]; !d.Factors || z[0] != -1 || z[1] != 2 || !math.IsNaN(z[2]) || math.IsInf(z[3], 0) || strings.Contains(d.ZLabel, "%") {
		t.Errorf("factors: %+v", d)
	}
	s := scenario.New(scenario.Mixture{R: 1, Sigma: 1})
	for decoder, want := range map[string]string{decode.Auto: "A = unary (bel-u), B = johnson (bel-j): ", "gen": "A = unary, B = johnson: "} {
		d := paper.MapData(of(1, 2), s, nil, decoder, plots.Style{})
		if !strings.HasPrefix(d.Title, want) {
			t.Errorf("%s: title %q", decoder, d.Title)
		}
	}
}
