package plots

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
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
	Points []AgreementPoint
}

// AgreementPoint is a number X and its forecast Y with the interval from Lo to Hi, all positive.
// A name, where it has one, stands beside the point.
type AgreementPoint struct {
	Name         string
	X, Y, Lo, Hi float64
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
	if err := d.Style.check(); err != nil {
		return nil, fmt.Errorf("agreement: %w", err)
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
		axis.Tick.Marker = logTicks{}
	}
	p.Add(agreement{d.Groups})
	var key []series
	for i, g := range d.Groups {
		key = append(key, series{name: g.Name, glyph: groupStyles[i], line: invisible})
	}
	key = append(key, series{name: "equal", line: equalStyle})
	return d.Style.keyed(p, key, d.Style.of(4.8)), nil
}

// equalStyle is the line on which a forecast equals the number.
var equalStyle = draw.LineStyle{Color: grey, Width: vg.Points(1), Dashes: []vg.Length{vg.Points(4), vg.Points(3)}}

// agreement draws the points of all groups with their intervals and names.
type agreement struct{ groups []AgreementGroup }

// Plot implements plot.Plotter.
func (a agreement) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	c.StrokeLine2(equalStyle, tx(p.X.Min), ty(p.Y.Min), tx(p.X.Max), ty(p.Y.Max))
	on := func(v float64) vg.Length { return ty(min(max(math.Log10(v), p.Y.Min), p.Y.Max)) }
	var points []vg.Point
	var names []string
	var colours []color.Color
	radius := vg.Length(0)
	for i, g := range a.groups {
		glyph := groupStyles[i]
		radius = max(radius, glyph.Radius)
		bar := draw.LineStyle{Color: glyph.Color, Width: vg.Points(0.6)}
		for _, at := range g.Points {
			x := tx(math.Log10(at.X))
			c.StrokeLine2(bar, x, on(at.Lo), x, on(at.Hi))
			points, names, colours = append(points, vg.Point{X: x, Y: on(at.Y)}), append(names, at.Name), append(colours, glyph.Color)
			c.DrawGlyph(glyph, points[len(points)-1])
		}
	}
	drawNames(c, p, points, radius, names, colours)
}
