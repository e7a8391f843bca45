package plots

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// namesBeside writes the names of points beside their marks, other marks among them.
type namesBeside struct {
	points
	others []Point // marks without names
}

// Plot implements plot.Plotter. The points on the right come first: of two points side by side, the
// left one has its name on its left. A line leads to a name that is far from its mark.
func (n namesBeside) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	style, r := styleOf(p, 8), n.glyph.Radius
	style.Color = black
	var taken []vg.Rectangle // by marks, and by names
	mark := func(of Point) vg.Point { return vg.Point{X: tx(of.X), Y: ty(of.Y)} }
	for _, of := range slices.Concat(n.at, n.others) {
		at := mark(of)
		taken = append(taken, vg.Rectangle{Min: at.Sub(vg.Point{X: r, Y: r}), Max: at.Add(vg.Point{X: r, Y: r})})
	}
	byX := func(a, b Point) int { return cmp.Compare(b.X, a.X) }
	for _, of := range slices.SortedStableFunc(slices.Values(n.at), byX) {
		at, text := mark(of), abridge(style, of.Name, maxName)
		size := vg.Point{X: style.Width(text), Y: style.Height("x") * 1.2}
		box, far := place(c.Rectangle, at, size, r+vg.Points(2.5), taken)
		taken = append(taken, box)
		if far {
			to := vg.Point{X: min(max(at.X, box.Min.X), box.Max.X), Y: min(max(at.Y, box.Min.Y), box.Max.Y)}
			c.StrokeLine2(draw.LineStyle{Color: grey, Width: vg.Points(0.6)}, at.X, at.Y, to.X, to.Y)
		}
		c.FillText(style, box.Min, text)
	}
}

// place finds the place of a name, which overlaps nothing, on a spiral around its mark, first on the
// right. Where all is full, a name lies on others.
func place(area vg.Rectangle, mark, size vg.Point, gap vg.Length, taken []vg.Rectangle) (box vg.Rectangle, far bool) {
	const directions = 24
	at := func(i int) vg.Rectangle {
		sin, cos := math.Sincos(2 * math.Pi * float64(i%directions) / directions)
		away := gap + vg.Length(i/directions)*size.Y/2
		center := mark.Add(vg.Point{X: vg.Length(cos) * (away + size.X/2), Y: vg.Length(sin) * (away + size.Y/2)})
		half := size.Scale(0.5)
		return vg.Rectangle{Min: center.Sub(half), Max: center.Add(half)}
	}
	for i := range 40 * directions {
		b := at(i)
		if b.Min.X >= area.Min.X && b.Max.X <= area.Max.X && b.Min.Y >= area.Min.Y && b.Max.Y <= area.Max.Y &&
			!slices.ContainsFunc(taken, func(t vg.Rectangle) bool {
				return b.Min.X < t.Max.X && t.Min.X < b.Max.X && b.Min.Y < t.Max.Y && t.Min.Y < b.Max.Y
			}) {
			return b, i >= 2*directions
		}
	}
	return at(0), false
}
