package plots

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// HeatmapData is a function of two coordinates on a grid.
type HeatmapData struct {
	Title                  string
	X, Y                   []float64 // ascending; r and σ in the paper's Figure 3(c)
	XLog, YLog             bool
	Z                      [][]float64 // Z[iy][ix]; NaN is left blank
	Factors                bool        // Z holds binary logarithms of ratios, and the labels are factors: ×2, ÷4
	XLabel, YLabel, ZLabel string
	Positive, Negative     string // what the two signs mean
	Blank                  string // what a blank cell means
	Mark                   *Mark  // a point to show, or nil
	Style                  Style
}

// Mark is a point of a map with the limits of its intervals.
type Mark struct{ X, XLo, XHi, Y, YLo, YHi float64 }

// Plot implements plot.Plotter: it draws a cross as long as the intervals, and a ring, of a mark on the axes.
// Parts outside the axes are cut off.
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
			glyph := draw.GlyphStyle{Color: line.Color, Radius: vg.Points(2.9) + line.Width/2, Shape: draw.CircleGlyph{}}
			c.DrawGlyph(glyph, vg.Point{X: x(m.X), Y: y(m.Y)})
		}
	}
}

// Heatmap draws signed values in a diverging palette centred on zero, red where
// positive and blue where negative, with a thick contour at zero and thin ones
// at the marks of the colour bar, dashed where negative. Contours are left out where they are short and
// end at blank cells on both sides. Where a few cells have values far
// beyond the others, the palette ends before them, and the colour bar says so.
func Heatmap(d HeatmapData) (*Figure, error) {
	x, err := newAxis("x", d.X, d.XLog)
	if err != nil {
		return nil, fmt.Errorf("heatmap: %w", err)
	}
	y, err := newAxis("y", d.Y, d.YLog)
	if err != nil {
		return nil, fmt.Errorf("heatmap: %w", err)
	}
	if len(d.Z) != len(d.Y) {
		return nil, fmt.Errorf("heatmap: %d rows of values for %d y values", len(d.Z), len(d.Y))
	}
	for i, row := range d.Z {
		if err := checkFinite(fmt.Sprintf("row %d", i+1), row, len(d.X), true); err != nil {
			return nil, fmt.Errorf("heatmap: %w", err)
		}
	}
	scale := newColourScale(d.Z, d.Factors)

	p := newPlot(d.Style, d.Title, d.XLabel, d.YLabel)
	x.set(&p.X)
	y.set(&p.Y)
	p.X.LineStyle.Width, p.Y.LineStyle.Width = 0, 0 // the frame takes the place of axis lines
	p.Add(plotter.NewImage(cells(d.Z, scale, x, y), p.X.Min, p.Y.Min, p.X.Max, p.Y.Max))
	for _, level := range scale.marks {
		style := contourStyle(level)
		for _, path := range contours(d.Z, level) {
			if stray(path, len(d.X), len(d.Y)) {
				continue
			}
			line := make(plotter.XYs, len(path))
			for i, at := range path {
				line[i] = plotter.XY{X: x.value(at.x), Y: y.value(at.y)}
			}
			p.Add(&plotter.Line{XYs: line, LineStyle: style})
		}
	}
	if d.Mark != nil {
		m := Mark{x.on(d.Mark.X), x.on(d.Mark.XLo), x.on(d.Mark.XHi), y.on(d.Mark.Y), y.on(d.Mark.YLo), y.on(d.Mark.YHi)}
		if slices.ContainsFunc([]float64{m.X, m.XLo, m.XHi, m.Y, m.YLo, m.YHi}, math.IsNaN) {
			return nil, fmt.Errorf("heatmap: a mark at %+v is on no place of the axes", *d.Mark)
		}
		p.Add(m)
	}
	const bar = 96 // points to the right of the plot
	fitTitle(p, d.Style.width()-vg.Points(bar+10))
	return &Figure{
		width: d.Style.width(), height: d.Style.of(4.3), style: d.Style,
		draw: func(c draw.Canvas) {
			c = draw.Crop(c, vg.Points(4), -vg.Points(6), vg.Points(4), -vg.Points(6))
			main := draw.Crop(c, 0, -vg.Points(bar), 0, 0)
			p.Draw(main)
			area := p.DataCanvas(main)
			frame(c, area.Rectangle)
			if scale.empty {
				style := textStyle(d.Style, 11)
				style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
				c.FillText(style, area.Center(), "no valid cell")
			}
			left := main.Max.X + vg.Points(14)
			scale.draw(c, vg.Rectangle{
				Min: vg.Point{X: left, Y: area.Min.Y},
				Max: vg.Point{X: left + vg.Points(13), Y: area.Max.Y},
			}, d)
		},
	}, nil
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

// colourScale maps values to colours, symmetrically about zero.
type colourScale struct {
	limit   float64   // the palette covers −limit … limit
	marks   []float64 // round numbers, zero among them
	step    float64
	clipped bool // some value is beyond limit
	factors bool // values are binary logarithms of ratios
	empty   bool // there is no value at all
}

func newColourScale(z [][]float64, factors bool) colourScale {
	var size []float64
	for _, row := range z {
		for _, v := range row {
			if !math.IsNaN(v) {
				size = append(size, math.Abs(v))
			}
		}
	}
	s := colourScale{limit: 1, empty: len(size) == 0, factors: factors}
	if len(size) > 0 {
		slices.Sort(size)
		extreme := size[len(size)-1]
		typical := size[len(size)-1-len(size)/50] // 98 % are not larger; with few cells, all
		s.limit = extreme
		if typical > 0 && extreme > 1.5*typical {
			s.limit = typical
		}
		if factors {
			s.limit = min(s.limit, mostFactor)
		}
		if s.limit < 1/largest { // all values are zero, or nearly
			s.limit = 1
		}
		// The bar ends at a mark, which is a round number.
		s.step = s.stepOf(s.limit / 4)
		s.limit = s.step * math.Ceil(s.limit/s.step-1e-9)
		s.clipped = extreme > s.limit*(1+1e-9)
	}
	if s.step == 0 {
		s.step = s.stepOf(s.limit / 4)
	}
	for i := -math.Floor(s.limit/s.step + 1e-9); i*s.step <= s.limit*(1+1e-9); i++ {
		s.marks = append(s.marks, i*s.step)
	}
	return s
}

// mostFactor is the binary logarithm of the largest factor that has a colour of its own: errors that are
// nearly zero have any factor.
const mostFactor = 6

// stepOf is a round distance of marks: factors are powers of two.
func (s colourScale) stepOf(step float64) float64 {
	if s.factors {
		return max(1, math.Ceil(step))
	}
	return niceStep(step)
}

// label is the text of a mark.
func (s colourScale) label(v float64) string {
	label := ""
	switch {
	case s.factors && v == 0:
		label = "equal"
	case s.factors:
		label = map[bool]string{true: "×", false: "÷"}[v > 0] + strconv.FormatFloat(math.Exp2(math.Abs(v)), 'g', 4, 64)
	case v > 0:
		label = "+" + tickLabel(v, s.step)
	default:
		label = tickLabel(v, s.step)
	}
	if s.clipped && math.Abs(math.Abs(v)-s.limit) < 1e-9*s.limit {
		sign := map[bool]string{true: "≥ ", false: "≤ "}[v > 0]
		if s.factors {
			sign = "≥ " // of a factor, in both directions
		}
		label = sign + label
	}
	return label
}

// The anchors of the palette, from zero outwards. The blue end is much lighter than the red
// end: without colours, dark means positive.
var (
	reds  = []color.NRGBA{{247, 247, 247, 255}, {253, 219, 199, 255}, {244, 165, 130, 255}, {214, 96, 77, 255}, {165, 15, 38, 255}, {90, 0, 25, 255}}
	blues = []color.NRGBA{{247, 247, 247, 255}, {226, 238, 246, 255}, {198, 224, 241, 255}, {165, 206, 233, 255}, {128, 186, 224, 255}, {88, 163, 213, 255}}
)

func (s colourScale) colour(v float64) color.NRGBA {
	anchors := reds
	if v < 0 {
		anchors = blues
	}
	at := min(1, math.Abs(v)/s.limit) * float64(len(anchors)-1)
	i := min(int(at), len(anchors)-2)
	f := at - float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + f*(float64(b)-float64(a)))) }
	a, b := anchors[i], anchors[i+1]
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

