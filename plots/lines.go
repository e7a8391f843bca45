package plots

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// LinesData has several quantities of every level.
type LinesData struct {
	Title, YLabel string
	XLabel        string    // "level n" where it is ""
	Level         []float64 // ascending
	Lines         []NamedLine
	Style         Style
}

// NamedLine is one quantity.
type NamedLine struct {
	Name   string
	Values []float64
}

// Lines draws quantities of every level. The paper's Figure 7 shows the quantities that
// BEL-J adds up in this way. Lines differ in colour, dash and weight. A single quantity has points, and no key.
func Lines(d LinesData) (*Figure, error) {
	x, err := newAxis("level", d.Level, false)
	if err != nil {
		return nil, fmt.Errorf("lines: %w", err)
	}
	styles := []draw.LineStyle{
		{Color: blue, Width: vg.Points(1.3), Dashes: []vg.Length{vg.Points(6), vg.Points(2.5)}},
		{Color: vermillion, Width: vg.Points(1.3), Dashes: []vg.Length{vg.Points(2), vg.Points(2)}},
		{Color: grey, Width: vg.Points(1.3), Dashes: []vg.Length{vg.Points(7), vg.Points(2), vg.Points(1.5),
			vg.Points(2)}},
		{Color: black, Width: vg.Points(2)},
	}
	p := newPlot(d.Style, cmp.Or(d.XLabel, "level n"), d.YLabel)
	p.Add(grid())
	lo, hi := 0.0, 0.0 // from zero on, so that shares can be compared
	key := make([]series, len(d.Lines))
	for i, l := range slices.Backward(d.Lines) { // dashed lines are drawn above the lines that they lie on
		line := make(plotter.XYs, len(l.Values))
		for j, v := range l.Values {
			line[j] = plotter.XY{X: d.Level[j], Y: v}
			lo, hi = min(lo, v), max(hi, v)
		}
		if len(key) > 1 {
			p.Add(&plotter.Line{XYs: line, LineStyle: styles[i]})
			key[i] = series{name: l.Name, line: styles[i]}
		} else {
			dot := draw.GlyphStyle{Color: blue, Radius: vg.Points(2), Shape: draw.CircleGlyph{}}
			p.Add(&plotter.Scatter{XYs: line, GlyphStyle: dot})
			key = nil
		}
	}
	if x.set(&p.X); d.XLabel == "" {
		p.X.Tick.Marker = plot.TickerFunc(levelTicks)
	}
	margin := 0.04 * (hi - lo)
	if margin == 0 {
		margin = 1
	}
	p.Y.Min, p.Y.Max = lo-margin, hi+margin
	return d.Style.keyed(d.Title, p, key, d.Style.of(4)), nil
}
