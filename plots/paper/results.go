// Package paper draws results as the figures of Shah, Xue and Aamodt (ICLR 2022), and lists
// all figures of the paper with the computations behind them.
//
// The functions whose names end in Data turn results of the packages of montecarlo into the
// plain data that package plots draws. Figures lists the figures of the paper. NetworkFigure and
// WritePage show the report on a trained network.
package paper

import (
	"fmt"
	"math"

	"belsim/errmodel/assess"
	"belsim/montecarlo/compare"
	"belsim/montecarlo/heatmap"
	"belsim/montecarlo/verify"
	"belsim/plots"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// CompareData returns the data of the figure of a comparison.
func CompareData(c *compare.Ranking, model string, style plots.Style) plots.CompareData {
	d := plots.CompareData{Title: fmt.Sprintf("%d levels, %s", c.Levels, model), Expects: c.Measure.Expects, Style: style,
		Line: c.Table().Line}
	for _, r := range c.Results {
		name := r.Code + " (" + r.Decoder
		if r.Outputs == decode.Logits {
			name += ", logits"
		}
		if c.Unlearned(r) {
			name = "! " + name
		}
		d.Rows = append(d.Rows, plots.CompareRow{Name: name + ")", Bound: r.Bound, Exact: r.Exact, Mean: r.Mean,
			StdErr: r.StdErr, AnyLaw: r.AnyLaw, Limit: r.Limit})
	}
	return d
}

// VerifyData returns the data of the figure of a verification.
func VerifyData(v *verify.Report, model string, style plots.Style) plots.VerifyData {
	d := plots.VerifyData{Title: fmt.Sprintf("%s, %d levels, %s, %s", v.Code, v.Levels, v.Decoder, model),
		Expects: v.Measure.Expects, Style: style}
	for _, l := range v.Labels {
		d.Labels = append(d.Labels, plots.VerifyLabel{Level: float64(l.Level), Bound: l.Bound, Exact: l.Exact,
			Mean: l.Mean, StdErr: l.StdErr})
	}
	return d
}

// ConfusionData returns the data of the figure of a confusion matrix.
func ConfusionData(v *verify.Report, model string, style plots.Style) plots.ConfusionData {
	return plots.ConfusionData{Title: fmt.Sprintf("%s answers: %s, %d levels, %s, %s", v.Confusion, v.Code, v.Levels,
		v.Decoder, model), Levels: v.Levels, At: v.Matrix.At, Style: style}
}

// CodeTitle is the title of a code's picture.
func CodeTitle(c *code.Code) string {
	title := fmt.Sprintf("%s, %d levels, %d bits", c.Name(), c.Levels(), c.Bits())
	if constant := c.ConstantColumns(); constant > 0 {
		title += fmt.Sprintf(" (%d constant)", constant)
	}
	return title
}

// CodeMatrixData returns the data of the figure of a code.
func CodeMatrixData(c *code.Code, title string, style plots.Style) plots.CodeMatrixData {
	return plots.CodeMatrixData{Title: title, Levels: c.Levels(), Bits: c.Bits(), Bit: c.Bit, Style: style}
}

// MapData returns the data of the figure of a map, with a panel for each of its methods. fit is the
// network on it, or nil.
func MapData(m *heatmap.Map, fit *assess.Fit, style plots.Style) plots.HeatmapData {
	d := plots.HeatmapData{
		Title: fmt.Sprintf("A = %s (%s), B = %s (%s), %d levels", m.A.Code, m.A.Decoder, m.B.Code, m.B.Decoder,
			m.A.Levels) + m.NotDefault(),
		X: m.R, Y: m.Sigma, XLog: m.LogR, YLog: m.LogSigma, Style: style, XLabel: "r (levels)", YLabel: "σ (levels)",
		ZLabel: heatmap.IncreaseLabel, Blank: "some e > 1", Mark: markOf(fit),
		Below: m.A.Code + " (A) is better", Above: m.B.Code + " (B) is better",
	}
	for _, method := range m.Methods {
		z := m.Increases(method)
		p := plots.HeatmapPanel{Name: m.Title(method), Z: make([][]float64, len(m.Sigma))}
		for i := range p.Z {
			p.Z[i] = z.RawRowView(i)
			for j, percent := range p.Z[i] {
				p.Z[i][j] = 1 + percent/100 // NaN stays
			}
		}
		if s := m.Summary(method); s.Unknown+s.WithoutErrors > 0 {
			d.Blank = "some e > 1, or unknown"
		}
		d.Panels = append(d.Panels, p)
	}
	if len(d.Panels) == 1 {
		d.Title += ": " + d.Panels[0].Name
	}
	return d
}

// markOf is a fit as a point of a map, nil without one. An interval without an end reaches to
// the edge.
func markOf(fit *assess.Fit) *plots.Mark {
	if fit == nil {
		return nil
	}
	m := &plots.Mark{X: fit.R, Y: fit.Sigma, XHi: math.Inf(1), YHi: math.Inf(1)}
	set := func(end *float64, n float64) {
		if !table.Missing(n) {
			*end = n
		}
	}
	set(&m.XLo, fit.RInterval[0])
	set(&m.XHi, fit.RInterval[1])
	set(&m.YLo, fit.SigmaInterval[0])
	set(&m.YHi, fit.SigmaInterval[1])
	return m
}
