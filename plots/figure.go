// Package plots draws the figures of belsim: heatmaps of planes of error models, code matrices,
// errors and error rates by level, comparisons of codes, and intervals.
// It draws plain data; package paper makes them of results.
//
// Figures stay readable without colours: lines differ in dash and weight, points differ in
// shape, and contours of heatmaps differ in dash.
package plots

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Formats lists the formats a Figure can be written in.
func Formats() []string { return []string{"png", "svg", "pdf"} }

// Figure is a finished drawing.
type Figure struct {
	width, height vg.Length         // of the layout
	draw          func(draw.Canvas) // on white
	style         Style
}

// Style is how a figure looks.
type Style struct {
	// Place is where the figure will appear: it sets width, letters and resolution. No place is the
	// width of the text of a page, 6.3 inches, with letters of 9 to 11 points.
	Place   string
	NoTitle bool // a paper has captions instead
}

// Column is the place of one of two columns, 3.3 inches wide, with letters of 6.5 to 8 points.
const Column = "column"

// page has the width of a place in inches, and the scale of the letters on the page.
type page struct {
	width, scale float64
	sans         bool
	dots         float64 // of PNG files, on an inch of the page; 0: of the layout
}

// pages are those of the places. Widths are those of the templates for authors in 2026: of the text
// and of a column. Their figures have letters of 5 to 9 points.
var pages = []struct {
	place string
	page
}{
	{"", page{width: 6.3, scale: 1}},
	{Column, page{width: 3.3, scale: 3.3 / 4.5}},
	{"iclr", page{width: 5.5, scale: 0.8, dots: 600}},
	{"iclr-column", page{width: 2.65, scale: 0.6, dots: 600}},
	{"neurips", page{width: 5.5, scale: 0.8, dots: 600}},
	{"neurips-column", page{width: 2.65, scale: 0.6, dots: 600}},
	{"icml", page{width: 6.75, scale: 0.8, dots: 600}},
	{"icml-column", page{width: 3.25, scale: 3.25 / 4.5, dots: 600}},
	{"ieee", page{width: 7.16, scale: 0.8, dots: 600}},
	{"ieee-column", page{width: 3.5, scale: 3.5 / 4.7, dots: 600}},
	{"nature", page{width: 7.2, scale: 0.7, sans: true, dots: 600}},
	{"nature-column", page{width: 3.5, scale: 0.7, sans: true, dots: 600}},
}

// Places lists the places of styles besides the empty one, and the same with their widths in inches.
func Places() (names, widths []string) {
	for _, p := range pages[1:] {
		names, widths = append(names, p.place), append(widths, fmt.Sprintf("%s (%.4g)", p.place, p.width))
	}
	return names, widths
}

// page returns the numbers of the style's place, those of the empty one for an unknown place.
func (s Style) page() page {
	for _, p := range pages {
		if p.place == s.Place {
			return p.page
		}
	}
	return pages[0].page
}

// column reports whether a style is of a column.
func (s Style) column() bool { return strings.HasSuffix(s.Place, Column) }

// width is the width of the layout. A figure is laid out with the same letters for every style, and
// printed smaller.
func (s Style) width() vg.Length {
	p := s.page()
	return vg.Length(p.width/p.scale) * vg.Inch
}

// of scales a length of a figure of 6.3 inches in proportion to the width of the layout.
func (s Style) of(inches float64) vg.Length { return vg.Length(inches) * s.width() / 6.3 }

// dotsPerInch is the resolution of PNG files, on an inch of the layout: a figure of one column's
// width is sharp in print.
const dotsPerInch = 200

