package plots

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// VerifyData is the expected |error| of each label by three methods, in levels.
type VerifyData struct {
	Title        string
	Level        []float64 // ascending
	Bound, Exact []float64 // nil, or NaN where there is none
	Mean, StdErr []float64 // sampled
}

// Verify draws the paper's Figure 10: the expected error of every label, by
// bound, exact value and samples with their standard errors. Below it, where
// there are exact values, how many standard errors the samples are away from
// them: the standard errors themselves are mostly too small to see.
func Verify(d VerifyData) (*Figure, error) {
	x, err := newAxis("level", d.Level, false)
	if err != nil {
		return nil, fmt.Errorf("verification plot: %w", err)
	}
	n := len(d.Level)
	for name, values := range map[string][]float64{"the sampled mean": d.Mean, "its standard error": d.StdErr} {
		if err := checkFinite(name, values, n, false); err != nil {
			return nil, fmt.Errorf("verification plot: %w", err)
		}
	}
	for name, values := range map[string][]float64{"the bound": d.Bound, "the exact value": d.Exact} {
		if values == nil {
			continue
		}
		if err := checkFinite(name, values, n, true); err != nil {
			return nil, fmt.Errorf("verification plot: %w", err)
		}
	}

	p := newPlot(d.Title, "level n", "expected |error| (levels)")
	p.Add(grid())
	var key []series
	top := 0.0
	add := func(name string, values []float64, style draw.LineStyle) {
		drawn := false
		for _, line := range unbroken(d.Level, values) {
			p.Add(&plotter.Line{XYs: line, LineStyle: style})
			drawn = true
			for _, at := range line {
				top = max(top, at.Y)
			}
		}
		if drawn {
			key = append(key, series{name: name, line: style})
		}
	}
	add("bound", d.Bound, draw.LineStyle{Color: grey, Width: vg.Points(1.3), Dashes: []vg.Length{vg.Points(5), vg.Points(2.5)}})
	add("exact", d.Exact, draw.LineStyle{Color: blue, Width: vg.Points(1.6)})
	glyph := draw.GlyphStyle{Color: vermillion, Radius: vg.Points(glyphRadius(n)), Shape: draw.RingGlyph{}}
	points := errorBars{at: make([]valueError, n), glyph: glyph}
	for i := range n {
		points.at[i] = valueError{d.Level[i], d.Mean[i], d.StdErr[i]}
		top = max(top, d.Mean[i]+d.StdErr[i])
	}
	p.Add(points)
	key = append(key, series{name: "sampled ± standard error", glyph: glyph})
	x.set(&p.X)
	p.Y.Min, p.Y.Max = 0, 1.05*top
	if top == 0 {
		p.Y.Max = 1
	}

	fig := &Figure{width: 6.3 * vg.Inch, height: 4.2 * vg.Inch}
	z := deviations(d)
	if z == nil {
		fig.draw = func(c draw.Canvas) {
			c.FillPolygon(color.White, corners(c.Rectangle))
			c = draw.Crop(c, vg.Points(4), -vg.Points(10), vg.Points(4), -vg.Points(5))
			p.Draw(drawKey(c, key))
		}
		return fig, nil
	}
	fig.height = 5.2 * vg.Inch
	q := newPlot("", "level n", "(sampled − exact) / s.e.")
	q.Y.Label.TextStyle.Font.Size = vg.Points(9.5)
	q.Add(grid())
	reach := 3.5
	for _, at := range z {
		reach = max(reach, 1.1*math.Abs(at.Y))
	}
	q.Add(&plotter.Line{XYs: plotter.XYs{{X: x.value(-0.5), Y: 0}, {X: x.value(float64(n) - 0.5), Y: 0}}, LineStyle: draw.LineStyle{Color: blue, Width: vg.Points(1)}})
	q.Add(&plotter.Scatter{XYs: z, GlyphStyle: glyph})
	x.set(&q.X)
	q.Y.Min, q.Y.Max = -reach, reach
	p.X.Label.Text = ""
	fig.draw = func(c draw.Canvas) {
		c.FillPolygon(color.White, corners(c.Rectangle))
		c = draw.Crop(c, vg.Points(4), -vg.Points(10), vg.Points(4), -vg.Points(5))
		c = drawKey(c, key)
		height := c.Max.Y - c.Min.Y
		upper := draw.Crop(c, 0, 0, 0.36*height, 0)
		lower := draw.Crop(c, 0, 0, 0, -0.66*height)
		// The numbers of the two axes differ in width: shift the narrower one,
		// so that the levels stand above each other.
		shift := p.DataCanvas(upper).Min.X - q.DataCanvas(lower).Min.X
		upper.Min.X += max(0, -shift)
		lower.Min.X += max(0, shift)
		p.Draw(upper)
		q.Draw(lower)
	}
	return fig, nil
}

// glyphRadius makes room for many points.
func glyphRadius(n int) float64 {
	return max(0.9, min(2.4, 300/float64(n)))
}

func grid() *plotter.Grid {
	line := draw.LineStyle{Color: paleGrey, Width: vg.Points(0.5)}
	return &plotter.Grid{Horizontal: line, Vertical: line}
}

// unbroken splits a line where it has no value.
func unbroken(x, y []float64) []plotter.XYs {
	var lines []plotter.XYs
	broken := true
	for i := range y {
		if math.IsNaN(y[i]) {
			broken = true
			continue
		}
		if broken {
			lines = append(lines, nil)
			broken = false
		}
		last := &lines[len(lines)-1]
		*last = append(*last, plotter.XY{X: x[i], Y: y[i]})
	}
	return lines
}

// deviations are in standard errors; nil where nothing is exact.
func deviations(d VerifyData) plotter.XYs {
	var out plotter.XYs
	for i, exact := range d.Exact {
		if !math.IsNaN(exact) && d.StdErr[i] > 0 {
			out = append(out, plotter.XY{X: d.Level[i], Y: (d.Mean[i] - exact) / d.StdErr[i]})
		}
	}
	return out
}

type valueError struct{ x, y, err float64 }

// errorBars draws points with vertical bars of one standard error either way.
type errorBars struct {
	at         []valueError
	glyph      draw.GlyphStyle
	horizontal bool // bars along x
}

// Plot implements plot.Plotter.
func (e errorBars) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	bar := draw.LineStyle{Color: e.glyph.Color, Width: vg.Points(0.8)}
	for _, at := range e.at {
		if e.horizontal {
			y := ty(at.y)
			c.StrokeLine2(bar, tx(max(at.x-at.err, p.X.Min)), y, tx(min(at.x+at.err, p.X.Max)), y)
		} else {
			x := tx(at.x)
			c.StrokeLine2(bar, x, ty(at.y-at.err), x, ty(at.y+at.err))
		}
		c.DrawGlyph(e.glyph, vg.Point{X: tx(at.x), Y: ty(at.y)})
	}
}
