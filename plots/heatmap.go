package plots

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	fill "image/draw"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// HeatmapData is the ratio of two numbers on a grid, in one panel or several side by side.
type HeatmapData struct {
	Title                  string
	X, Y                   []float64 // ascending; r and σ in the paper's Figure 3(c)
	XLog, YLog             bool
	Panels                 []HeatmapPanel // which have one colour scale
	XLabel, YLabel, ZLabel string         // of the colours: what increases, of which they have percent
	Below, Above           string         // which number is smaller where the ratio is below and above 1
	Blank                  string         // what a blank cell means
	Mark                   *Mark          // a point to show, or nil
	Style                  Style
}

// HeatmapPanel is one map of a figure.
type HeatmapPanel struct {
	Name string      // above it, where there are several
	Z    [][]float64 // ratios, Z[iy][ix]; NaN is left blank
}

// Mark is a point of a map with the limits of its intervals.
type Mark struct{ X, XLo, XHi, Y, YLo, YHi float64 }

// Plot implements plot.Plotter: it draws a cross as long as the intervals, and a ring, of a mark within the axes.
func (m Mark) Plot(c draw.Canvas, p *plot.Plot) {
	if m.X < p.X.Min || m.X > p.X.Max || m.Y < p.Y.Min || m.Y > p.Y.Max {
		return
	}
	for _, of := range []points{
		{glyph: draw.GlyphStyle{Color: color.White, Radius: vg.Points(4.6), Shape: draw.CircleGlyph{}}, bar: vg.Points(3.4)},
		{glyph: draw.GlyphStyle{Color: black, Radius: vg.Points(3.6), Shape: draw.CircleGlyph{}}, bar: vg.Points(1.4)},
	} {
		of.at = []Point{{X: m.X, Y: m.Y, Lo: m.YLo, Hi: m.YHi}}
		of.Plot(c, p)
		of.at, of.horizontal = []Point{{X: m.X, Y: m.Y, Lo: m.XLo, Hi: m.XHi}}, true
		of.Plot(c, p)
	}
}

// Heatmap draws by how much ratios are above and below 1, in a diverging palette in which a ratio
// and its inverse are equally deep: blue where the ratio is below 1 and red where it is above. The
// numbers at the colour bar are increases in percent, 100·(ratio − 1). A thick contour is at 1 and
// thin ones are at the other marks of the colour bar, dashed below 1, each with its name.
// Contours end a cell before blank ones, and short ones are left out. The colour bar is as long as the
// numbers differ. Where a few cells are far beyond the others, it ends before them in a point.
func Heatmap(d HeatmapData) (*Figure, error) {
	x, err := newAxis("x", d.X, d.XLog)
	if err != nil {
		return nil, fmt.Errorf("heatmap: %w", err)
	}
	y, err := newAxis("y", d.Y, d.YLog)
	if err != nil {
		return nil, fmt.Errorf("heatmap: %w", err)
	}
	z := make([][][]float64, len(d.Panels))
	for i, p := range d.Panels {
		for _, row := range p.Z {
			differences := make([]float64, len(row))
			for k, v := range row {
				differences[k] = difference(v)
			}
			z[i] = append(z[i], differences)
		}
	}
	scale := newColourScale(slices.Concat(z...))
	var panels []*plot.Plot
	for i, of := range z {
		p := d.panel(of, scale, x, y)
		if i > 0 {
			p.HideY()
			p.Y.Label.Text = ""
		}
		panels = append(panels, p)
	}
	height := d.Style.of(4.2)
	if n := vg.Length(len(panels)); n > 1 {
		height = d.Style.of(4.8)/n + vg.Points(50)
	}
	return d.Style.titled(d.Title, height+vg.Points(50), func(c draw.Canvas) draw.Canvas {
		return d.draw(c, panels, scale)
	}), nil
}