// Write writes the figure as png, svg or pdf. The same figure gives the same bytes.
func (f *Figure) Write(w io.Writer, format string) (err error) {
	// gonum/plot panics where it cannot draw.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("drawing figure: %v", r)
		}
	}()
	var canvas interface {
		vg.CanvasSizer
		io.WriterTo
	}
	mend := func(written []byte) []byte { return written }
	page := f.style.page()
	scale := page.scale
	width, height := f.width*vg.Length(scale), f.height*vg.Length(scale)
	whole := vg.Rectangle{Max: vg.Point{X: f.width, Y: f.height}}
	paint := func(c draw.Canvas) {
		c.FillPolygon(color.White, corners(c.Rectangle))
		f.draw(c)
	}
	scaled := func(c vg.CanvasSizer) draw.Canvas {
		if scale != 1 {
			c.Scale(scale, scale)
		}
		return draw.Canvas{Canvas: c, Rectangle: whole}
	}
	switch format {
	case "png":
		// It has the pixels of the layout, because scaling would blur letters, and says how many are
		// on an inch of the page.
		dpi := dotsPerInch
		if page.dots > 0 {
			dpi = int(math.Round(page.dots * scale))
		}
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(f.width, f.height), vgimg.UseDPI(dpi))}
		paint(draw.New(canvas))
		mend = func(png []byte) []byte { return withResolution(png, float64(dpi)/scale) }
	case "svg":
		canvas = vgsvg.New(width, height)
		paint(scaled(outlines{CanvasSizer: canvas}))
		mend = mendImages
	case "pdf":
		settlePDF()
		canvas = vgpdf.New(width, height)
		paint(scaled(outlines{CanvasSizer: canvas, widths: map[int]bool{}}))
	default:
		return fmt.Errorf("cannot draw %q; want one of %s", format, strings.Join(Formats(), ", "))
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	_, err = w.Write(mend(b.Bytes()))
	return err
}

// mendImages corrects the images in an SVG. It says that they are PNGs, which is true, and
// not JPEGs, which strict viewers then refuse to show. It also makes them fill their
// rectangle, for every shape of the image.
func mendImages(svg []byte) []byte {
	svg = bytes.ReplaceAll(svg, []byte("data:image/jpg;base64,iVBOR"), []byte("data:image/png;base64,iVBOR"))
	return bytes.ReplaceAll(svg, []byte("<image x="), []byte(`<image preserveAspectRatio="none" x=`))
}

// withResolution adds the chunk pHYs to a PNG, behind its first one: dots on a metre, from those on
// an inch.
func withResolution(png []byte, perInch float64) []byte {
	const header = 8 + 25 // the signature, and the chunk IHDR
	dots := uint32(math.Round(perInch / 0.0254))
	chunk := binary.BigEndian.AppendUint32([]byte("pHYs"), dots)
	chunk = append(binary.BigEndian.AppendUint32(chunk, dots), 1)
	sum := crc32.ChecksumIEEE(chunk)
	chunk = append([]byte{0, 0, 0, 9}, binary.BigEndian.AppendUint32(chunk, sum)...)
	return slices.Insert(png, header, chunk...)
}

// settlePDF makes PDFs list their images in the order of their widths, and have one date. gonum's canvas hides
// the document, so the defaults of all documents are set, once.
var settlePDF = sync.OnceFunc(func() {
	date := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	fpdf.SetDefaultCatalogSort(true)
	fpdf.SetDefaultCreationDate(date)
	fpdf.SetDefaultModificationDate(date)
})

// Colours that differ in hue for colour-blind readers (Okabe and Ito) and in
// lightness for printers.
var (
	black      = color.NRGBA{A: 255}
	grey       = color.NRGBA{R: 130, G: 130, B: 130, A: 255}
	paleGrey   = color.NRGBA{R: 225, G: 225, B: 225, A: 255}
	blue       = color.NRGBA{R: 0, G: 84, B: 147, A: 255}
	vermillion = color.NRGBA{R: 213, G: 94, B: 0, A: 255}
)

// newPlot returns a plot with the letters of all figures of a style.
func newPlot(s Style, x, y string) *plot.Plot {
	p := plot.New()
	p.Legend.TextStyle = textStyle(s, 9)
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font = textStyle(s, 11).Font
		axis.Label.Padding = vg.Points(3)
		axis.Tick.Label.Font = textStyle(s, 9).Font
		axis.Padding = 0
		axis.Tick.Marker = plot.TickerFunc(ticks)
	}
	return p
}

// textStyle returns the text style of all figures of a style, for letters of some points in the
// layout.
func textStyle(s Style, points float64) draw.TextStyle {
	style := plot.New().Legend.TextStyle
	if s.page().sans {
		style.Font.Variant = "Sans"
	}
	style.Font.Size = vg.Points(points)
	return style
}

// styleOf returns the text style of a plot, for letters of some points.
func styleOf(p *plot.Plot, points float64) draw.TextStyle {
	style := p.Legend.TextStyle
	style.Font.Size = vg.Points(points)
	return style
}

