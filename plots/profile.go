package plots

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"belsim/errmodel/assess"
)

// ProfileData is the error probability of some classifiers as a function of the
// label.
type ProfileData struct {
	Title string
	Curve string // the name of the model of the curves
	Bits  []assess.Profile
	Style Style
}

// maxPanels is the largest number of classifiers in a figure.
const maxPanels = 24

// Profile draws the paper's Figure 3(a, b) and 11: a panel for each classifier with
// observed points, the model's curve, and the target bit as a bar on top, filled
// where it is one. All panels have the same axes, labelled on the left and below.
func Profile(d ProfileData) (*Figure, error) {
	if len(d.Bits) == 0 || len(d.Bits) > maxPanels {
		return nil, fmt.Errorf("error profiles of %d bits; want 1 to %d", len(d.Bits), maxPanels)
	}
	columns := min(2, len(d.Bits))
	if d.Style.column() {
		columns = 1
	}
	rows := (len(d.Bits) + columns - 1) / columns
	panels, top := make([][]*plot.Plot, rows), 0.0
	glyph := draw.GlyphStyle{Color: vermillion, Radius: vg.Points(1.6), Shape: draw.RingGlyph{}}
	curve := draw.LineStyle{Color: blue, Width: vg.Points(1.4)}
	observed, fitted := false, false
	for i, b := range d.Bits {
		p := panel(b, d.Style, glyph, curve)
		panels[i/columns] = append(panels[i/columns], p)
		top = max(top, p.Y.Max)
		observed = observed || len(b.Label) > 0
		fitted = fitted || len(b.X) > 0
	}
	panels[rows-1] = append(panels[rows-1], make([]*plot.Plot, rows*columns-len(d.Bits))...)
	key := []series{{name: "target bit, filled where it is 1", line: draw.LineStyle{Color: black, Width: vg.Points(7)}}}
	if observed {
		key = append(key, series{name: "observed, 95 % interval", glyph: glyph})
	}
	if fitted {
		key = append(key, series{name: d.Curve, line: curve})
	}
	for i := range d.Bits {
		p := panels[i/columns][i%columns]
		if p.Y.Max = top; top == 0 {
			p.Y.Max = 1
		}
		if i%columns > 0 {
			unlabel(&p.Y)
		}
		if i+columns < len(d.Bits) {
			unlabel(&p.X)
		}
	}
	height := vg.Length(rows)*2.1*vg.Inch + 0.9*vg.Inch
	if rows == 1 && columns == 1 && !d.Style.column() {
		height = 3.6 * vg.Inch
	}
	return d.Style.titled(d.Title, height, func(c draw.Canvas) (axes draw.Canvas) {
		c = drawKey(c, panels[0][0], key)
		const above = 28 // points for the bar and the name
		tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: vg.Points(10), PadY: vg.Points(above),
			PadTop: vg.Points(above)}
		for i, row := range plot.Align(panels, tiles, c) {
			for j, at := range row {
				if p := panels[i][j]; p != nil {
					area := drawn(p, at)
					bar(d.Bits[i*columns+j], area, p)
					if i+j == 0 {
						axes = area
					}
					axes.Max.X = max(axes.Max.X, area.Max.X)
				}
			}
		}
		return axes
	}), nil
}

// panel is one classifier's axes, points and curve.
func panel(b assess.Profile, style Style, glyph draw.GlyphStyle, curve draw.LineStyle) *plot.Plot {
	top := 0.0
	p := newPlot(style, "label n (level)", "error probability")
	p.X.Label.TextStyle.Font.Size, p.Y.Label.TextStyle.Font.Size = vg.Points(9.5), vg.Points(9.5)
	p.Add(grid())
	if len(b.X) > 0 {
		line := make(plotter.XYs, len(b.X))
		for i := range line {
			line[i] = plotter.XY{X: b.X[i], Y: b.Fitted[i]}
			top = max(top, b.Fitted[i])
		}
		p.Add(&plotter.Line{XYs: line, LineStyle: curve})
	}
	observed := points{glyph: glyph, bar: vg.Points(0.7)}
	for i := range b.Label {
		observed.at = append(observed.at, Point{X: b.Label[i], Y: b.Rate[i], Lo: b.Lo[i], Hi: b.Hi[i]})
		top = max(top, b.Rate[i])
	}
	// An interval of a few samples may reach far beyond all points. An arrow then says that it goes
	// on.
	highest := top
	for _, hi := range b.Hi {
		highest = max(highest, hi)
	}
	top = min(highest, 3*top)
	p.Add(observed)
	p.X.Min, p.X.Max = 0.5, float64(len(b.Target))+0.5
	p.X.Tick.Marker = plot.TickerFunc(levelTicks)
	p.Y.Min, p.Y.Max = 0, min(1.08*top, 1.02)
	return p
}

// bar draws the target bit above the axes, and the classifier's name above that.
func bar(b assess.Profile, area draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&area)
	r := vg.Rectangle{Min: vg.Point{X: area.Min.X, Y: area.Max.Y + vg.Points(3)}}
	r.Max = vg.Point{X: area.Max.X, Y: r.Min.Y + vg.Points(8)}
	from := 0
	for i, one := range append(slices.Clone(b.Target), false) { // one more ends a run of ones
		if one {
			continue
		}
		if from < i {
			area.FillPolygon(black, corners(vg.Rectangle{
				Min: vg.Point{X: x(float64(from) + 0.5), Y: r.Min.Y}, Max: vg.Point{X: x(float64(i) + 0.5), Y: r.Max.Y},
			}))
		}
		from = i + 1
	}
	frame(area, r)
	style := styleOf(p, 9.5)
	style.XAlign, style.YAlign = draw.XLeft, draw.YBottom
	style, text := shrink(style, b.Name, area.Max.X-area.Min.X)
	area.FillText(style, vg.Point{X: area.Min.X, Y: r.Max.Y + vg.Points(2)}, text)
}