// panel is the plot of some differences.
func (d HeatmapData) panel(z [][]float64, scale colourScale, x, y axis) *plot.Plot {
	p := newPlot(d.Style, d.XLabel, d.YLabel)
	x.set(&p.X)
	y.set(&p.Y)
	p.X.LineStyle.Width, p.Y.LineStyle.Width = 0, 0 // the frame takes the place of axis lines
	p.Add(plotter.NewImage(cells(z, scale, x, y), p.X.Min, p.Y.Min, p.X.Max, p.Y.Max))
	var names contourNames
	for _, tick := range scale.ticks(scale.lo, scale.hi) {
		if tick.Value == 0 {
			tick.Label = "equal"
		}
		for _, path := range contours(z, tick.Value) {
			if len(path) <= max(len(d.X), len(d.Y))/8 { // a fragment, as those beside blank cells are
				continue
			}
			line := make(plotter.XYs, len(path))
			for i, at := range path {
				line[i] = plotter.XY{X: x.value(at.x), Y: y.value(at.y)}
			}
			p.Add(&plotter.Line{XYs: line, LineStyle: contourStyle(tick.Value)})
			names = append(names, contourName{tick.Label, line})
		}
	}
	if d.Mark != nil {
		p.Add(Mark{x.on(d.Mark.X), x.on(d.Mark.XLo), x.on(d.Mark.XHi), y.on(d.Mark.Y), y.on(d.Mark.YLo), y.on(d.Mark.YHi)})
	}
	p.Add(names) // above the mark, so that it hides none
	return p
}

// contourName is the name of a contour, and a line of it.
type contourName struct {
	text string
	line plotter.XYs
}

// contourNames are the names of contours. Each stands on its line, with a halo, where no other name is, and
// no other line if there is such a place; a short line has none.
type contourNames []contourName

// Plot implements plot.Plotter.
func (n contourNames) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	style := styleOf(p, 8)
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	halo, names := style, []vg.Rectangle{}
	halo.Color = color.White
	for i, of := range n {
		half := vg.Point{X: style.Width(of.text)/2 + vg.Points(2), Y: style.Height(of.text) / 2} // inside of the frame
		taken := slices.Clone(names)
		for _, other := range slices.Delete(slices.Clone(n), i, i+1) {
			for _, at := range other.line {
				point := vg.Point{X: tx(at.X), Y: ty(at.Y)}
				taken = append(taken, vg.Rectangle{Min: point, Max: point})
			}
		}
		for try, sixths := range slices.Repeat([]int{2 + 2*(i%2), 4 - 2*(i%2), 3, 1, 5}, 2) {
			if try == 5 {
				taken = names
			}
			at := of.line[len(of.line)*sixths/6]
			place := vg.Point{X: min(max(tx(at.X), c.Min.X+half.X), c.Max.X-half.X),
				Y: min(max(ty(at.Y), c.Min.Y+half.Y), c.Max.Y-half.Y)}
			box := vg.Rectangle{Min: place.Sub(half), Max: place.Add(half)}
			if len(of.line) <= 4 || slices.ContainsFunc(taken, func(r vg.Rectangle) bool {
				return r.Min.X < box.Max.X && box.Min.X < r.Max.X && r.Min.Y < box.Max.Y && box.Min.Y < r.Max.Y
			}) {
				continue
			}
			for _, off := range []vg.Point{{X: 0.8}, {X: -0.8}, {Y: 0.8}, {Y: -0.8}, {X: 0.6, Y: 0.6}, {X: -0.6, Y: -0.6}} {
				c.FillText(halo, place.Add(off), of.text)
			}
			c.FillText(style, place, of.text)
			names = append(names, box)
			break
		}
	}
}

// difference is by how much the smaller of two numbers is below the larger one, from their ratio:
// from −1 to 1, below 0 where the first is smaller. A ratio and its inverse differ in the sign.
func difference(ratio float64) float64 {
	if ratio > 1 {
		return 1 - 1/ratio
	}
	return ratio - 1
}

