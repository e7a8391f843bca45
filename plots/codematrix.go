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
func CodeMatrix(d CodeMatrixData) (*Figure, error) {
	marks := transitionMarks{d: d}
	var notes []string
	if d.Levels > maxPixels || d.Bits > maxPixels {
		notes = append(notes, "not all drawn")
	}
	marked := marks.fit()
	if !marked {
		notes = append(notes, "transitions not marked")
	}
	img := matrixImage(d.Levels, d.Bits, func(i, k int) color.Color {
		if d.Bit(i, k) {
			return color.Gray{Y: 20}
		}
		return color.White
	})
	title := d.Title
	if len(notes) > 0 {
		title = strings.TrimSpace(title + " (" + strings.Join(notes, ", ") + ")")
	}
	p := newPlot(d.Style, "bit k", "level n")
	// Levels run downwards, so the axis holds their negatives.
	p.X.Min, p.X.Max = 0.5, float64(d.Bits)+0.5
	p.Y.Min, p.Y.Max = -float64(d.Levels)-0.5, -0.5
	p.X.Tick.Marker = plot.TickerFunc(func(_, hi float64) []plot.Tick { return countTicks(1, hi) })
	p.Y.Tick.Marker = plot.TickerFunc(func(lo, _ float64) []plot.Tick { return countTicks(-1, -lo) })
	p.X.LineStyle.Width, p.Y.LineStyle.Width = 0, 0 // the frame takes the place of axis lines
	p.Add(plotter.NewImage(img, p.X.Min, p.Y.Min, p.X.Max, p.Y.Max))
	if marked {
		p.Add(marks)
	}
	// Cells are square where that gives a reasonable shape.
	long, short := 5.2, 2.6
	if d.Style.column() {
		long = float64(d.Style.width()/vg.Inch) - 0.8
	}
	width, height := long, long*float64(d.Levels)/float64(d.Bits)
	if height > long {
		width, height = long*float64(d.Bits)/float64(d.Levels), long
	}
	width, height = max(width, short), max(height, short)
	around := 0.7
	if d.Style.Place != "" { // the picture is as wide as its place, with the matrix in the middle
		around = max(around, float64(d.Style.width()/vg.Inch)-width)
	}
	h := d.Style.heading(title, vg.Length(width+around)*vg.Inch-vg.Points(12))
	p.Title.Text, p.Title.TextStyle.Font, p.Title.Padding = h.text, h.style.Font, vg.Points(6)
	return &Figure{
		width: vg.Length(width+around) * vg.Inch, height: vg.Length(height+0.8) * vg.Inch, style: d.Style,
		draw: func(c draw.Canvas) {
			side := vg.Length(around-0.7) / 2 * vg.Inch
			c = draw.Crop(c, side+vg.Points(4), -side-vg.Points(8), vg.Points(4), -vg.Points(6))
			p.Draw(c)
			frame(c, p.DataCanvas(c).Rectangle)
		},
	}, nil
}

// matrixImage is a matrix as an image, with several pixels for each entry of a small one. Of a large one
// it has every few rows and columns.
func matrixImage(rows, columns int, colour func(i, k int) color.Color) image.Image {
	side := func(n int) (pixels int) { return min(n, maxPixels) * max(1, maxPixels/n) }
	w, h := side(columns), side(rows)
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, colour(y*rows/h, x*columns/w))
		}
	}
	return img
}

// transitionMarks draws a line between rows n and n+1 wherever they differ.
type transitionMarks struct{ d CodeMatrixData }

// all yields the bits k in which rows i and i+1 differ, from 0.
func (t transitionMarks) all(yield func(i, k int) bool) {
	for i := range t.d.Levels - 1 {
		for k := range t.d.Bits {
			if t.d.Bit(i, k) != t.d.Bit(i+1, k) && !yield(i, k) {
				return
			}
		}
	}
}

// fit reports whether the matrix has room for the marks.
func (t transitionMarks) fit() bool {
	if max(t.d.Levels, t.d.Bits) > maxMarked {
		return false
	}
	marks := 0
	for range t.all {
		marks++
	}
	return marks <= maxMarks
}

// Plot implements plot.Plotter.
func (t transitionMarks) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	cell := float64(ty(0)-ty(-1)) / float64(vg.Points(1))
	// small cells stay visible
	style := draw.LineStyle{Color: vermillion, Width: vg.Points(min(2.2, max(0.9, cell/5), cell/2.5))}
	for i, k := range t.all {
		y := ty(-float64(i) - 1.5)
		c.StrokeLine2(style, tx(float64(k)+0.5), y, tx(float64(k)+1.5), y)
	}
}

// countTicks marks 1 and round numbers up to hi, on an axis with a sign.
func countTicks(sign, hi float64) []plot.Tick {
	last := math.Floor(hi)
	step := max(1, niceStep(last/5))
	out := []plot.Tick{{Value: sign, Label: "1"}}
	for v := step; v <= last; v += step {
		if v > 1 {
			out = append(out, plot.Tick{Value: sign * v, Label: strconv.Itoa(int(v))})
		}
	}
	return out
}