// draw draws the colour bar in r, with its marks and legend to the right.
func (s colourScale) draw(c draw.Canvas, r vg.Rectangle, d HeatmapData) {
	// The bar is made of strips. Each reaches up to the end of the bar, so that no gap shows
	// between them. (A PDF with a second image would hold the two in random order.)
	const steps = 128
	for i := range steps {
		strip := r
		strip.Min.Y += (r.Max.Y - r.Min.Y) * vg.Length(i) / steps
		c.FillPolygon(s.colour(s.limit*(2*(float64(i)+0.5)/steps-1)), corners(strip))
	}
	frame(c, r)

	style := textStyle(d.Style, 9)
	style.YAlign = draw.YCenter
	y := func(v float64) vg.Length {
		return r.Min.Y + (r.Max.Y-r.Min.Y)*vg.Length((v/s.limit+1)/2)
	}
	widest := vg.Length(0) // of the labels
	for _, v := range s.marks {
		line := contourStyle(v)
		c.StrokeLine2(line, r.Min.X, y(v), r.Max.X, y(v))
		c.StrokeLine2(draw.LineStyle{Color: black, Width: vg.Points(0.6)}, r.Max.X, y(v), r.Max.X+vg.Points(3), y(v))
		style, label := shrink(style, s.label(v), vg.Points(40))
		c.FillText(style, vg.Point{X: r.Max.X + vg.Points(5), Y: y(v)}, label)
		widest = max(widest, style.Width(label))
	}
	// The legend stands upright along the bar.
	upright := textStyle(d.Style, 10)
	upright.Rotation = math.Pi / 2
	upright.XAlign, upright.YAlign = draw.XCenter, draw.YTop
	at := r.Max.X + max(vg.Points(37), vg.Points(6)+widest)
	height := r.Max.Y - r.Min.Y
	label, text := shrink(upright, d.ZLabel, height)
	c.FillText(label, vg.Point{X: at, Y: (r.Min.Y + r.Max.Y) / 2}, text)
	small := upright
	small.Font.Size = vg.Points(8.5)
	at += vg.Points(14)
	// Each sign has half of the bar.
	small.XAlign = draw.XRight
	label, text = shrink(small, d.Positive, 0.48*height)
	c.FillText(label, vg.Point{X: at, Y: r.Max.Y}, text)
	small.XAlign = draw.XLeft
	label, text = shrink(small, d.Negative, 0.48*height)
	c.FillText(label, vg.Point{X: at, Y: r.Min.Y}, text)
	if d.Blank != "" && hasBlank(d.Z) {
		box := vg.Rectangle{Min: vg.Point{X: r.Min.X, Y: r.Min.Y - vg.Points(22)}}
		box.Max = vg.Point{X: r.Max.X, Y: box.Min.Y + vg.Points(9)}
		style := draw.LineStyle{Color: color.NRGBA{190, 190, 190, 255}, Width: vg.Points(0.7)}
		height := box.Max.Y - box.Min.Y
		for x := box.Min.X - height + vg.Points(2); x < box.Max.X; x += vg.Points(4) {
			// From the bottom to the top at 45°, cut at the sides.
			lo, hi := max(x, box.Min.X), min(x+height, box.Max.X)
			c.StrokeLine2(style, lo, box.Min.Y+lo-x, hi, box.Min.Y+hi-x)
		}
		frame(c, box)
		note := textStyle(d.Style, 8.5)
		note.YAlign = draw.YCenter
		left := box.Max.X + vg.Points(5)
		note, text := shrink(note, d.Blank, c.Max.X-left)
		c.FillText(note, vg.Point{X: left, Y: (box.Min.Y + box.Max.Y) / 2}, text)
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
			colour := s.colour(v)
			for py := cell.Min.Y; py < cell.Max.Y; py++ {
				for px := cell.Min.X; px < cell.Max.X; px++ {
					img.SetNRGBA(px, py, colour)
				}
			}
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
