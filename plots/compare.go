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
	Title     string
	Expects   string // what the errors are, with their unit; "" for |error| (levels)
	Rows      []CompareRow
	Baselines []NamedError
	Style     Style
}

// CompareRow is the error of a code; NaN where there is none. A mean without a standard error has
// no bar.
type CompareRow struct {
	Name                       string
	Bound, Exact, Mean, StdErr float64
}

// NamedError is an error that belongs to no row.
type NamedError struct {
	Name  string
	Value float64 // positive
}

// Compare draws a row of marks for each code, the first at the top: bound, exact value and sampled
// mean with its standard error, on a logarithmic axis. A thin line stands at each baseline, with
// its name above the rows.
func Compare(d CompareData) (*Figure, error) {
	for _, r := range d.Rows {
		if err := checkErrors(r.Name, true, r.Bound, r.Exact, r.Mean, r.StdErr); err != nil {
			return nil, fmt.Errorf("comparison: %w", err)
		}
	}
	for _, b := range d.Baselines {
		if !(b.Value > 1/largest && b.Value <= largest) {
			return nil, fmt.Errorf("comparison: %s is %v; want a positive finite number of at most %g", b.Name, b.Value,
				largest)
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
	for _, b := range d.Baselines {
		errors = append(errors, b.Value)
	}
	on := errorAxis(&p.X, errors...)
	widest := d.setNames(p)
	addBaselines(p, d.Baselines, on)
	key := d.addMarks(p, on)
	// Names stand beside the plot and do not make it narrower.
	width := max(d.Style.width(), widest+d.Style.of(4))
	title := d.Style.heading(d.Title, width-vg.Points(16))
	fig := &Figure{
		width: width, style: d.Style,
		height: vg.Length(1.2+0.26*(float64(max(len(d.Rows), 3))+above(d.Baselines))) * vg.Inch,
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
	p.Y.Min, p.Y.Max = -float64(len(d.Rows))+0.5, 0.5+above(d.Baselines)
	p.Y.Tick.Length = 0
	names := make(plot.ConstantTicks, len(d.Rows)) // the first at 0 and the others below
	for i, r := range d.Rows {
		names[i] = plot.Tick{Value: -float64(i), Label: abridge(p.Y.Tick.Label, r.Name, maxName)}
		widest = max(widest, p.Y.Tick.Label.Width(names[i].Label))
	}
	p.Y.Tick.Marker = names
	return widest
}

// baselineRow is the height of the name of a baseline, in rows.
const baselineRow = 0.75

// above is the room above the rows for the names of baselines, in rows.
func above(baselines []NamedError) float64 { return baselineRow * float64(len(baselines)) }

// addBaselines adds a line for each baseline. The name stands beside its upper end, on the side
// with more room, each in a row of its own.
func addBaselines(p *plot.Plot, baselines []NamedError, on func(v float64) float64) {
	line := draw.LineStyle{Color: black, Width: vg.Points(0.8), Dashes: []vg.Length{vg.Points(4), vg.Points(2.5)}}
	for i, b := range baselines {
		at, top := on(b.Value), 0.5+above(baselines)-baselineRow*float64(i)
		gap, style := vg.Points(4), styleOf(p, 9)
		style.YAlign = draw.YCenter
		if at > (p.X.Min+p.X.Max)/2 {
			style.XAlign, gap = draw.XRight, -gap
		}
		p.Add(&plotter.Line{XYs: plotter.XYs{{X: at, Y: p.Y.Min}, {X: at, Y: top}}, LineStyle: line},
			&plotter.Labels{XYs: plotter.XYs{{X: at, Y: top - baselineRow/2}}, Labels: []string{b.Name},
				TextStyle: []draw.TextStyle{style}, Offset: vg.Point{X: gap}})
	}
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
