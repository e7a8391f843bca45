package plots

import (
	"cmp"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// CompareData is the expected error of several codes.
type CompareData struct {
	Title   string
	Expects string // what the errors are, with their unit; "" for |error| in levels
	Rows    []CompareRow
	Line    int // a line stands above this row; 0 for none
	Style   Style
}

// CompareRow is the error of a code; NaN where there is none. A mean without a standard error has
// no bar.
type CompareRow struct {
	Name                       string
	Bound, Exact, Mean, StdErr float64
	AnyLaw                     *[2]float64 // the ends under any joint law of the bits; nil if unknown
	Limit                      float64     // what no code of the size has less than
}

// Compare draws a row of marks for each code, the first at the top: the ends under any law, bound, exact value
// and sampled mean with its standard error, on a logarithmic axis.
func Compare(d CompareData) *Figure {
	p := newPlot(d.Style, "expected "+cmp.Or(d.Expects, "|error| in levels"), "")
	p.Add(grid())
	var errors []float64
	for _, r := range d.Rows {
		errors = append(errors, r.Bound, r.Exact, r.Mean, r.Limit)
		if end := r.Mean + r.StdErr; end > 0 { // room for the bar
			errors = append(errors, end)
		}
		if r.AnyLaw != nil {
			errors = append(errors, r.AnyLaw[:]...)
		}
	}
	on := errorAxis(&p.X, errors...)
	p.Y.Min, p.Y.Max = -float64(len(d.Rows))+0.5, 0.5
	p.Y.Tick.Length = 0
	names := make(plot.ConstantTicks, len(d.Rows)) // the first at 0 and the others below
	for i, r := range d.Rows {
		names[i] = plot.Tick{Value: -float64(i), Label: abridge(p.Y.Tick.Label, r.Name, d.Style.of(2.5))}
	}
	p.Y.Tick.Marker = names
	if d.Line > 0 {
		at := 0.5 - float64(d.Line)
		p.Add(&plotter.Line{XYs: plotter.XYs{{X: p.X.Min, Y: at}, {X: p.X.Max, Y: at}},
			LineStyle: draw.LineStyle{Color: black, Width: vg.Points(0.6)}})
	}
	key := d.addMarks(p, on)
	return d.Style.keyed(d.Title, p, key, vg.Length(1.2+0.26*float64(max(len(d.Rows), 3)))*vg.Inch)
}

// addMarks adds the marks of all rows, and returns their key. on returns the place of an error
// on the axis.
func (d CompareData) addMarks(p *plot.Plot, on func(v float64) float64) (key []series) {
	ends, bar := points{bar: vg.Points(3), horizontal: true}, invisible
	ends.glyph = draw.GlyphStyle{Color: paleGrey, Shape: draw.PlusGlyph{}}
	for i, r := range d.Rows {
		if r.AnyLaw != nil {
			lo, hi := on(r.AnyLaw[0]), on(r.AnyLaw[1])
			ends.at = append(ends.at, Point{X: lo, Y: -float64(i), Lo: lo, Hi: hi})
		}
	}
	if len(ends.at) > 0 {
		p.Add(ends)
		bar.Color, bar.Width = paleGrey, ends.bar
		key = append(key, series{name: "any law", line: bar})
	}
	for _, of := range []struct {
		name  string
		glyph draw.GlyphStyle
		value func(r CompareRow) (v, stderr float64)
	}{
		{"bound", draw.GlyphStyle{Color: grey, Radius: vg.Points(4), Shape: draw.TriangleGlyph{}},
			func(r CompareRow) (float64, float64) { return r.Bound, 0 }},
		{"sampled ± standard error", draw.GlyphStyle{Color: vermillion, Radius: vg.Points(3), Shape: draw.RingGlyph{}},
			func(r CompareRow) (float64, float64) { return r.Mean, r.StdErr }},
		{"exact", draw.GlyphStyle{Color: blue, Radius: vg.Points(4.5), Shape: draw.PlusGlyph{}},
			func(r CompareRow) (float64, float64) { return r.Exact, 0 }},
		{"limit", draw.GlyphStyle{Color: black, Radius: vg.Points(3), Shape: draw.BoxGlyph{}},
			func(r CompareRow) (float64, float64) { return r.Limit, 0 }},
	} {
		marks := points{glyph: of.glyph, bar: vg.Points(0.8), horizontal: true}
		for i, r := range d.Rows {
			v, stderr := of.value(r)
			if math.IsNaN(stderr) {
				stderr = 0 // a point without a bar
			}
			if !math.IsNaN(v) {
				marks.at = append(marks.at, Point{X: on(v), Y: -float64(i), Lo: on(v - stderr), Hi: on(v + stderr)})
			}
		}
		if len(marks.at) > 0 {
			p.Add(marks)
			key = append(key, series{name: of.name, glyph: of.glyph, line: invisible})
		}
	}
	return key
}

// invisible is a line style for entries of the key that show a glyph only.
var invisible = draw.LineStyle{Color: color.Transparent, Width: 1}
