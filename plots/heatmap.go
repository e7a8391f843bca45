package plots

import (
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

// Plot implements plot.Plotter: it draws a cross as long as the intervals, and a ring, of a mark on
// the axes. Parts outside the axes are cut off.
func (m Mark) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	x := func(v float64) vg.Length { return tx(min(max(v, p.X.Min), p.X.Max)) }
	y := func(v float64) vg.Length { return ty(min(max(v, p.Y.Min), p.Y.Max)) }
	inX, inY := m.X >= p.X.Min && m.X <= p.X.Max, m.Y >= p.Y.Min && m.Y <= p.Y.Max
	halo := draw.LineStyle{Color: color.White, Width: vg.Points(3.4)}
	for _, line := range []draw.LineStyle{halo, {Color: black, Width: vg.Points(1.4)}} {
		if inY {
			c.StrokeLine2(line, x(m.XLo), y(m.Y), x(m.XHi), y(m.Y))
		}
		if inX {
			c.StrokeLine2(line, x(m.X), y(m.YLo), x(m.X), y(m.YHi))
		}
		if inX && inY {
			glyph := draw.GlyphStyle{Color: line.Color, Radius: vg.Points(2.9) + line.Width/2,
				Shape: draw.CircleGlyph{}}
			c.DrawGlyph(glyph, vg.Point{X: x(m.X), Y: y(m.Y)})
		}
	}
}

// Heatmap draws by how much ratios are above and below 1, in a diverging palette in which a ratio
// and its inverse are equally deep: blue where the ratio is below 1 and red where it is above. The
// numbers at the colour bar are increases in percent, 100·(ratio − 1). A thick contour is at 1 and
// thin ones are at the other marks of the colour bar, dashed below 1; the longest of each has its name.
// Contours are left out where they are short and end at blank cells. The colour bar is as long as the
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
	var z [][][]float64
	for _, p := range d.Panels {
		differences, err := d.differences(p)
		if err != nil {
			return nil, fmt.Errorf("heatmap: %w", err)
		}
		z = append(z, differences)
	}
	scale := newColourScale(slices.Concat(z...))
	var panels []*plot.Plot
	for i, of := range z {
		p, err := d.panel(of, scale, x, y)
		if err != nil {
			return nil, err
		}
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
	return d.Style.titled(d.Title, height+vg.Points(50), func(c draw.Canvas) { d.draw(c, panels, scale) }), nil
}

// differences are the differences of a panel.
func (d HeatmapData) differences(p HeatmapPanel) ([][]float64, error) {
	z := make([][]float64, len(p.Z))
	for i, row := range p.Z {
		if err := checkErrors(fmt.Sprintf("row %d", i+1), true, row...); err != nil {
			return nil, err
		}
		for _, v := range row {
			z[i] = append(z[i], difference(v))
		}
	}
	return z, nil
}

// panel is the plot of some differences.
func (d HeatmapData) panel(z [][]float64, scale colourScale, x, y axis) (*plot.Plot, error) {
	p := newPlot(d.Style, d.XLabel, d.YLabel)
	x.set(&p.X)
	y.set(&p.Y)
	p.X.LineStyle.Width, p.Y.LineStyle.Width = 0, 0 // the frame takes the place of axis lines
	p.Add(plotter.NewImage(cells(z, scale, x, y), p.X.Min, p.Y.Min, p.X.Max, p.Y.Max))
	var names contourNames
	for _, tick := range scale.ticks(scale.lo, scale.hi) {
		longest := plotter.XYs{}
		for _, path := range contours(z, tick.Value) {
			if stray(path, len(d.X), len(d.Y)) {
				continue
			}
			line := make(plotter.XYs, len(path))
			for i, at := range path {
				line[i] = plotter.XY{X: x.value(at.x), Y: y.value(at.y)}
			}
			p.Add(&plotter.Line{XYs: line, LineStyle: contourStyle(tick.Value)})
			if len(line) > len(longest) {
				longest = line
			}
		}
		if tick.Value == 0 {
			tick.Label = "equal"
		}
		names = append(names, contourName{tick.Label, longest})
	}
	p.Add(names)
	if d.Mark != nil {
		m := Mark{x.on(d.Mark.X), x.on(d.Mark.XLo), x.on(d.Mark.XHi), y.on(d.Mark.Y), y.on(d.Mark.YLo),
			y.on(d.Mark.YHi)}
		if slices.ContainsFunc([]float64{m.X, m.XLo, m.XHi, m.Y, m.YLo, m.YHi}, math.IsNaN) {
			return nil, fmt.Errorf("heatmap: a mark at %+v is on no place of the axes", *d.Mark)
		}
		p.Add(m)
	}
	return p, nil
}

