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
	if err := d.Style.check(); err != nil {
		return nil, fmt.Errorf("trade-off: %w", err)
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
	for name, values := range map[string][]float64{"the error": means, "its standard error": stderrs} {
		if err := checkErrors(name, values, len(all), false); err != nil {
			return nil, fmt.Errorf("trade-off: %w", err)
		}
	}
	p := newPlot(d.Style, d.Title, "bits M", "expected |error| (levels)")
	p.Add(grid())
	across := func(bits int) float64 { return math.Log10(float64(bits)) }
	span := max(across(most)-across(fewest), 0.1)
	p.X.Min, p.X.Max = across(fewest)-0.04*span, across(most)+0.16*span // room for names
	p.X.Tick.Marker = bitTicks{}
	logarithmic := hi > 5*lo
	on := func(v float64) float64 { return v }
	p.Y.Min, p.Y.Max = 0, 1.12*hi
	if hi == 0 {
		p.Y.Max = 1
	}
	if logarithmic {
		left := lo / 1.4
		on = func(v float64) float64 { return math.Log10(max(v, left)) }
		p.Y.Min, p.Y.Max = on(left), on(hi*1.6)
		p.Y.Tick.Marker = logTicks{}
		if slices.Contains(means, 0) {
			p.Y.Label.Text += "; at the lower edge: 0"
		}
	}
	var key []series
	if len(d.Found) > 0 {
		line := draw.LineStyle{Color: blue, Width: vg.Points(1.4)}
		glyph := draw.GlyphStyle{Color: blue, Radius: vg.Points(2.6), Shape: draw.CircleGlyph{}}
		xys, bars := make(plotter.XYs, len(d.Found)), spread{on: on, glyph: glyph}
		for i, c := range d.Found {
			xys[i] = plotter.XY{X: across(c.Bits), Y: on(c.Error)}
			bars.at = append(bars.at, valueError{across(c.Bits), c.Error, c.StdErr})
		}
		p.Add(&plotter.Line{XYs: xys, LineStyle: line}, bars)
		key = append(key, series{name: "found ± standard error", line: line, glyph: glyph})
	}
	if len(d.Codes) > 0 {
		glyph := draw.GlyphStyle{Color: vermillion, Radius: vg.Points(3.2), Shape: draw.RingGlyph{}}
		bars := spread{on: on, glyph: glyph}
		for _, c := range d.Codes {
			bars.at = append(bars.at, valueError{across(c.Bits), c.Error, c.StdErr})
			bars.names = append(bars.names, c.Name)
		}
		p.Add(bars)
		key = append(key, series{name: "named codes", glyph: glyph, line: invisible})
	}
	return d.Style.keyed(p, key, d.Style.of(4.2)), nil
}

// spread draws points with vertical bars. Their names stand beside them and do not
// overlap.
type spread struct {
	at    []valueError
	names []string
	on    func(float64) float64 // where a value is on the axis
	glyph draw.GlyphStyle
}

// Plot implements plot.Plotter.
func (s spread) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	bar := draw.LineStyle{Color: s.glyph.Color, Width: vg.Points(0.8)}
	places := make([]vg.Point, len(s.at))
	for i, at := range s.at {
		x, y := tx(at.x), ty(s.on(at.y))
		c.StrokeLine2(bar, x, ty(max(s.on(at.y-at.err), p.Y.Min)), x, ty(min(s.on(at.y+at.err), p.Y.Max)))
		places[i] = vg.Point{X: x, Y: y}
		c.DrawGlyph(s.glyph, places[i])
	}
	if s.names != nil {
		drawNames(c, p, places, s.glyph.Radius, s.names, nil)
	}
}

// drawNames writes names beside points of a radius. The names overlap neither each other nor
// the points. A point without a name has the name "". colours, which may be nil, are of the
// names.
func drawNames(c draw.Canvas, p *plot.Plot, points []vg.Point, r vg.Length, names []string, colours []color.Color) {
	var taken []vg.Rectangle
	for _, at := range points {
		taken = append(taken, vg.Rectangle{Min: vg.Point{X: at.X - r, Y: at.Y - r}, Max: vg.Point{X: at.X + r, Y: at.Y + r}})
	}
	style := styleOf(p, 8)
	height := style.Height("x") * 1.2
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	// The points on the right come first: of two points side by side, the left one has its
	// name on its left.
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(points[b].X, points[a].X) })
	free := func(box vg.Rectangle) bool {
		return box.Min.X >= c.Min.X && box.Max.X <= c.Max.X && !slices.ContainsFunc(taken, func(t vg.Rectangle) bool {
			return box.Min.X < t.Max.X && t.Min.X < box.Max.X && box.Min.Y < t.Max.Y && t.Min.Y < box.Max.Y
		})
	}
	for _, i := range order {
		if names[i] == "" {
			continue
		}
		if colours != nil {
			style.Color = colours[i]
		}
		name := abridge(style, names[i], maxName)
		width := style.Width(name)
		x, y := points[i].X, points[i].Y
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
				c.FillText(style, at, name)
				break
			}
		}
	}
}

// bitTicks marks powers of two, for numbers of bits on a logarithmic axis.
type bitTicks struct{}

// Ticks implements plot.Ticker.
func (bitTicks) Ticks(lo, hi float64) []plot.Tick {
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
