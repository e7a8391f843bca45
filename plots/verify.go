package plots

import (
	"cmp"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// VerifyData is the expected error of each label by three methods.
type VerifyData struct {
	Title   string
	Expects string // what the errors are, with their unit; "" for |error| in levels
	Labels  []VerifyLabel
	Style   Style
}

// VerifyLabel is the error of a label. Levels ascend. Bound and Exact are NaN where there is none.
type VerifyLabel struct{ Level, Bound, Exact, Mean, StdErr float64 }

// Verify draws the paper's Figure 10: the expected error of every label, by bound, exact
// value and samples with their standard errors. The standard errors are mostly too small
// to see. So, where there are exact values, a lower panel shows the deviation of the samples from
// them, in standard errors. A label whose samples all agree has no standard error, and is not in the
// lower panel.
func Verify(d VerifyData) *Figure {
	upper, key := d.errorPanel()
	z := d.deviations()
	if z == nil {
		return d.Style.keyed(d.Title, upper, key, d.Style.of(4.2))
	}
	lower := d.deviationPanel(z)
	unlabel(&upper.X)
	height := max(d.Style.of(5.2), 4.6*vg.Inch) // room for the lower panel in a column, too
	return d.Style.titled(d.Title, height, func(c draw.Canvas) draw.Canvas {
		c = drawKey(c, upper, key)
		high := c.Size().Y
		at := []draw.Canvas{draw.Crop(c, 0, 0, 0.36*high, 0), draw.Crop(c, 0, 0, 0, -0.66*high)}
		align(at, upper, lower)
		lower.Draw(at[1])
		return drawn(upper, at[0])
	})
}

// errorPanel returns the plot of the errors against the level, and its key.
func (d VerifyData) errorPanel() (*plot.Plot, []series) {
	p := newPlot(d.Style, "level n", "expected "+cmp.Or(d.Expects, "|error| in levels"))
	p.Add(grid())
	var key []series
	top := 0.0
	add := func(name string, value func(l VerifyLabel) float64, style draw.LineStyle) {
		lines := d.unbroken(value)
		for _, line := range lines {
			p.Add(&plotter.Line{XYs: line, LineStyle: style})
			for _, at := range line {
				top = max(top, at.Y)
			}
		}
		if lines != nil {
			key = append(key, series{name: name, line: style})
		}
	}
	sampled := points{glyph: d.glyph(), bar: vg.Points(0.8)}
	for _, l := range d.Labels {
		sampled.at = append(sampled.at, Point{X: l.Level, Y: l.Mean, Lo: max(0, l.Mean-l.StdErr),
			Hi: l.Mean + l.StdErr})
		top = max(top, l.Mean+l.StdErr)
	}
	p.Add(sampled) // behind the lines, which are thinner than the points
	add("bound", func(l VerifyLabel) float64 { return l.Bound }, draw.LineStyle{Color: grey, Width: vg.Points(1),
		Dashes: []vg.Length{vg.Points(5), vg.Points(2.5)}})
	add("exact", func(l VerifyLabel) float64 { return l.Exact }, draw.LineStyle{Color: blue, Width: vg.Points(1)})
	key = append(key, series{name: "sampled ± standard error", glyph: sampled.glyph})
	d.setLevels(&p.X)
	p.Y.Min, p.Y.Max = 0, 1.05*top
	if top == 0 {
		p.Y.Max = 1
	}
	return p, key
}

// deviationPanel returns the plot of the deviations z against the level.
func (d VerifyData) deviationPanel(z plotter.XYs) *plot.Plot {
	p := newPlot(d.Style, "level n", "deviation / s.e.")
	p.Y.Label.TextStyle.Font.Size = vg.Points(9.5)
	p.Add(grid())
	reach := 3.5
	for _, at := range z {
		reach = max(reach, 1.1*math.Abs(at.Y))
	}
	d.setLevels(&p.X)
	zero := draw.LineStyle{Color: blue, Width: vg.Points(1)}
	p.Add(&plotter.Line{XYs: plotter.XYs{{X: p.X.Min}, {X: p.X.Max}}, LineStyle: zero},
		&plotter.Scatter{XYs: z, GlyphStyle: d.glyph()})
	d.setLevels(&p.X) // again, because Add has widened it
	p.Y.Min, p.Y.Max = -reach, reach
	return p
}

// glyph is the mark of a sampled mean, smaller where there are many.
func (d VerifyData) glyph() draw.GlyphStyle {
	radius := max(1.4, min(2.4, 300/float64(len(d.Labels))))
	return draw.GlyphStyle{Color: vermillion, Radius: vg.Points(radius), Shape: draw.RingGlyph{}}
}

// unlabel leaves out the labels of an axis, which stand elsewhere, and keeps its marks.
func unlabel(a *plot.Axis) {
	marker := a.Tick.Marker
	a.Label.Text, a.Label.Padding, a.Tick.Label.Font.Size = "", 0, 1
	a.Tick.Marker = plot.TickerFunc(func(lo, hi float64) []plot.Tick {
		marks := marker.Ticks(lo, hi)
		for i := range marks {
			marks[i].Label = strings.Repeat(" ", min(1, len(marks[i].Label))) // marks without any are smaller
		}
		return marks
	})
}

func grid() *plotter.Grid {
	line := draw.LineStyle{Color: paleGrey, Width: vg.Points(0.5)}
	return &plotter.Grid{Horizontal: line, Vertical: line}
}

// unbroken are the lines of a value of the labels, which end where it is missing.
func (d VerifyData) unbroken(value func(l VerifyLabel) float64) (lines []plotter.XYs) {
	broken := true
	for _, l := range d.Labels {
		y := value(l)
		if !math.IsNaN(y) && broken {
			lines = append(lines, nil)
		}
		if broken = math.IsNaN(y); !broken {
			last := &lines[len(lines)-1]
			*last = append(*last, plotter.XY{X: l.Level, Y: y})
		}
	}
	return lines
}

// maxDeviation is the largest deviation that is drawn, in standard errors. Larger ones are
// drawn at this value, because a tiny standard error may make them infinite.
const maxDeviation = 1e9

// deviations returns the deviations from exact values in standard errors; nil where there are none.
func (d VerifyData) deviations() (z plotter.XYs) {
	for _, l := range d.Labels {
		if !math.IsNaN(l.Exact) && l.StdErr != 0 {
			y := (l.Mean - l.Exact) / l.StdErr
			z = append(z, plotter.XY{X: l.Level, Y: max(-maxDeviation, min(maxDeviation, y))})
		}
	}
	return z
}

// setLevels sets an axis to the levels.
func (d VerifyData) setLevels(p *plot.Axis) {
	p.Min, p.Max = d.Labels[0].Level-0.5, d.Labels[len(d.Labels)-1].Level+0.5
	p.Tick.Marker = plot.TickerFunc(levelTicks)
}
