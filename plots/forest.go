package plots

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ForestData are ratios with their intervals, a row for each.
type ForestData struct {
	Title, XLabel string
	Rows          []ForestRow // in any order
	Style         Style
}

// ForestRow is a ratio to what the reader has, with its interval, all positive. Note is secondary:
// it stands in smaller letters behind the name. Text says the numbers, where the figure has room
// for it.
type ForestRow struct {
	Name, Note, Text string
	Ratio, Lo, Hi    float64
	Yours            bool // what the reader has
}

// farthest is the largest factor from 1 on the axis. Rows beyond it have an arrow at its end.
const farthest = 6

// Forest draws a row for each ratio, the smallest at the top, on a logarithmic axis with a line at
// 1.
func Forest(d ForestData) (*Figure, error) {
	rows := slices.Clone(d.Rows)
	slices.SortStableFunc(rows, func(a, b ForestRow) int { return cmp.Compare(a.Ratio, b.Ratio) })
	lo, hi := 1.0, 1.0
	for _, r := range rows {
		if !(r.Lo >= 1/largest && r.Lo <= r.Ratio && r.Ratio <= r.Hi && r.Hi <= largest) {
			return nil, fmt.Errorf("forest plot: the ratio %v of %s, from %v to %v; want positive finite numbers that ascend", r.Ratio, r.Name, r.Lo, r.Hi)
		}
		lo, hi = min(lo, r.Lo), max(hi, r.Hi)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("forest plot: no rows")
	}
	p := newPlot(d.Style, d.XLabel, "")
	p.HideY()
	p.X.Min, p.X.Max = math.Log10(max(lo, 1.0/farthest)), math.Log10(min(hi, farthest))
	margin := max(0.03*(p.X.Max-p.X.Min), 0.01)
	p.X.Min, p.X.Max = p.X.Min-margin, p.X.Max+margin
	p.X.Tick.Marker = plot.TickerFunc(logTicks)
	p.BackgroundColor = nil // stripes are behind it
	p.Add(grid())
	p.Y.Tick.Marker = plot.ConstantTicks{}
	const rowHeight, axisHeight = 13, 62
	height := vg.Points(rowHeight*float64(len(rows)) + axisHeight)
	return d.Style.titled(d.Title, height, func(c draw.Canvas) { drawForest(c, p, rows, d.Style.column()) }), nil
}

// drawForest draws the rows between their names and their texts. A column has no room for texts.
func drawForest(c draw.Canvas, p *plot.Plot, rows []ForestRow, column bool) {
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
	row := (area.Max.Y - area.Min.Y) / vg.Length(len(rows))
	middle := func(i int) vg.Length { return area.Max.Y - (vg.Length(i)+0.5)*row }
	for i := range rows {
		if stripe := area.Rectangle; i%2 == 1 { // they lead the eye from a name to its row
			stripe.Min.X, stripe.Max.X = c.Min.X, c.Max.X
			stripe.Min.Y, stripe.Max.Y = middle(i)-row/2, middle(i)+row/2
			c.FillPolygon(stripes, corners(stripe))
		}
	}
	p.Draw(axes)
	tx, _ := p.Transforms(&area)
	equal := draw.LineStyle{Color: grey, Width: vg.Points(1), Dashes: []vg.Length{vg.Points(4), vg.Points(3)}}
	c.StrokeLine2(equal, tx(0), area.Min.Y, tx(0), area.Max.Y)
	for i, r := range rows {
		y := middle(i)
		drawRatio(area, p, r, y)
		y += vg.Points(1) // letters without descenders stand low
		c.FillText(name, vg.Point{X: c.Min.X, Y: y}, abridge(name, r.Name, names))
		c.FillText(note, vg.Point{X: c.Min.X + names + vg.Points(gap), Y: y}, abridge(note, r.Note, notes))
		if texts > 0 {
			text := name
			text.XAlign = draw.XRight
			c.FillText(text, vg.Point{X: c.Max.X, Y: y}, r.Text)
		}
	}
}

// stripes is the background of every second row.
var stripes = color.NRGBA{R: 243, G: 243, B: 243, A: 255}

// drawRatio draws a ratio and its interval at a height. An arrow at an end of the axis says that
// they go on.
func drawRatio(c draw.Canvas, p *plot.Plot, r ForestRow, y vg.Length) {
	glyph := draw.GlyphStyle{Color: blue, Radius: vg.Points(2.8), Shape: draw.CircleGlyph{}}
	if r.Yours {
		glyph = draw.GlyphStyle{Color: vermillion, Radius: vg.Points(3.4), Shape: draw.BoxGlyph{}}
	}
	tx, _ := p.Transforms(&c)
	on := func(v float64) vg.Length { return tx(min(max(math.Log10(v), p.X.Min), p.X.Max)) }
	c.StrokeLine2(draw.LineStyle{Color: glyph.Color, Width: vg.Points(1.1)}, on(r.Lo), y, on(r.Hi), y)
	arrow := func(tip, back vg.Length) {
		c.FillPolygon(glyph.Color, []vg.Point{{X: tip, Y: y}, {X: tip + 2*back, Y: y - back},
			{X: tip + 2*back, Y: y + back}})
	}
	if math.Log10(r.Lo) < p.X.Min {
		arrow(c.Min.X, vg.Points(2.2))
	}
	if math.Log10(r.Hi) > p.X.Max {
		arrow(c.Max.X, -vg.Points(2.2))
	}
	if at := math.Log10(r.Ratio); at >= p.X.Min && at <= p.X.Max {
		c.DrawGlyph(glyph, vg.Point{X: on(r.Ratio), Y: y})
	}
}

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