// increase is 100·(ratio − 1), in percent, where the ratio has a difference.
func increase(difference float64) float64 {
	if difference > 0 {
		return 100 * difference / (1 - difference)
	}
	return 100 * difference
}

// draw draws maps with their colour bar below them, and returns their axes.
func (d HeatmapData) draw(c draw.Canvas, panels []*plot.Plot, scale colourScale) draw.Canvas {
	const forBar, forName = 66, 14
	above := draw.Crop(c, 0, 0, vg.Points(forBar), 0)
	if len(panels) > 1 {
		above.Max.Y -= vg.Points(forName)
	}
	at := plot.Align([][]*plot.Plot{panels}, draw.Tiles{Rows: 1, Cols: len(panels), PadX: vg.Points(8)}, above)[0]
	var areas []draw.Canvas
	for i, p := range panels {
		area := drawn(p, at[i])
		frame(c, area.Rectangle)
		if len(panels) > 1 {
			style, words := shrink(textStyle(d.Style, 10), d.Panels[i].Name, area.Size().X)
			style.XAlign = draw.XCenter
			c.FillText(style, vg.Point{X: area.Center().X, Y: area.Max.Y + vg.Points(4)}, words)
		}
		areas = append(areas, area)
	}
	whole := areas[0]
	whole.Max = areas[len(areas)-1].Max
	if d.Blank != "" && scale.blank {
		// beside the axis' name: on the right, or in the middle between the names of two panels
		right, room := whole.Max.X, 0.5*areas[0].Size().X-vg.Points(30)
		if len(areas) > 1 {
			room = areas[1].Center().X - areas[0].Center().X - panels[0].X.Label.TextStyle.Width(panels[0].X.Label.Text) -
				vg.Points(30)
		}
		style, words := shrink(textStyle(d.Style, 9), d.Blank, room)
		if len(areas) > 1 {
			right = (areas[0].Center().X + areas[1].Center().X + style.Width(words) + vg.Points(18)) / 2
		}
		at, img := vg.Point{X: right - style.Width(words), Y: above.Min.Y}, image.NewNRGBA(image.Rect(0, 0, 52, 36))
		c.FillText(style, at, words)
		hatch(img, img.Rect)
		box := vg.Rectangle{Min: at.Sub(vg.Point{X: vg.Points(18), Y: vg.Points(1)}), Max: at.Add(vg.Point{X: -vg.Points(5),
			Y: vg.Points(8)})}
		c.DrawImage(box, img)
		frame(c, box)
	}
	if scale.empty {
		style := textStyle(d.Style, 11)
		style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
		for _, area := range areas {
			c.FillText(style, area.Center(), "no valid cell")
		}
		return whole
	}
	bar := colourBar(d.Style, d.ZLabel, scale.lo, scale.hi, scale.ticks, scale)
	below := draw.Crop(c, 0, 0, 0, vg.Points(46)-c.Size().Y)
	area := bar.DataCanvas(below)
	bar.Draw(draw.Crop(below, whole.Min.X-area.Min.X, whole.Max.X-area.Max.X, 0, 0))
	var sides [2]string // a side without colours has no words: they would stand beside the other's numbers
	if scale.lo < 0 {
		sides[0] = percent(scale.lo) + " ← " + d.Below
	}
	if scale.hi > 0 {
		sides[1] = d.Above + " → " + percent(scale.hi)
	}
	style := textStyle(d.Style, 9.5)
	for _, text := range sides { // both are as small
		style, _ = shrink(style, text, 0.48*whole.Size().X)
	}
	for i, x := range []vg.Length{whole.Min.X, whole.Max.X} {
		style.XAlign = []text.XAlignment{draw.XLeft, draw.XRight}[i]
		_, words := shrink(style, sides[i], 0.48*whole.Size().X)
		c.FillText(style, vg.Point{X: x, Y: area.Max.Y + vg.Points(4)}, words)
	}
	return whole
}

