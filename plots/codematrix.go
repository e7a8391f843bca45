package plots

import (
	"image"
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// CodeMatrixData is an L × M matrix of zeros and ones.
type CodeMatrixData struct {
	Title        string
	Levels, Bits int
	Bit          func(i, k int) bool // row and column from 0
	Style        Style
}

const (
	// maxPixels is the largest side of a matrix's image.
	maxPixels = 1600
	// maxMarked is the largest side for which transitions are marked.
	maxMarked = 600
	// maxMarks is the largest number of marks. More marks would cover the matrix, and
	// make megabytes of SVG.
	maxMarks = 5000
)

// CodeMatrix draws the paper's Figure 2: a code matrix, level 1 at the top, ones
// black and zeros white, with a coloured edge at every bit transition. A matrix of more
// than 600 levels or bits, or with more than 5,000 transitions, has no marks, because they
// would hide it. Of a matrix of more than 1,600 levels or bits every few are drawn. The
// title says so in both cases.
func CodeMatrix(d CodeMatrixData) *Figure {
	marks, marked := d.marks()
	var notes []string
	if d.Levels > maxPixels || d.Bits > maxPixels {
		notes = append(notes, "not all drawn")
	}
	if !marked {
		notes = append(notes, "transitions not marked")
	}
	title := d.Title
	if len(notes) > 0 {
		title = strings.TrimSpace(title + " (" + strings.Join(notes, ", ") + ")")
	}
	p := newMatrix(d.Style, "bit k", "level n", d.Levels, d.Bits, func(i, k int) color.Color {
		if d.Bit(i, k) {
			return color.Gray{Y: 20}
		}
		return color.White
	})
	p.Add(marks)
	// Cells are square where that gives a reasonable shape. The matrix stands in the middle.
	long, short := min(5.2, float64(d.Style.width()/vg.Inch)-0.8), 2.6
	width, height := long, long*float64(d.Levels)/float64(d.Bits)
	if height > long {
		width, height = long*float64(d.Bits)/float64(d.Levels), long
	}
	width, height = max(width, short), max(height, short)
	return d.Style.titled(title, vg.Length(height+0.9)*vg.Inch, func(c draw.Canvas) draw.Canvas {
		side := (c.Size().X - vg.Length(width+0.55)*vg.Inch) / 2
		axes := drawn(p, draw.Crop(c, side, -side, 0, 0))
		frame(c, axes.Rectangle)
		return axes
	})
}

// newMatrix is the plot of a matrix, row 1 at the top, with several pixels for each entry of a small one. Of a large one
// it has every few rows and columns.
func newMatrix(s Style, x, y string, rows, columns int, colour func(i, k int) color.Color) *plot.Plot {
	side := func(n int) (pixels int) { return min(n, maxPixels) * max(1, maxPixels/n) }
	w, h := side(columns), side(rows)
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		i := y * rows / h
		if y > 0 && i == (y-1)*rows/h { // as the pixels above
			copy(img.Pix[y*img.Stride:][:img.Stride], img.Pix[(y-1)*img.Stride:])
			continue
		}
		var last color.Color
		for x := range w {
			if k := x * columns / w; x == 0 || k != (x-1)*columns/w {
				last = colour(i, k)
			}
			img.Set(x, y, last)
		}
	}
	p := newPlot(s, x, y)
	// Rows run downwards, so the axis holds their negatives.
	p.X.Min, p.X.Max = 0.5, float64(columns)+0.5
	p.Y.Min, p.Y.Max = -float64(rows)-0.5, -0.5
	p.X.Tick.Marker = plot.TickerFunc(levelTicks)
	p.Y.Tick.Marker = plot.TickerFunc(func(lo, _ float64) []plot.Tick { return countTicks(-1, -lo) })
	p.X.LineStyle.Width, p.Y.LineStyle.Width = 0, 0 // the frame takes the place of axis lines
	p.Add(plotter.NewImage(img, p.X.Min, p.Y.Min, p.X.Max, p.Y.Max))
	return p
}

// transitionMarks are the bits in which a row and the next one differ, from 0.
type transitionMarks []image.Point

// marks are those of a code, none where they would hide the matrix.
func (d CodeMatrixData) marks() (marks transitionMarks, fit bool) {
	if max(d.Levels, d.Bits) > maxMarked {
		return nil, false
	}
	for i := range d.Levels - 1 {
		for k := range d.Bits {
			if d.Bit(i, k) != d.Bit(i+1, k) {
				marks = append(marks, image.Point{X: k, Y: i})
			}
		}
	}
	if len(marks) > maxMarks {
		return nil, false
	}
	return marks, true
}

// Plot implements plot.Plotter: it draws a line between two rows wherever they differ.
func (t transitionMarks) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	cell := float64(ty(0)-ty(-1)) / float64(vg.Points(1))
	// small cells stay visible
	style := draw.LineStyle{Color: vermillion, Width: vg.Points(min(2.2, max(0.9, cell/5), cell/2.5))}
	for _, at := range t {
		y := ty(-float64(at.Y) - 1.5)
		c.StrokeLine2(style, tx(float64(at.X)+0.5), y, tx(float64(at.X)+1.5), y)
	}
}

// levelTicks mark 1 and round numbers on an axis of levels or bits.
func levelTicks(_, hi float64) []plot.Tick { return countTicks(1, hi) }

// countTicks marks 1 and round numbers up to hi, on an axis with a sign.
func countTicks(sign, hi float64) []plot.Tick {
	last := math.Floor(hi)
	step := max(1, niceStep(last/5))
	out := []plot.Tick{{Value: sign, Label: "1"}}
	for v := step; v <= last; v += step {
		if v-1 >= 0.6*step {
			out = append(out, plot.Tick{Value: sign * v, Label: strconv.Itoa(int(v))})
		}
	}
	return out
}