// heading is a title that fits a width, and its style: a long one has smaller letters, and then several lines.
func (s Style) heading(title string, width vg.Length) (string, draw.TextStyle) {
	style := textStyle(s, 11)
	style.XAlign, style.YAlign = draw.XCenter, draw.YTop
	for style.Font.Size > vg.Points(9) && style.Width(title) > width {
		style.Font.Size -= vg.Points(0.5)
	}
	var lines []string
	for word := range strings.SplitSeq(strings.ReplaceAll(title, " = ", "\u00a0=\u00a0"), " ") { // r = 1 stays on one line
		word = abridge(style, word, width)
		if last := len(lines) - 1; last >= 0 && style.Width(lines[last]+" "+word) <= width {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return strings.Join(lines, "\n"), style
}

// abridge takes letters out of the middle of text until it fits a width.
func abridge(style draw.TextStyle, text string, width vg.Length) string {
	runes := []rune(text)
	for keep := len(runes) - 1; keep > 1 && style.Width(text) > width; keep-- {
		text = string(runes[:keep/2]) + "…" + string(runes[len(runes)-(keep+1)/2:])
	}
	return text
}

// shrink reduces the font of a style until text fits a width, but not below a readable
// size. Where this is not enough, it abridges the text.
func shrink(style draw.TextStyle, text string, width vg.Length) (draw.TextStyle, string) {
	for style.Font.Size > vg.Points(6) && style.Width(text) > width {
		style.Font.Size -= vg.Points(0.5)
	}
	return style, abridge(style, text, width)
}

// ticks marks four to seven round numbers.
func ticks(lo, hi float64) []plot.Tick {
	step := niceStep((hi - lo) / 5)
	first, last := math.Ceil(lo/step-1e-9), math.Floor(hi/step+1e-9)
	// Count steps from the first tick: where neighbouring floats are further apart than 1,
	// i++ would not change i.
	var out []plot.Tick
	for n := 0.0; n <= min(last-first, 20); n++ {
		i := first + n
		out = append(out, plot.Tick{Value: i * step, Label: tickLabel(i*step, step)})
	}
	return out
}

// niceStep is 1, 2 or 5 times a power of ten, near x.
func niceStep(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(x)))
	if power == 0 { // x is among the smallest floats
		return x
	}
	for _, m := range []float64{1, 2, 5} {
		if x <= 1.25*m*power {
			return m * power
		}
	}
	return 10 * power
}