// align makes canvases of plots narrower, so that the axes of all begin and end at the same places.
func align(at []draw.Canvas, plots ...*plot.Plot) {
	left, right := vg.Length(math.Inf(-1)), vg.Length(math.Inf(1))
	for i, p := range plots {
		area := p.DataCanvas(at[i])
		left, right = max(left, area.Min.X), min(right, area.Max.X)
	}
	for i, p := range plots {
		area := p.DataCanvas(at[i])
		at[i] = draw.Crop(at[i], left-area.Min.X, right-area.Max.X, 0, 0)
	}
}

func corners(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}

// frame draws the edges of a rectangle.
func frame(c draw.Canvas, r vg.Rectangle) {
	ring := append(corners(r), r.Min)
	c.StrokeLines(draw.LineStyle{Color: black, Width: vg.Points(0.6)}, ring)
}

func contourStyle(level float64) draw.LineStyle {
	style := draw.LineStyle{Color: color.NRGBA{A: 150}, Width: vg.Points(0.5)}
	switch {
	case level == 0:
		style.Color = black
		style.Width = vg.Points(1.6)
	case level < 0:
		style.Dashes = []vg.Length{vg.Points(3), vg.Points(2)}
	}
	return style
}

// colourScale has a colour for each difference, equally deep on both sides of 0.
type colourScale struct {
	lo, hi, limit float64 // ends of the colour bar; the deepest colours are at ±limit
	under, over   bool    // some value is beyond an end
	empty, blank  bool    // there is no value at all, or not everywhere
	colours       palette.DivergingColorMap
}

// leastLimit is the smallest difference with the deepest colour.
const leastLimit = 0.01

