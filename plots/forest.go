package plots

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ForestData are ratios with their intervals, a row for each.
type ForestData struct {
	Title, XLabel string
	Rows          []ForestRow // in any order
	Direct        float64     // the ratio of direct regression; 0: none
	Style         Style
}

// ForestRow is a ratio to what the reader has, with its interval, all positive; a ratio of 0, or
// that does not exist, has no place on the axis. Note is secondary: it stands in smaller letters
// behind the name. Text says the numbers, where the figure has room for it.
type ForestRow struct {
	Name, Note, Text string
	Ratio, Lo, Hi    float64
	Yours            bool // what the reader has
}

// placed reports whether the row has a place on the axis.
func (r ForestRow) placed() bool { return r.Ratio != 0 && !math.IsNaN(r.Ratio) }

// farthest is the largest factor from 1 on the axis. Rows beyond it have an arrow at its end.
const farthest = 6

// Forest draws a row for each ratio, the smallest at the top, on a logarithmic axis with a line at
// 1. A line with its name above the rows stands at direct regression, if the axis reaches it.
func Forest(d ForestData) (*Figure, error) {
	rows := slices.Clone(d.Rows)
	slices.SortStableFunc(rows, func(a, b ForestRow) int { return cmp.Compare(a.Ratio, b.Ratio) })
	lo, hi := 1.0, 1.0
	for _, r := range rows {
		if !r.placed() {
			continue
		}
		if !(r.Lo >= 1/largest && r.Lo <= r.Ratio && r.Ratio <= r.Hi && r.Hi <= largest) {
			return nil, fmt.Errorf("forest plot: %s from %v, %v, to %v; want positive finite numbers that ascend",
				r.Name, r.Lo, r.Ratio, r.Hi)
		}
		lo, hi = min(lo, r.Lo), max(hi, r.Hi)
	}
	above := 0.0 // room above the rows for the name of direct regression, in rows
	if d.Direct <= farthest && d.Direct >= 1.0/farthest {
		above, lo, hi = 0.75, min(lo, d.Direct), max(hi, d.Direct)
	}
	p := newPlot(d.Style, d.XLabel, "")
	p.HideY()
	p.Y.Min, p.Y.Max = 0.5-float64(len(rows)), 0.5+above // the first row at 0, and the others below
	p.X.Min, p.X.Max = math.Log10(max(lo, 1.0/farthest)), math.Log10(min(hi, farthest))
	margin := max(0.03*(p.X.Max-p.X.Min), 0.01)
	p.X.Min, p.X.Max = p.X.Min-margin, p.X.Max+margin
	p.X.Tick.Marker = plot.TickerFunc(logTicks)
	p.BackgroundColor = nil // stripes are behind it
	p.Add(grid())
	if above > 0 {
		addBaseline(p, "direct regression", math.Log10(d.Direct), above)
	}
	const rowHeight, axisHeight = 13, 62
	height := vg.Points(rowHeight*(float64(len(rows))+above) + axisHeight)
	return d.Style.titled(d.Title, height, func(c draw.Canvas) draw.Canvas {
		return drawForest(c, p, rows, d.Style.column())
	}), nil
}

// drawForest draws the rows between their names and their texts. A column has no room for texts.
func drawForest(c draw.Canvas, p *plot.Plot, rows []ForestRow, column bool) draw.Canvas {
	name, note := styleOf(p, 9.5), styleOf(p, 8.5)
	note.Color = grey
	name.YAlign, note.YAlign = draw.YCenter, draw.YCenter
	const gap = 6
	var names, notes, texts vg.Length
	for _, r := range rows {
		names = max(names, min(name.Width(r.Name), c.Size().X/3))
		notes = max(notes, min(note.Width(r.Note), c.Size().X/4))
		texts = max(texts, name.Width(r.Text))
	}
	if column {
		texts = 0
	}
	axes := draw.Crop(c, names+notes+vg.Points(2*gap), -texts-vg.Points(gap), 0, 0)
	area := p.DataCanvas(axes)
	tx, ty := p.Transforms(&area)
	for i := range rows {
		if stripe := area.Rectangle; i%2 == 1 { // they lead the eye from a name to its row
			stripe.Min = vg.Point{X: c.Min.X, Y: ty(-float64(i) - 0.5)}
			stripe.Max = vg.Point{X: c.Max.X, Y: ty(0.5 - float64(i))}
			c.FillPolygon(stripes, corners(stripe))
		}
	}
	p.Draw(axes)
	equal := draw.LineStyle{Color: grey, Width: vg.Points(1), Dashes: []vg.Length{vg.Points(4), vg.Points(3)}}
	c.StrokeLine2(equal, tx(0), area.Min.Y, tx(0), ty(0.5)) // below the names of baselines
	ratios := points{bar: vg.Points(1.1), horizontal: true}
	for i, r := range rows {
		ratios.glyph = draw.GlyphStyle{Color: blue, Radius: vg.Points(2.8), Shape: draw.CircleGlyph{}}
		if r.Yours {
			ratios.glyph = draw.GlyphStyle{Color: vermillion, Radius: vg.Points(3.4), Shape: draw.BoxGlyph{}}
		}
		if r.placed() {
			ratios.at = []Point{{X: math.Log10(r.Ratio), Y: -float64(i), Lo: math.Log10(r.Lo), Hi: math.Log10(r.Hi)}}
			ratios.Plot(area, p)
		}
		y := ty(-float64(i)) + vg.Points(1) // letters without descenders stand low
		c.FillText(name, vg.Point{X: c.Min.X, Y: y}, abridge(name, r.Name, names))
		c.FillText(note, vg.Point{X: c.Min.X + names + vg.Points(gap), Y: y}, abridge(note, r.Note, notes))
		if texts > 0 {
			text := name
			text.XAlign = draw.XRight
			c.FillText(text, vg.Point{X: c.Max.X, Y: y}, r.Text)
		}
	}
	return c
}

// stripes is the background of every second row.
var stripes = color.NRGBA{R: 243, G: 243, B: 243, A: 255}

// Stack puts figures of one style below each other.
func Stack(figures ...*Figure) *Figure {
	whole := *figures[0]
	whole.height = 0
	for _, f := range figures {
		whole.width, whole.height = max(whole.width, f.width), whole.height+f.height
	}
	whole.draw = func(c draw.Canvas) {
		for _, f := range figures {
			c.Min.Y = c.Max.Y - f.height
			f.draw(c)
			c.Max.Y = c.Min.Y
		}
	}
	return &whole
}

// addBaseline adds a line at a place. Its name stands beside its upper end, on the side with more room.
func addBaseline(p *plot.Plot, name string, at, above float64) {
	line := draw.LineStyle{Color: black, Width: vg.Points(0.8), Dashes: []vg.Length{vg.Points(4), vg.Points(2.5)}}
	gap, style := vg.Points(4), styleOf(p, 9)
	style.YAlign = draw.YCenter
	if at > (p.X.Min+p.X.Max)/2 {
		style.XAlign, gap = draw.XRight, -gap
	}
	p.Add(&plotter.Line{XYs: plotter.XYs{{X: at, Y: p.Y.Min}, {X: at, Y: p.Y.Max}}, LineStyle: line},
		&plotter.Labels{XYs: plotter.XYs{{X: at, Y: p.Y.Max - above/2}}, Labels: []string{name},
			TextStyle: []draw.TextStyle{style}, Offset: vg.Point{X: gap}})
}
