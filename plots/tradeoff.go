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

// TradeoffData is the expected error of codes against their number of bits. Lo and Hi are one standard
// error away.
type TradeoffData struct {
	Title   string
	Expects string  // what the errors are, with their unit; "" for |error| (levels)
	Found   []Point // results of a search, ascending in bits
	Codes   []Point // with names, in any order
	Style   Style
}

// inLevels is what errors are by default.
const inLevels = "|error| (levels)"

// Tradeoff draws bits against error. The codes that a search has found are joined by a line where
// no number of bits is between them; other codes are points with their names. Both axes are
// logarithmic.
func Tradeoff(d TradeoffData) (*Figure, error) {
	all := slices.Concat(d.Found, d.Codes)
	fewest, most := all[0].X, all[0].X
	var errors []float64
	for _, c := range all {
		if err := checkErrors(fmt.Sprintf("a code of %v bits", c.X), false, c.Y, c.Hi, c.Hi-c.Y); err != nil {
			return nil, fmt.Errorf("trade-off: %w", err)
		}
		fewest, most = min(fewest, c.X), max(most, c.X)
		errors = append(errors, c.Y)
	}
	p := newPlot(d.Style, "bits M", "expected "+cmp.Or(d.Expects, inLevels))
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
	var found points
	if len(d.Found) > 0 {
		line := draw.LineStyle{Color: blue, Width: vg.Points(1.4)}
		found = place(d.Found, draw.GlyphStyle{Color: blue, Radius: vg.Points(2.6), Shape: draw.CircleGlyph{}})
		of := series{name: "found ± standard error", line: invisible, glyph: found.glyph}
		for i, at := range found.at[1:] {
			if before := found.at[i]; d.Found[i+1].X == d.Found[i].X+1 { // no number of bits is between them
				p.Add(&plotter.Line{XYs: plotter.XYs{{X: before.X, Y: before.Y}, {X: at.X, Y: at.Y}}, LineStyle: line})
				of.line = line
			}
		}
		p.Add(found)
		key = append(key, of)
	}
	if len(d.Codes) > 0 {
		named := place(d.Codes, draw.GlyphStyle{Color: vermillion, Radius: vg.Points(3.2), Shape: draw.RingGlyph{}})
		p.Add(named, namesBeside{named, found.at})
		key = append(key, series{name: "named codes", glyph: named.glyph, line: invisible})
	}
	return d.Style.keyed(d.Title, p, key, d.Style.of(4.2)), nil
}
