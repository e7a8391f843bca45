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

// CompareData is the expected error of several codes, in levels.
type CompareData struct {
	Title        string
	Names        []string
	Bound, Exact []float64 // NaN where there is none
	Mean, StdErr []float64
}

// Compare draws a row of marks for each code, the first at the top: bound,
// exact value and sampled mean with its standard error. The axis is logarithmic
// where the values differ by more than a factor of 30.
func Compare(d CompareData) (*Figure, error) {
	n := len(d.Names)
	if n == 0 {
		return nil, fmt.Errorf("comparison: no codes")
	}
	lo, hi := math.Inf(1), 0.0
	for name, values := range map[string][]float64{"the bound": d.Bound, "the exact value": d.Exact, "the sampled mean": d.Mean, "its standard error": d.StdErr} {
		if err := checkFinite(name, values, n, true); err != nil {
			return nil, fmt.Errorf("comparison: %w", err)
		}
	}
	for _, values := range [][]float64{d.Bound, d.Exact, d.Mean} {
		for _, v := range values {
			if v > 0 {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	p := newPlot(d.Title, "expected |error| (levels)", "")
	p.Add(grid())
	logarithmic := hi > 30*lo
	p.X.Min, p.X.Max = 0, 1.06*hi
	if hi == 0 {
		p.X.Max = 1
	}
	if logarithmic {
		p.X.Min, p.X.Max = lo/1.3, hi*1.3
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, logTicks{}
	}
	p.Y.Min, p.Y.Max = -float64(n)+0.5, 0.5
	p.Y.Tick.Length = 0
	p.Y.Tick.Marker = nameTicks(d.Names)

	drawable := func(v float64) bool { return !math.IsNaN(v) && (v > 0 || !logarithmic) }
	marks := func(values []float64, glyph draw.GlyphStyle) {
		s := &plotter.Scatter{GlyphStyle: glyph}
		for i, v := range values {
			if drawable(v) {
				s.XYs = append(s.XYs, plotter.XY{X: v, Y: -float64(i)})
			}
		}
		if len(s.XYs) > 0 {
			p.Add(s)
		}
	}
	bound := draw.GlyphStyle{Color: grey, Radius: vg.Points(4), Shape: draw.TriangleGlyph{}}
	exact := draw.GlyphStyle{Color: blue, Radius: vg.Points(4.5), Shape: draw.PlusGlyph{}}
	sampled := draw.GlyphStyle{Color: vermillion, Radius: vg.Points(3), Shape: draw.RingGlyph{}}
	marks(d.Bound, bound)
	bars := errorBars{glyph: sampled, horizontal: true}
	for i, v := range d.Mean {
		if drawable(v) {
			bars.at = append(bars.at, valueError{v, -float64(i), d.StdErr[i]})
		}
	}
	p.Add(bars)
	marks(d.Exact, exact)
	key := []series{
		{name: "bound", glyph: bound, line: invisible},
		{name: "exact", glyph: exact, line: invisible},
		{name: "sampled ± standard error", glyph: sampled, line: invisible},
	}
	return &Figure{
		width: 6.3 * vg.Inch, height: vg.Length(1.2+0.26*float64(max(n, 3))) * vg.Inch,
		draw: func(c draw.Canvas) {
			c.FillPolygon(color.White, corners(c.Rectangle))
			c = draw.Crop(c, vg.Points(6), -vg.Points(10), vg.Points(4), -vg.Points(5))
			p.Draw(drawKey(c, key))
		},
	}, nil
}

// invisible is a line style for keys of bare glyphs.
var invisible = draw.LineStyle{Color: color.Transparent, Width: 1}

// nameTicks labels the rows, the first at 0 and the others below.
type nameTicks []string

// Ticks implements plot.Ticker.
func (t nameTicks) Ticks(_, _ float64) []plot.Tick {
	out := make([]plot.Tick, len(t))
	for i, name := range t {
		if runes := []rune(name); len(runes) > 40 {
			name = "…" + string(runes[len(runes)-39:])
		}
		out[i] = plot.Tick{Value: -float64(i), Label: name}
	}
	return out
}
