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

// AgreementData are forecasts of numbers, in groups.
type AgreementData struct {
	Title  string
	XLabel string
	Groups []AgreementGroup
	Style  Style
}

// AgreementGroup has a name, which the key shows.
type AgreementGroup struct {
	Name   string
	Points []Point // numbers X and their forecasts Y with intervals, all positive; points of one name share a row
}

// groupStyles are the glyphs of the groups, which differ in shape, hue and lightness.
var groupStyles = []draw.GlyphStyle{
	{Color: blue, Radius: vg.Points(2.8), Shape: draw.CircleGlyph{}},
	{Color: vermillion, Radius: vg.Points(3.2), Shape: draw.RingGlyph{}},
	{Color: black, Radius: vg.Points(3.4), Shape: draw.TriangleGlyph{}},
	{Color: color.NRGBA{R: 0, G: 158, B: 115, A: 255}, Radius: vg.Points(3), Shape: draw.BoxGlyph{}},
	{Color: grey, Radius: vg.Points(4), Shape: draw.PlusGlyph{}},
	{Color: color.NRGBA{R: 204, G: 121, B: 167, A: 255}, Radius: vg.Points(3.4), Shape: draw.CrossGlyph{}},
}

// Agreement draws a row for each name, with forecasts over the numbers that they forecast, a point for each group, on a
// logarithmic axis with a line at 1. Intervals are cut at the edges of the picture.
func Agreement(d AgreementData) (*Figure, error) {
	if len(d.Groups) > len(groupStyles) {
		return nil, fmt.Errorf("agreement: %d groups; want at most %d", len(d.Groups), len(groupStyles))
	}
	p := newPlot(d.Style, d.Title, d.XLabel, "")
	p.Add(grid())
	var names plot.ConstantTicks
	var all []plot.Plotter
	rows, key := map[string]float64{}, []series{{name: "equal", line: equalStyle}}
	for i, g := range d.Groups {
		on := points{glyph: groupStyles[i], bar: vg.Points(0.7), horizontal: true}
		for j, at := range g.Points {
			for _, v := range []float64{at.X, at.Y, at.Lo, at.Hi} {
				if !(v >= 1/largest && v <= largest) {
					return nil, fmt.Errorf("agreement: value %v of point %d of %s; want a positive finite number", v, j+1, g.Name)
				}
			}
			row, known := rows[at.Name]
			if !known {
				row = -float64(len(rows))
				rows[at.Name], names = row, append(names, plot.Tick{Value: row, Label: abridge(p.Y.Tick.Label, at.Name, maxName/4)})
			}
			x := math.Log10(at.X)
			y := row + 0.8*((float64(len(d.Groups))-1)/2-float64(i))/float64(len(d.Groups))
			on.at = append(on.at, Point{X: math.Log10(at.Y) - x, Y: y, Lo: math.Log10(at.Lo) - x, Hi: math.Log10(at.Hi) - x})
			p.X.Min, p.X.Max = min(p.X.Min, on.at[j].X), max(p.X.Max, on.at[j].X)
		}
		all = append(all, on)
		key = append(key, series{name: g.Name, glyph: on.glyph, line: invisible})
	}
	if names == nil {
		return nil, fmt.Errorf("agreement: no points")
	}
	p.X.Min, p.X.Max = min(p.X.Min, 0), max(p.X.Max, 0)
	margin := max(0.3*(p.X.Max-p.X.Min), 0.03)
	p.X.Min, p.X.Max = p.X.Min-margin, p.X.Max+margin
	p.X.Tick.Marker = plot.TickerFunc(logTicks)
	p.Y.Min, p.Y.Max, p.Y.Tick.Marker, p.Y.Tick.Length = 0.5-float64(len(names)), 0.5, names, 0
	equal := &plotter.Line{XYs: plotter.XYs{{Y: p.Y.Min}, {Y: p.Y.Max}}, LineStyle: equalStyle}
	p.Add(struct{ plot.Plotter }{equal}) // without the room that a line takes beside the axes
	p.Add(all...)
	return d.Style.keyed(p, key, vg.Points(75+float64(len(names)*len(d.Groups))*6)), nil
}

// equalStyle is the line on which a forecast equals the number.
var equalStyle = draw.LineStyle{Color: grey, Width: vg.Points(1), Dashes: []vg.Length{vg.Points(4), vg.Points(3)}}
