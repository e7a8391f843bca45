package plots

import (
	"cmp"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// inLevels is what errors are by default.
const inLevels = "|error| (levels)"

// CompareData is the expected error of several codes.
type CompareData struct {
	Title   string
	Expects string // what the errors are, with their unit; "" for |error| (levels)
	Rows    []CompareRow
	Style   Style
}

// CompareRow is the error of a code; NaN where there is none. A mean without a standard error has
// no bar.
type CompareRow struct {
	Name                       string
	Bound, Exact, Mean, StdErr float64
}

// Compare draws a row of marks for each code, the first at the top: bound, exact value and sampled
// mean with its standard error, on a logarithmic axis.
func Compare(d CompareData) (*Figure, error) {
	for _, r := range d.Rows {
		if err := checkErrors(r.Name, true, r.Bound, r.Exact, r.Mean, r.StdErr); err != nil {
			return nil, fmt.Errorf("comparison: %w", err)
		}
	}
	p := newPlot(d.Style, "expected "+cmp.Or(d.Expects, inLevels), "")
	p.Add(grid())
	var errors []float64
	for _, r := range d.Rows {
		errors = append(errors, r.Bound, r.Exact, r.Mean)
		if end := r.Mean + r.StdErr; end > 0 { // room for the bar
			errors = append(errors, end)
		}
	}
	on := errorAxis(&p.X, errors...)
	widest := d.setNames(p)
	key := d.addMarks(p, on)
	// Names stand beside the plot and do not make it narrower.
	width := max(d.Style.width(), widest+d.Style.of(4))
	title := d.Style.heading(d.Title, width-vg.Points(16))
	fig := &Figure{
		width: width, style: d.Style,
		height: vg.Length(1.2+0.26*float64(max(len(d.Rows), 3))) * vg.Inch,
		draw: func(c draw.Canvas) {
			c = draw.Crop(c, vg.Points(6), -vg.Points(10), vg.Points(4), -vg.Points(5))
			p.Draw(drawKey(title.draw(c), p, key))
		},
	}
	if d.Style.Place != "" {
		page := d.Style.page()
		fig.scale = min(page.scale, page.width*float64(vg.Inch/width)) // with the room for names
	}
	return fig, nil
}

// setNames sets the axis of the rows, and returns the width of the widest name.
func (d CompareData) setNames(p *plot.Plot) (widest vg.Length) {
	p.Y.Min, p.Y.Max = -float64(len(d.Rows))+0.5, 0.5
	p.Y.Tick.Length = 0
	names := make(plot.ConstantTicks, len(d.Rows)) // the first at 0 and the others below
	for i, r := range d.Rows {
		names[i] = plot.Tick{Value: -float64(i), Label: abridge(p.Y.Tick.Label, r.Name, maxName)}
		widest = max(widest, p.Y.Tick.Label.Width(names[i].Label))
	}
	p.Y.Tick.Marker = names
	return widest
}

// addMarks adds the marks of all rows, and returns their key. on returns the place of an error
// on the axis.
func (d CompareData) addMarks(p *plot.Plot, on func(v float64) float64) (key []series) {
	add := func(name string, glyph draw.GlyphStyle, value func(r CompareRow) float64) {
		s := &plotter.Scatter{GlyphStyle: glyph}
		for i, r := range d.Rows {
			if v := value(r); !math.IsNaN(v) {
				s.XYs = append(s.XYs, plotter.XY{X: on(v), Y: -float64(i)})
			}
		}
		if len(s.XYs) > 0 {
			p.Add(s)
			key = append(key, series{name: name, glyph: glyph, line: invisible})
		}
	}
	add("bound", draw.GlyphStyle{Color: grey, Radius: vg.Points(4), Shape: draw.TriangleGlyph{}},
		func(r CompareRow) float64 { return r.Bound })
	sampled := points{glyph: draw.GlyphStyle{Color: vermillion, Radius: vg.Points(3), Shape: draw.RingGlyph{}},
		bar: vg.Points(0.8), horizontal: true}
	for i, r := range d.Rows {
		if math.IsNaN(r.StdErr) {
			r.StdErr = 0 // a point without a bar
		}
		if !math.IsNaN(r.Mean) {
			sampled.at = append(sampled.at, Point{X: on(r.Mean), Y: -float64(i), Lo: on(r.Mean - r.StdErr),
				Hi: on(r.Mean + r.StdErr)})
		}
	}
	p.Add(sampled)
	add("exact", draw.GlyphStyle{Color: blue, Radius: vg.Points(4.5), Shape: draw.PlusGlyph{}},
		func(r CompareRow) float64 { return r.Exact })
	if len(sampled.at) > 0 {
		key = append(key, series{name: "sampled ± standard error", glyph: sampled.glyph, line: invisible})
	}
	return key
}

// maxName is the room for the name of a code: about a hundred letters. Longer names lose
// their middle, because paths differ at one end or the other.
const maxName = 6 * vg.Inch

// invisible is a line style for entries of the key that show a glyph only.
var invisible = draw.LineStyle{Color: color.Transparent, Width: 1}