func newColourScale(z [][]float64) colourScale {
	values := slices.Concat(z...)
	all := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	s := colourScale{lo: -leastLimit, hi: leastLimit, limit: leastLimit, empty: len(all) == 0,
		blank: len(all) < len(values), colours: moreland.SmoothBlueRed()}
	if !s.empty {
		slices.SortFunc(all, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
		s.limit = math.Abs(all[len(all)-1])
		// 98 % are not larger; with few cells, all
		if typical := math.Abs(all[len(all)-1-len(all)/50]); s.limit > 1.5*typical {
			s.limit = typical
		}
		s.limit = max(s.limit, leastLimit)
		least, most := slices.Min(all), slices.Max(all)
		s.lo, s.hi = max(least, -s.limit), min(most, s.limit)
		s.under, s.over = least < s.lo, most > s.hi
		if s.hi-s.lo < leastLimit {
			s.lo, s.hi = s.lo-leastLimit, s.hi+leastLimit
		}
	}
	s.colours.SetMin(-s.limit)
	s.colours.SetMax(s.limit)
	return s
}

func (s colourScale) colour(v float64) color.Color {
	c, err := s.colours.At(min(max(v, -s.limit), s.limit))
	if err != nil { // never: the value is in the range
		return grey
	}
	return c
}

// strips fill the data area of a colour bar. Each strip reaches up to the end of the bar, so that no gap shows between
// them. (A PDF with a second image would hold the two in random order.)
func strips(c draw.Canvas, p *plot.Plot, colour func(v float64) color.Color) {
	tx, _ := p.Transforms(&c)
	const steps = 128
	for i := range steps {
		strip, v := c.Rectangle, p.X.Min+(p.X.Max-p.X.Min)*float64(i)/steps
		strip.Min.X = tx(v)
		c.FillPolygon(colour(v), corners(strip))
	}
}

// ticks marks round increases in percent.
func (s colourScale) ticks(lo, hi float64) (out []plot.Tick) {
	add := func(percent, step float64) {
		label := tickLabel(percent, step) + " %"
		if percent > 0 {
			label = "+" + label
		}
		out = append(out, plot.Tick{Value: difference(1 + percent/100), Label: label})
	}
	from, to := increase(lo), increase(min(hi, 1-1e-9))
	evenly := func(to, step float64) {
		for i := math.Ceil(from/step - 1e-9); i <= to/step+1e-9; i++ {
			add(i*step, step)
		}
	}
	step := niceStep(20 * (hi - lo))
	bent := (100+to)/(100+max(from, 0)) > 1.5 // the bar is linear in increases only below 0
	if !bent && from >= 0 {
		step = niceStep((to - from) / 5)
	}
	if !bent {
		evenly(to, step)
		return out
	}
	if from < 0 {
		evenly(0, step)
	}
	last := math.Inf(-1)
	if len(out) > 0 {
		last = out[len(out)-1].Value
	}
	for power := 1e-3; power <= to; power *= 10 {
		for _, m := range []float64{1, 2, 5} {
			v := m * power
			if at := difference(1 + v/100); v >= from && v <= to && at >= last+0.6*step/100 {
				add(v, power)
				last = at
			}
		}
	}
	return out
}

// percent is the increase at an end of the colours.
func percent(end float64) string {
	digits := 0
	if math.Abs(increase(end)) < 9.5 {
		digits = 1
	}
	return minus(fmt.Sprintf("%+.*f %%", digits, increase(end)))
}

// colourBar is the plot of colours from lo to hi.
func colourBar(s Style, label string, lo, hi float64, ticks plot.TickerFunc, colours plot.Plotter) *plot.Plot {
	p := newPlot(s, label, "")
	p.X.Label.TextStyle.Font.Size = vg.Points(9.5)
	p.X.Min, p.X.Max, p.X.LineStyle.Width = lo, hi, 0
	p.X.Tick.Marker = ticks
	p.HideY()
	p.Add(colours)
	return p
}

// Plot implements plot.Plotter: it draws the colours. An end beyond which there are values is
// pointed.
func (s colourScale) Plot(c draw.Canvas, p *plot.Plot) {
	tx, _ := p.Transforms(&c)
	strips(c, p, s.colour)
	ring := corners(c.Rectangle)
	tip := 0.5 * c.Size().Y
	if s.over {
		end := []vg.Point{ring[1], {X: c.Max.X + tip, Y: c.Center().Y}, ring[2]}
		c.FillPolygon(s.colour(s.hi), end)
		ring = slices.Replace(ring, 1, 3, end...)
	}
	if s.under {
		end := []vg.Point{ring[len(ring)-1], {X: c.Min.X - tip, Y: c.Center().Y}, ring[0]}
		c.FillPolygon(s.colour(s.lo), end)
		ring = append(ring, end[1])
	}
	c.StrokeLines(draw.LineStyle{Color: black, Width: vg.Points(0.6)}, append(ring, ring[0]))
	for _, t := range s.ticks(s.lo, s.hi) {
		c.StrokeLine2(contourStyle(t.Value), tx(t.Value), c.Min.Y, tx(t.Value), c.Max.Y)
	}
}

// cells is the map as an image. A cell has many pixels, so that the smoothing of a viewer
// does not blur its edges. Blank cells are hatched. Coordinates that are not evenly spaced have
// cells of different sizes.
func cells(z [][]float64, s colourScale, x, y axis) image.Image {
	across, up := x.pixels(1000), y.pixels(700)
	height := up[len(z)]
	img := image.NewNRGBA(image.Rect(0, 0, across[len(z[0])], height))
	for iy, row := range z {
		for ix, v := range row {
			cell := image.Rect(across[ix], height-up[iy+1], across[ix+1], height-up[iy])
			if math.IsNaN(v) {
				hatch(img, cell)
				continue
			}
			fill.Draw(img, cell, image.NewUniform(s.colour(v)), image.Point{}, fill.Src)
		}
	}
	return img
}

// hatch fills part of an image with thin diagonal lines that run through
// neighbouring parts.
func hatch(img *image.NRGBA, r image.Rectangle) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			colour := color.NRGBA{255, 255, 255, 255}
			if (x+y)%14 < 2 {
				colour = color.NRGBA{190, 190, 190, 255}
			}
			img.SetNRGBA(x, y, colour)
		}
	}
}
