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

// AgreementData are numbers beside their forecasts, in groups.
type AgreementData struct {
	Title  string
	X, Y   string // labels of the axes
	Groups []AgreementGroup
	Style  Style
}

// AgreementGroup has a name, which the key shows.
type AgreementGroup struct {
	Name   string
	Points []Point // numbers X and their forecasts Y with intervals, all positive
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

// Agreement draws forecasts against numbers, both on logarithmic axes of the same range, with
// the line on which they are equal.
func Agreement(d AgreementData) (*Figure, error) {
	if len(d.Groups) > len(groupStyles) {
		return nil, fmt.Errorf("agreement: %d groups; want at most %d", len(d.Groups), len(groupStyles))
	}
	lo, hi := math.Inf(1), 0.0
	for _, g := range d.Groups {
		for i, at := range g.Points {
			for _, v := range []float64{at.X, at.Y, at.Lo, at.Hi} {
				if !(v >= 1/largest && v <= largest) {
					return nil, fmt.Errorf("agreement: value %v of point %d of %s; want a positive finite number", v, i+1, g.Name)
				}
			}
			lo, hi = min(lo, at.X, at.Y), max(hi, at.X, at.Y)
		}
	}
	if hi == 0 {
		return nil, fmt.Errorf("agreement: no points")
	}
	p := newPlot(d.Style, d.Title, d.X, d.Y)
	p.Add(grid())
	// Intervals that leave the picture go on at its edge.
	margin := max(0.06*math.Log10(hi/lo), 0.03)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Min, axis.Max = math.Log10(lo)-margin, math.Log10(hi)+margin
		axis.Tick.Marker = plot.TickerFunc(logTicks)
	}
	equal := &plotter.Line{XYs: plotter.XYs{{X: p.X.Min, Y: p.Y.Min}, {X: p.X.Max, Y: p.Y.Max}}, LineStyle: equalStyle}
	p.Add(struct{ plot.Plotter }{equal}) // without the room that a line takes beside the axes
	var key []series
	names := namesBeside{}
	for i, g := range d.Groups {
		on := points{glyph: groupStyles[i], bar: vg.Points(0.6)}
		for _, at := range g.Points {
			on.at = append(on.at, Point{at.Name, math.Log10(at.X), math.Log10(at.Y), math.Log10(at.Lo), math.Log10(at.Hi)})
		}
		names.groups = append(names.groups, on)
		p.Add(on)
		key = append(key, series{name: g.Name, glyph: on.glyph, line: invisible})
	}
	p.Add(names)
	key = append(key, series{name: "equal", line: equalStyle})
	return d.Style.keyed(p, key, d.Style.of(4.8)), nil
}

// equalStyle is the line on which a forecast equals the number.
var equalStyle = draw.LineStyle{Color: grey, Width: vg.Points(1), Dashes: []vg.Length{vg.Points(4), vg.Points(3)}}
