package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// TradeoffData is the expected error of codes, in levels, against their number of bits. Lo and Hi
// are one standard error away.
type TradeoffData struct {
	Title string
	Found []Point // results of a search, ascending in bits, joined by a line
	Codes []Point // with names, in any order
	Style Style
}

// Tradeoff draws bits against error. The codes that a search has found are joined by a
// line; other codes are points with their names. Both axes are logarithmic.
func Tradeoff(d TradeoffData) (*Figure, error) {
	all := slices.Concat(d.Found, d.Codes)
	if len(all) == 0 {
		return nil, fmt.Errorf("trade-off: no codes")
	}
	fewest, most := all[0].X, all[0].X
	var errors []float64
	for i, c := range all {
		if !(c.X >= 1) {
			return nil, fmt.Errorf("trade-off: a code of %v bits", c.X)
		}
		if i > 0 && i < len(d.Found) && c.X <= all[i-1].X {
			return nil, fmt.Errorf("trade-off: codes of %v and %v bits; want them ascending", all[i-1].X, c.X)
		}
		if err := checkErrors(fmt.Sprintf("a code of %v bits", c.X), false, c.Y, c.Hi, c.Hi-c.Y); err != nil {
			return nil, fmt.Errorf("trade-off: %w", err)
		}
		fewest, most = min(fewest, c.X), max(most, c.X)
		errors = append(errors, c.Y)
	}
	p := newPlot(d.Style, "bits M", "expected |error| (levels)")
	p.Add(grid())
	left, right := math.Log10(fewest), math.Log10(most)
	span := max(right-left, 0.1)
	p.X.Min, p.X.Max = left-0.04*span, right+0.16*span // room for names
	p.X.Tick.Marker = plot.TickerFunc(logTicks)
	on := errorAxis(&p.Y, errors...)
	p.Y.Max += 0.1 * (p.Y.Max - p.Y.Min) // room for names
	place := func(codes []Point, glyph draw.GlyphStyle) points {
		out := points{glyph: glyph, bar: vg.Points(0.8)}
		for _, c := range codes {
			out.at = append(out.at, Point{c.Name, math.Log10(c.X), on(c.Y), on(c.Lo), on(c.Hi)})
		}
		return out
	}
	var key []series
	if len(d.Found) > 0 {
		line := &plotter.Line{LineStyle: draw.LineStyle{Color: blue, Width: vg.Points(1.4)}}
		found := place(d.Found, draw.GlyphStyle{Color: blue, Radius: vg.Points(2.6), Shape: draw.CircleGlyph{}})
		for _, at := range found.at {
			line.XYs = append(line.XYs, plotter.XY{X: at.X, Y: at.Y})
		}
		p.Add(line, found)
		key = append(key, series{name: "found ± standard error", line: line.LineStyle, glyph: found.glyph})
	}
	if len(d.Codes) > 0 {
		named := place(d.Codes, draw.GlyphStyle{Color: vermillion, Radius: vg.Points(3.2), Shape: draw.RingGlyph{}})
		p.Add(named, namesBeside(named))
		key = append(key, series{name: "named codes", glyph: named.glyph, line: invisible})
	}
	return d.Style.keyed(d.Title, p, key, d.Style.of(4.2)), nil
}

// namesBeside writes names beside points. The names overlap neither each other nor the points.
type namesBeside points

// Plot implements plot.Plotter.
func (n namesBeside) Plot(c draw.Canvas, p *plot.Plot) {
	order, r := slices.Clone(n.at), n.glyph.Radius
	tx, ty := p.Transforms(&c)
	var taken []vg.Rectangle
	for _, at := range order {
		x, y := tx(at.X), ty(at.Y)
		taken = append(taken, vg.Rectangle{Min: vg.Point{X: x - r, Y: y - r}, Max: vg.Point{X: x + r, Y: y + r}})
	}
	style := styleOf(p, 8)
	style.Color = black
	height := style.Height("x") * 1.2
	// The points on the right come first: of two points side by side, the left one has its
	// name on its left.
	slices.SortStableFunc(order, func(a, b Point) int { return cmp.Compare(b.X, a.X) })
	free := func(box vg.Rectangle) bool {
		return box.Min.X >= c.Min.X && box.Max.X <= c.Max.X && !slices.ContainsFunc(taken, func(t vg.Rectangle) bool {
			return box.Min.X < t.Max.X && t.Min.X < box.Max.X && box.Min.Y < t.Max.Y && t.Min.Y < box.Max.Y
		})
	}
	for _, of := range order {
		if of.Name == "" {
			continue
		}
		text := abridge(style, of.Name, maxName)
		width := style.Width(text)
		x, y := tx(of.X), ty(of.Y)
		near, above, beside := vg.Points(2.5), vg.Points(4.5), vg.Points(6)
		// The name stands above the point, where the line does not pass, or beside it. Where
		// there is no room, it stands further up.
		places := []vg.Point{
			{X: x + near, Y: y + above}, {X: x - near - width, Y: y + above},
			{X: x + beside, Y: y - height/2}, {X: x - beside - width, Y: y - height/2},
		}
		for up := y + above + height; up < c.Max.Y; up += height / 2 {
			places = append(places, vg.Point{X: x + near, Y: up}, vg.Point{X: x - near - width, Y: up})
		}
		for _, at := range append(places, vg.Point{X: c.Max.X - width, Y: y + above}) {
			box := vg.Rectangle{Min: at, Max: vg.Point{X: at.X + width, Y: at.Y + height}}
			if free(box) {
				taken = append(taken, box)
				c.FillText(style, at, text)
				break
			}
		}
	}
}