// contourName is the name of a contour, and its longest line.
type contourName struct {
	text string
	line plotter.XYs
}

// contourNames are the names of contours. Each stands on its line, with a halo, where no other name is; a
// short line has none.
type contourNames []contourName

// Plot implements plot.Plotter.
func (n contourNames) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	style := styleOf(p, 8)
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	halo, taken := style, []vg.Rectangle{}
	halo.Color = color.White
	for i, of := range n {
		half := vg.Point{X: style.Width(of.text)/2 + vg.Points(2), Y: style.Height(of.text) / 2} // inside of the frame
		for _, sixths := range []int{2 + 2*(i%2), 4 - 2*(i%2), 3, 1, 5} {
			if len(of.line) <= 4 {
				break
			}
			at := of.line[len(of.line)*sixths/6]
			place := vg.Point{X: min(max(tx(at.X), c.Min.X+half.X), c.Max.X-half.X),
				Y: min(max(ty(at.Y), c.Min.Y+half.Y), c.Max.Y-half.Y)}
			box := vg.Rectangle{Min: place.Sub(half), Max: place.Add(half)}
			if slices.ContainsFunc(taken, func(r vg.Rectangle) bool {
				return r.Min.X < box.Max.X && box.Min.X < r.Max.X && r.Min.Y < box.Max.Y && box.Min.Y < r.Max.Y
			}) {
				continue
			}
			for _, off := range []vg.Point{{X: 0.8}, {X: -0.8}, {Y: 0.8}, {Y: -0.8}, {X: 0.6, Y: 0.6}, {X: -0.6, Y: -0.6}} {
				c.FillText(halo, place.Add(off), of.text)
			}
			c.FillText(style, place, of.text)
			taken = append(taken, box)
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

// draw draws maps with their colour bar below them.
func (d HeatmapData) draw(c draw.Canvas, panels []*plot.Plot, scale colourScale) {
	const forBar, forName = 66, 14
	above := draw.Crop(c, 0, 0, vg.Points(forBar), 0)
	if len(panels) > 1 {
		above.Max.Y -= vg.Points(forName)
	}
	at := plot.Align([][]*plot.Plot{panels}, draw.Tiles{Rows: 1, Cols: len(panels), PadX: vg.Points(8)}, above)[0]
	var areas []draw.Canvas
	for i, p := range panels {
		p.Draw(at[i])
		area := p.DataCanvas(at[i])
		frame(c, area.Rectangle)
		if len(panels) > 1 {
			style, words := shrink(textStyle(d.Style, 10), d.Panels[i].Name, area.Size().X)
			style.XAlign = draw.XCenter
			c.FillText(style, vg.Point{X: area.Center().X, Y: area.Max.Y + vg.Points(4)}, words)
		}
		areas = append(areas, area)
	}
	whole := vg.Rectangle{Min: areas[0].Min, Max: areas[len(areas)-1].Max}
	if d.Blank != "" && slices.ContainsFunc(d.Panels, func(p HeatmapPanel) bool { return hasBlank(p.Z) }) {
		half := 0.5*areas[0].Size().X - vg.Points(12) // beside the name of the axis
		d.drawBlank(vg.Point{X: whole.Max.X, Y: above.Min.Y}, half, c)
	}
	if scale.empty {
		style := textStyle(d.Style, 11)
		style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
		for _, area := range areas {
			c.FillText(style, area.Center(), "no valid cell")
		}
		return
	}
	bar := scale.plot(d)
	below := draw.Crop(c, 0, 0, 0, vg.Points(46)-c.Size().Y)
	area := bar.DataCanvas(below)
	bar.Draw(draw.Crop(below, whole.Min.X-area.Min.X, whole.Max.X-area.Max.X, 0, 0))
	for _, side := range []struct {
		there bool // a side without colours has no words: they would stand beside the other's numbers
		text  string
		x     vg.Length
		align text.XAlignment
	}{{scale.lo < 0, "← " + d.Below, whole.Min.X, draw.XLeft}, {scale.hi > 0, d.Above + " →", whole.Max.X,
		draw.XRight}} {
		if !side.there {
			continue
		}
		style, words := shrink(textStyle(d.Style, 9.5), side.text, 0.48*whole.Size().X)
		style.XAlign = side.align
		c.FillText(style, vg.Point{X: side.x, Y: area.Max.Y + vg.Points(4)}, words)
	}
}

// drawBlank explains blank cells to the left of a point, within a width.
func (d HeatmapData) drawBlank(at vg.Point, width vg.Length, c draw.Canvas) {
	style, words := shrink(textStyle(d.Style, 9), d.Blank, width-vg.Points(18))
	style.XAlign = draw.XRight
	c.FillText(style, at, words)
	right := at.X - style.Width(words) - vg.Points(5)
	box := vg.Rectangle{Min: vg.Point{X: right - vg.Points(13), Y: at.Y - vg.Points(1)},
		Max: vg.Point{X: right, Y: at.Y + vg.Points(8)}}
	line := draw.LineStyle{Color: color.NRGBA{190, 190, 190, 255}, Width: vg.Points(0.7)}
	height := box.Size().Y
	for x := box.Min.X - height + vg.Points(2); x < box.Max.X; x += vg.Points(4) {
		// From the bottom to the top at 45°, cut at the sides.
		lo, hi := max(x, box.Min.X), min(x+height, box.Max.X)
		c.StrokeLine2(line, lo, box.Min.Y+lo-x, hi, box.Min.Y+hi-x)
	}
	frame(c, box)
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
	empty         bool    // there is no value at all
	colours       palette.DivergingColorMap
}

// leastLimit is the smallest difference with the deepest colour.
const leastLimit = 0.01

func newColourScale(z [][]float64) colourScale {
	var all, size []float64
	for _, row := range z {
		for _, v := range row {
			if !math.IsNaN(v) {
				all, size = append(all, v), append(size, math.Abs(v))
			}
		}
	}
	s := colourScale{lo: -leastLimit, hi: leastLimit, limit: leastLimit, empty: len(all) == 0,
		colours: moreland.SmoothBlueRed()}
	if !s.empty {
		slices.Sort(size)
		s.limit = size[len(size)-1]
		// 98 % are not larger; with few cells, all
		if typical := size[len(size)-1-len(size)/50]; s.limit > 1.5*typical {
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

// marks are the differences at which the colour bar has labels.
func (s colourScale) marks() (at []float64) {
	for _, t := range s.ticks(s.lo, s.hi) {
		at = append(at, t.Value)
	}
	return at
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
	from, to, step := increase(lo), increase(min(hi, 1-1e-9)), niceStep(20*(hi-lo))
	evenly := func(from, to, step float64) {
		for i := math.Ceil(from/step - 1e-9); i <= to/step+1e-9; i++ {
			add(i*step, step)
		}
	}
	bent := (100+to)/(100+max(from, 0)) > 1.5 // the bar is linear in increases only below 0
	switch {
	case !bent && from >= 0:
		evenly(from, to, niceStep((to-from)/5))
		return out
	case !bent:
		evenly(from, to, step)
		return out
	case from < 0:
		evenly(from, 0, step)
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

// plot is the colour bar.
func (s colourScale) plot(d HeatmapData) *plot.Plot {
	p := newPlot(d.Style, d.ZLabel, "")
	p.X.Label.TextStyle.Font.Size = vg.Points(9.5)
	p.X.Min, p.X.Max = s.lo, s.hi
	p.X.Tick.Marker = plot.TickerFunc(s.ticks)
	p.X.LineStyle.Width = 0
	p.HideY()
	p.Add(s)
	return p
}

// Plot implements plot.Plotter: it draws the colours. An end beyond which there are values is
// pointed.
func (s colourScale) Plot(c draw.Canvas, p *plot.Plot) {
	tx, _ := p.Transforms(&c)
	// The bar is made of strips. Each reaches up to the end of the bar, so that no gap shows
	// between them. (A PDF with a second image would hold the two in random order.)
	const steps = 128
	for i := range steps {
		strip, v := c.Rectangle, s.lo+(s.hi-s.lo)*float64(i)/steps
		strip.Min.X = tx(v)
		c.FillPolygon(s.colour(v), corners(strip))
	}
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
	for _, v := range s.marks() {
		c.StrokeLine2(contourStyle(v), tx(v), c.Min.Y, tx(v), c.Max.Y)
	}
}

func hasBlank(z [][]float64) bool {
	return slices.ContainsFunc(z, func(row []float64) bool { return slices.ContainsFunc(row, math.IsNaN) })
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
