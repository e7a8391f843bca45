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

// TradeoffData is the expected error of codes against their number of bits.
type TradeoffData struct {
	Title string
	Found []TradeoffPoint // results of a search, ascending in bits, joined by a line
	Codes []TradeoffPoint // with names, in any order
	Style Style
}

// TradeoffPoint is one code: the error in levels, and its standard error.
type TradeoffPoint struct {
	Name          string
	Bits          int
	Error, StdErr float64
}

// Tradeoff draws bits against error. The codes that a search has found are joined by a
// line; other codes are points with their names. The axis of bits is logarithmic. The axis
// of errors is logarithmic where they differ by more than a factor of 5; errors that are
// zero then stand at its lower edge, and its label says so.
func Tradeoff(d TradeoffData) (*Figure, error) {
	all := slices.Concat(d.Found, d.Codes)
	if len(all) == 0 {
		return nil, fmt.Errorf("trade-off: no codes")
	}
	lo, hi := math.Inf(1), 0.0
	fewest, most := all[0].Bits, all[0].Bits
	var means, stderrs []float64
	for i, c := range all {
		if c.Bits < 1 {
			return nil, fmt.Errorf("trade-off: a code of %d bits", c.Bits)
		}
		if i > 0 && i < len(d.Found) && c.Bits <= all[i-1].Bits {
			return nil, fmt.Errorf("trade-off: codes of %d and %d bits; want them ascending", all[i-1].Bits, c.Bits)
		}
		fewest, most = min(fewest, c.Bits), max(most, c.Bits)
		means, stderrs = append(means, c.Error), append(stderrs, c.StdErr)
		if c.Error > 0 {
			lo = min(lo, max(c.Error, 1/largest))
		}
		hi = max(hi, c.Error)
	}
	if err := checkErrors(column{"the error", means, len(all), false}, column{"its standard error", stderrs, len(all), false}); err != nil {
		return nil, fmt.Errorf("trade-off: %w", err)
	}
	p := newPlot(d.Style, d.Title, "bits M", "expected |error| (levels)")
	p.Add(grid())
	across := func(bits int) float64 { return math.Log10(float64(bits)) }
	span := max(across(most)-across(fewest), 0.1)
	p.X.Min, p.X.Max = across(fewest)-0.04*span, across(most)+0.16*span // room for names
	p.X.Tick.Marker = plot.TickerFunc(bitTicks)
	on := errorAxis(&p.Y, 0, 1.12*hi, false)
	if hi > 5*lo {
		on = errorAxis(&p.Y, lo/1.4, hi*1.6, true)
		if slices.Contains(means, 0) {
			p.Y.Label.Text += "; at the lower edge: 0"
		}
	}
	points := func(codes []TradeoffPoint, glyph draw.GlyphStyle) (m marks) {
		m = marks{glyph: glyph, bar: vg.Points(0.8)}
		for _, c := range codes {
			m.at = append(m.at, mark{across(c.Bits), on(c.Error), on(c.Error - c.StdErr), on(c.Error + c.StdErr)})
		}
		return m
	}
	var key []series
	if len(d.Found) > 0 {
		line := &plotter.Line{LineStyle: draw.LineStyle{Color: blue, Width: vg.Points(1.4)}}
		found := points(d.Found, draw.GlyphStyle{Color: blue, Radius: vg.Points(2.6), Shape: draw.CircleGlyph{}})
		for _, at := range found.at {
			line.XYs = append(line.XYs, plotter.XY{X: at.x, Y: at.y})
		}
		p.Add(line, found)
		key = append(key, series{name: "found ± standard error", line: line.LineStyle, glyph: found.glyph})
	}
	if len(d.Codes) > 0 {
		named := points(d.Codes, draw.GlyphStyle{Color: vermillion, Radius: vg.Points(3.2), Shape: draw.RingGlyph{}})
		names := namesBeside{radius: named.glyph.Radius}
		for i, at := range named.at {
			names.at = append(names.at, name{d.Codes[i].Name, at.x, at.y, black})
		}
		p.Add(named, names)
		key = append(key, series{name: "named codes", glyph: named.glyph, line: invisible})
	}
	return d.Style.keyed(p, key, d.Style.of(4.2)), nil
}

// name is the name of a point on the axes. A point without a name has the name "".
type name struct {
	text   string
	x, y   float64
	colour color.Color
}

// namesBeside writes names beside points of a radius. The names overlap neither each other nor the points.
type namesBeside struct {
	at     []name
	radius vg.Length
}

// Plot implements plot.Plotter.
func (n namesBeside) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	var taken []vg.Rectangle
	for _, at := range n.at {
		x, y, r := tx(at.x), ty(at.y), n.radius
		taken = append(taken, vg.Rectangle{Min: vg.Point{X: x - r, Y: y - r}, Max: vg.Point{X: x + r, Y: y + r}})
	}
	style := styleOf(p, 8)
	height := style.Height("x") * 1.2
	// The points on the right come first: of two points side by side, the left one has its
	// name on its left.
	order := slices.Clone(n.at)
	slices.SortStableFunc(order, func(a, b name) int { return cmp.Compare(b.x, a.x) })
	free := func(box vg.Rectangle) bool {
		return box.Min.X >= c.Min.X && box.Max.X <= c.Max.X && !slices.ContainsFunc(taken, func(t vg.Rectangle) bool {
			return box.Min.X < t.Max.X && t.Min.X < box.Max.X && box.Min.Y < t.Max.Y && t.Min.Y < box.Max.Y
		})
	}
	for _, of := range order {
		if of.text == "" {
			continue
		}
		style.Color = of.colour
		text := abridge(style, of.text, maxName)
		width := style.Width(text)
		x, y := tx(of.x), ty(of.y)
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

// bitTicks marks powers of two, for numbers of bits on a logarithmic axis.
func bitTicks(lo, hi float64) []plot.Tick {
	var out []plot.Tick
	for n := 1; n <= 1<<20; n *= 2 {
		for _, v := range []int{n, n + n/2} {
			if at := math.Log10(float64(v)); at >= lo && at <= hi && (v == n || n > 1) {
				tick := plot.Tick{Value: at}
				if v == n || hi-lo < 1 {
					tick.Label = fmt.Sprint(v)
				}
				out = append(out, tick)
			}
		}
	}
	return out
}
