// Package paper draws results as the figures of Shah, Xue and Aamodt (ICLR 2022), and lists
// all figures of the paper with the computations behind them.
//
// The functions whose names end in Data turn results of packages scenario and verdict into the
// plain data that package plots draws. Figures lists the figures of the paper.
package paper

import (
	"fmt"
	"math"

	"belsim/montecarlo/scenario"
	"belsim/montecarlo/table"
	"belsim/montecarlo/verdict"
	"belsim/plots"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// CompareData returns the data of the figure of a comparison.
func CompareData(c *scenario.Comparison, model string, size plots.Size) plots.CompareData {
	d := plots.CompareData{Title: fmt.Sprintf("%d levels, %s", c.Levels, model), Size: size}
	for _, r := range c.Results {
		name := r.Code + " (" + r.Decoder
		if r.Outputs == scenario.Logits {
			name += ", logits"
		}
		if r.Training != "" && c.Training == "" {
			name += ", " + scenario.Trained(r.Training)
		}
		d.Names = append(d.Names, name+")")
		d.Bound = append(d.Bound, float64(r.Bound))
		d.Exact = append(d.Exact, float64(r.Exact))
		d.Mean = append(d.Mean, float64(r.Mean))
		d.StdErr = append(d.StdErr, float64(r.StdErr))
	}
	return d
}

// VerifyData returns the data of the figure of a verification.
func VerifyData(v *scenario.Verification, model string, size plots.Size) plots.VerifyData {
	d := plots.VerifyData{Title: fmt.Sprintf("%s, %d levels, %s, %s", v.Code, v.Levels, v.Decoder, model), Size: size}
	for _, l := range v.Labels {
		d.Level = append(d.Level, float64(l.Level))
		d.Bound = append(d.Bound, float64(l.Bound))
		d.Exact = append(d.Exact, float64(l.Exact))
		d.Mean = append(d.Mean, float64(l.Mean))
		d.StdErr = append(d.StdErr, float64(l.StdErr))
	}
	return d
}

// CodeTitle is the title of a code's picture.
func CodeTitle(c *code.Code) string {
	return fmt.Sprintf("%s, %d levels, %d bits", c.Name(), c.Levels(), c.Bits())
}

// CodeMatrixData returns the data of the figure of a code.
func CodeMatrixData(c *code.Code, title string, size plots.Size) plots.CodeMatrixData {
	return plots.CodeMatrixData{Title: title, Levels: c.Levels(), Bits: c.Bits(), Bit: c.Bit, Size: size}
}

// MapData returns the data of the figure of a map.
func MapData(m *scenario.Map, s *scenario.Scenario, fit *verdict.Fit, decoder string, size plots.Size) plots.HeatmapData {
	if decoder != decode.Auto {
		decoder = ", " + decoder
	} else {
		decoder = ""
	}
	d := IncreaseData(m, size)
	d.Title = fmt.Sprintf("A = %s, B = %s: %s, %d levels%s%s", m.A, m.B, m.Method.Text(), m.Levels, decoder, s.Unusual())
	d.Mark = markOf(fit)
	return d
}

// IncreaseData returns the data of the figure of the increase of A's error over B's, in
// percent.
func IncreaseData(m *scenario.Map, size plots.Size) plots.HeatmapData {
	z := m.Increases()
	rows := make([][]float64, len(m.Y()))
	for i := range rows {
		rows[i] = z.RawRowView(i)
	}
	x, y := m.Plane.Titles()
	return plots.HeatmapData{
		X: m.X(), Y: m.Y(), XLog: m.LogX, YLog: m.LogY, Z: rows, Size: size,
		XLabel: x, YLabel: y, ZLabel: "increase of error from B to A (%)",
		Positive: "B is better", Negative: "A is better", Blank: "invalid: e > 1",
	}
}

// markOf is a fit as a point of a map, nil without one. An interval without an end reaches to
// the edge.
func markOf(fit *verdict.Fit) *plots.Mark {
	if fit == nil {
		return nil
	}
	m := &plots.Mark{X: float64(fit.R), Y: float64(fit.Sigma), XHi: math.Inf(1), YHi: math.Inf(1)}
	set := func(end *float64, n table.Number) {
		if !n.IsMissing() {
			*end = float64(n)
		}
	}
	set(&m.XLo, fit.RInterval[0])
	set(&m.XHi, fit.RInterval[1])
	set(&m.YLo, fit.SigmaInterval[0])
	set(&m.YHi, fit.SigmaInterval[1])
	return m
}

// nothing was sampled.
func CellColumns(m *scenario.Map) []table.Option {
	without := table.Without(m.Plane.Missing()...)
	if m.Method == scenario.Sample {
		return []table.Option{without}
	}
	return []table.Option{without, table.Without("a_stderr", "b_stderr", "increase_stderr")}
}

// BitProfiles are profiles as they are drawn.
func BitProfiles(profiles ...verdict.Profile) []plots.BitProfile {
	out := make([]plots.BitProfile, len(profiles))
	for i, p := range profiles {
		out[i] = plots.BitProfile(p)
	}
	return out
}