// tickLabel writes v with the digits that a step needs, and a real minus sign.
func tickLabel(v, step float64) string {
	digits := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
	if step < 1e-4 || math.Abs(v) >= 1e6 {
		return minus(strconv.FormatFloat(v, 'g', 3, 64))
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Trim(s, "-0.") == "" {
		s = "0"
	}
	return minus(s)
}

func minus(s string) string { return strings.ReplaceAll(s, "-", "−") }

// logTicks marks an axis of decimal logarithms: powers of ten and, where there are few of them,
// also 2 and 5 times these powers; on a short axis, round numbers. Figures draw logarithms on a
// linear axis and do not use plot.LogScale, which reserves room for the label of the axis in a
// wrong place.
func logTicks(lo, hi float64) []plot.Tick {
	const slack = 1e-9
	decades := hi - lo
	if decades < 1 && math.Abs(lo) < 300 {
		out := ticks(math.Pow(10, lo), math.Pow(10, hi))
		for i := range out {
			out[i].Value = math.Log10(out[i].Value)
		}
		return out
	}
	every := math.Ceil(decades / 9) // decades from label to label
	var out []plot.Tick
	for power := math.Floor(lo); power <= hi+1; power++ {
		if every > 1 && math.Mod(power, every) != 0 {
			continue
		}
		for m := 1.0; m < 10; m++ {
			tick := plot.Tick{Value: power + math.Log10(m)}
			if tick.Value < lo-slack || tick.Value > hi+slack || every > 1 && m > 1 {
				continue
			}
			if m == 1 || decades < 2.5 && (m == 2 || m == 5) {
				tick.Label = powerLabel(m, power)
			}
			out = append(out, tick)
		}
	}
	return out
}

// powerLabel writes m·10^power.
func powerLabel(m, power float64) string {
	return minus(strconv.FormatFloat(m*math.Pow(10, power), 'g', 6, 64))
}

// axis is one of the coordinates of a grid.
type axis struct {
	at  []float64
	log bool
}

// newAxis checks that the coordinates ascend.
func newAxis(name string, at []float64, log bool) (axis, error) {
	if len(at) == 0 {
		return axis{}, fmt.Errorf("no %s values to draw", name)
	}
	a := axis{at, log}
	for i, v := range at {
		if !(math.Abs(v) <= largest) || log && v < 1/largest || i > 0 && a.on(v) <= a.on(at[i-1]) {
			return axis{}, fmt.Errorf("%s value %d is %v; want numbers that ascend, of at most ±%g, and positive on a log axis",
				name, i+1, v, largest)
		}
	}
	return a, nil
}

// largest is the largest magnitude of a number that is drawn. Margins, sums and
// differences of such numbers are finite.
const largest = 1e300

// on is the place of a value on the axis. Ends of intervals may be 0 or +Inf, so it limits how far
// away a place is.
func (a axis) on(v float64) float64 {
	if a.log {
		v = math.Log10(v)
	}
	return min(max(v, -largest), largest)
}

// pixels are the edges of the cells in a picture of about some size: half-way between neighbours.
// Cells that are evenly spaced are equally wide.
func (a axis) pixels(size int) []int {
	n := len(a.at)
	edges, pixels := make([]int, n+1), float64(n*max(1, size/n))
	lo, hi := a.value(-0.5), a.value(float64(n)-0.5)
	for i := range edges {
		edges[i] = int(math.Round(pixels * (a.value(float64(i)-0.5) - lo) / (hi - lo)))
	}
	return edges
}

// value interpolates between the coordinates, or between their decimal logarithms
// on a log axis: value(0) is the first, value(½) is half-way to the second. Beyond an end
// it continues with the step at this end.
func (a axis) value(index float64) float64 {
	n := len(a.at)
	switch {
	case n == 1 && a.log:
		return a.on(a.at[0]) + index*math.Log10(1.1)
	case n == 1 && math.Abs(a.at[0]) < 1/largest:
		return index
	case n == 1:
		return a.at[0] + 0.1*index*math.Abs(a.at[0])
	}
	i := max(0, min(int(math.Floor(index)), n-2))
	from, to := a.on(a.at[i]), a.on(a.at[i+1])
	return from + (index-float64(i))*(to-from)
}

// set gives the axis of a plot the range of the cells. The coordinates are the centres of
// the cells.
func (a axis) set(p *plot.Axis) {
	p.Min, p.Max = a.value(-0.5), a.value(float64(len(a.at))-0.5)
	if a.log {
		p.Tick.Marker = plot.TickerFunc(logTicks)
	}
}

// series is a line or points of a figure with its entry in the key.
type series struct {
	name  string
	line  draw.LineStyle
	glyph draw.GlyphStyle
}

// titled is a figure with a title above the middle of its axes, which the drawing of the rest returns.
func (s Style) titled(title string, height vg.Length, rest func(below draw.Canvas) (axes draw.Canvas)) *Figure {
	title, style := s.heading(title, s.width()-vg.Points(14))
	return &Figure{width: s.width(), height: height, style: s, draw: func(c draw.Canvas) {
		c = draw.Crop(c, vg.Points(4), -vg.Points(10), vg.Points(4), -vg.Points(5)) // margins
		room := style.Height(title) + vg.Points(4)
		if s.NoTitle || title == "" {
			title, room = "", 0
		}
		axes, half := rest(draw.Crop(c, 0, 0, 0, -room)), style.Width(title)/2
		middle := max(min(axes.Center().X, c.Max.X-half), c.Min.X+half)
		c.FillText(style, vg.Point{X: middle, Y: c.Max.Y}, title)
	}}
}

// keyed is a figure of a plot with a key between its title and its axes.
func (s Style) keyed(title string, p *plot.Plot, key []series, height vg.Length) *Figure {
	return s.titled(title, height, func(c draw.Canvas) draw.Canvas { return drawn(p, drawKey(c, p, key)) })
}

// drawn draws a plot, and returns its axes.
func drawn(p *plot.Plot, c draw.Canvas) (axes draw.Canvas) {
	p.Draw(c)
	return p.DataCanvas(c)
}

// drawKey writes the names of series in a row along the top of c, in the letters of a plot, and
// returns the rest of c.
func drawKey(c draw.Canvas, p *plot.Plot, entries []series) draw.Canvas {
	if len(entries) == 0 {
		return c
	}
	style := styleOf(p, 9.5)
	style.YAlign = draw.YCenter
	const sample, gap, space = 22, 5, 16
	y := c.Max.Y - vg.Points(9)
	x := c.Min.X + vg.Points(40)
	for i, e := range entries {
		if i > 0 && x+vg.Points(sample+gap)+style.Width(e.name) > c.Max.X { // another row
			x, y = c.Min.X+vg.Points(40), y-vg.Points(14)
		}
		if e.line.Width > 0 {
			c.StrokeLine2(e.line, x, y, x+vg.Points(sample), y)
		}
		if e.glyph.Shape != nil {
			if e.line.Width == 0 {
				bar := draw.LineStyle{Color: e.glyph.Color, Width: vg.Points(0.8)}
				c.StrokeLine2(bar, x+vg.Points(sample/2), y-vg.Points(5), x+vg.Points(sample/2), y+vg.Points(5))
			}
			c.DrawGlyph(e.glyph, vg.Point{X: x + vg.Points(sample/2), Y: y})
		}
		x += vg.Points(sample + gap)
		c.FillText(style, vg.Point{X: x, Y: y}, e.name)
		x += style.Width(e.name) + vg.Points(space)
	}
	return draw.Crop(c, 0, 0, 0, y-vg.Points(9)-c.Max.Y)
}

// errorAxis sets a logarithmic axis to errors, NaN among them. on returns the place of an error on
// it. Zeros and less are at its lower end, which is marked where there are zeros.
func errorAxis(a *plot.Axis, errors ...float64) (on func(float64) float64) {
	lo, hi, zeros := math.Inf(1), 0.0, false
	for _, v := range errors {
		if v > 0 {
			lo, hi = min(lo, max(v, 1/largest)), max(hi, v) // a smaller one is drawn as zero
		}
		zeros = zeros || v == 0
	}
	if hi == 0 {
		lo, hi = 1, 1
	}
	a.Min, a.Max = math.Log10(lo), math.Log10(hi)
	margin := max(0.05*(a.Max-a.Min), 0.02)
	a.Min, a.Max = a.Min-margin, a.Max+margin
	a.Tick.Marker = plot.TickerFunc(logTicks)
	if zeros {
		a.Min -= margin
		a.Tick.Marker = plot.TickerFunc(func(lo, hi float64) []plot.Tick {
			return append(logTicks(lo+2*margin, hi), plot.Tick{Value: lo, Label: "0"})
		})
	}
	return func(v float64) float64 { return max(math.Log10(max(v, 0)), a.Min) }
}

// Point is a number Y at X with the interval from Lo to Hi, which is around X where bars are
// horizontal. A name, where it has one, stands beside it.
type Point struct {
	Name         string
	X, Y, Lo, Hi float64
}

// points draws points on the axes with bars. An arrow shows that a bar goes on beyond an end of its
// axis; DrawGlyph leaves out a point beyond one.
type points struct {
	at         []Point
	glyph      draw.GlyphStyle
	bar        vg.Length // its width
	horizontal bool      // bars are along x
}

// Plot implements plot.Plotter.
func (m points) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	bar := draw.LineStyle{Color: m.glyph.Color, Width: m.bar}
	for _, at := range m.at {
		axis, center := &p.Y, at.Y
		place := func(v float64) vg.Point { return vg.Point{X: tx(at.X), Y: ty(v)} }
		if m.horizontal {
			axis, center = &p.X, at.X
			place = func(v float64) vg.Point { return vg.Point{X: tx(v), Y: ty(at.Y)} }
		}
		on := func(v float64) vg.Point { return place(min(max(v, axis.Min), axis.Max)) }
		c.StrokeLines(bar, []vg.Point{on(at.Lo), on(at.Hi)})
		if at.Lo < axis.Min {
			m.arrow(c, place(axis.Min), -1)
		}
		if at.Hi > axis.Max {
			m.arrow(c, place(axis.Max), 1)
		}
		c.DrawGlyph(m.glyph, place(center))
	}
}

// arrow draws the head of an arrow whose tip is at an end of an axis: at the upper one where
// towards is 1, at the lower one where it is −1.
func (m points) arrow(c draw.Canvas, tip vg.Point, towards vg.Length) {
	side := m.bar + vg.Points(1.1)
	back, across := vg.Point{Y: -2 * side * towards}, vg.Point{X: side}
	if m.horizontal {
		back, across = vg.Point{X: -2 * side * towards}, vg.Point{Y: side}
	}
	c.FillPolygon(m.glyph.Color, []vg.Point{tip, tip.Add(back).Add(across), tip.Add(back).Sub(across)})
}

// Stack puts figures of one style below each other.
func Stack(figures ...*Figure) *Figure {
	whole := *figures[0]
	whole.height = 0
	for _, f := range figures {
		whole.width, whole.height = max(whole.width, f.width), whole.height+f.height
	}
	whole.draw = func(c draw.Canvas) {
		for _, f := range figures {
			c.Min.Y = c.Max.Y - f.height
			f.draw(c)
			c.Max.Y = c.Min.Y
		}
	}
	return &whole
}
