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

// Plot implements plot.Plotter.
func (n namesBeside) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	style := styleOf(p, 8)
	style.Color = black
	height := style.Height("x") * 1.2
	s := spots{area: c.Rectangle, radius: n.glyph.Radius}
	var names [][]string
	for _, of := range slices.SortedStableFunc(slices.Values(n.at), func(a, b Point) int { return cmp.Compare(b.Y, a.Y) }) {
		at, text := vg.Point{X: tx(of.X), Y: ty(of.Y)}, abridge(style, of.Name, maxName)
		i := slices.IndexFunc(s.marks, func(m vg.Point) bool { return distance(m, at) < s.radius })
		if i < 0 {
			i = len(names)
			s.marks, s.sizes, names = append(s.marks, at), append(s.sizes, vg.Point{}), append(names, nil)
		}
		names[i] = append(names[i], text)
		s.sizes[i] = vg.Point{X: max(s.sizes[i].X, style.Width(text)), Y: s.sizes[i].Y + height}
	}
	for _, of := range n.others {
		s.marks = append(s.marks, vg.Point{X: tx(of.X), Y: ty(of.Y)})
	}
	line := draw.LineStyle{Color: grey, Width: vg.Points(0.6)}
	for i, at := range s.place() {
		if at.leader {
			c.StrokeLines(line, []vg.Point{at.from, at.to})
		}
		for j, text := range names[i] {
			c.FillText(style, vg.Point{X: at.box.Min.X, Y: at.box.Max.Y - vg.Length(j+1)*height}, text)
		}
	}
}

// spots are the places of names beside marks. Marks that lie on each other have their names one below
// the other, in one place.
type spots struct {
	area   vg.Rectangle
	radius vg.Length  // of a mark
	marks  []vg.Point // of those with names first
	sizes  []vg.Point // of the names
}

// spot is the place of names. A line leads from their mark to names that a reader could take for
// those of another mark.
type spot struct {
	box      vg.Rectangle
	leader   bool
	from, to vg.Point
}

// place finds places for names, which overlap no mark, no other name and no line: beside their
// mark where this is nearer than all others, else at the end of a line, the shorter the better.
func (s spots) place() []spot {
	order := make([]int, len(s.sizes))
	for i := range order {
		order[i] = i
	}
	// The points on the right come first: of two points side by side, the left one has its name on
	// its left.
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.marks[b].X, s.marks[a].X) })
	var taken []spot
	out := make([]spot, len(s.sizes))
	for _, i := range order {
		tried := s.candidates(i)
		at := slices.IndexFunc(tried, func(of spot) bool { return s.free(of, i, taken) })
		out[i] = tried[max(at, 0)] // where all is full, a name lies on others
		taken = append(taken, out[i])
	}
	return out
}

// candidates are the places of a name, the best first.
func (s spots) candidates(i int) (out []spot) {
	mark, size := s.marks[i], s.sizes[i]
	box := func(x, y vg.Length) vg.Rectangle {
		return vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + size.X, Y: y + size.Y}}
	}
	near, above, beside := vg.Points(2.5), vg.Points(4.5), vg.Points(6)
	left, below := mark.X-size.X, mark.Y-size.Y
	for _, b := range []vg.Rectangle{
		box(mark.X+near, mark.Y+above), box(left-near, mark.Y+above), box(mark.X+beside, mark.Y-size.Y/2),
		box(left-beside, mark.Y-size.Y/2), box(mark.X+near, below-above), box(left-near, below-above),
	} {
		out = append(out, spot{box: b})
	}
	const directions = 48
	far := max(s.area.Max.X-s.area.Min.X, s.area.Max.Y-s.area.Min.Y)
	for away := 3 * s.radius; away < far; away += size.Y / 2 {
		for d := range directions {
			sin, cos := math.Sincos(2 * math.Pi * (float64(d) + directions/8) / directions)
			b := box(left+size.X/2+vg.Length(cos)*(away+size.X/2), below+size.Y/2+vg.Length(sin)*(away+size.Y/2))
			of := spot{box: b, leader: true, to: nearest(b, mark)}
			toward := of.to.Sub(mark)
			if length := distance(of.to, mark); length > s.radius {
				of.from = mark.Add(toward.Scale(s.radius / length))
				out = append(out, of)
			}
		}
	}
	return out
}

// free reports whether a name can stand at a place, beside those that stand.
func (s spots) free(of spot, i int, taken []spot) bool {
	b, r := of.box, s.radius
	if b.Min.X < s.area.Min.X || b.Max.X > s.area.Max.X || b.Min.Y < s.area.Min.Y || b.Max.Y > s.area.Max.Y {
		return false
	}
	own := distance(nearest(b, s.marks[i]), s.marks[i])
	for _, mark := range s.marks {
		around := vg.Rectangle{Min: vg.Point{X: mark.X - r, Y: mark.Y - r}, Max: vg.Point{X: mark.X + r, Y: mark.Y + r}}
		// A reader sees which of two marks is nearer where one is half as far again.
		if overlap(b, around) || distance(mark, s.marks[i]) > r &&
			(!of.leader && distance(nearest(b, mark), mark) < 1.5*own || of.leader && crosses(around, of.from, of.to)) {
			return false
		}
	}
	return !slices.ContainsFunc(taken, func(t spot) bool {
		return overlap(b, t.box) || t.leader && crosses(b, t.from, t.to) || of.leader && crosses(t.box, of.from, of.to)
	})
}

// overlap reports whether two rectangles have a common point inside.
func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}

// nearest is the point of a rectangle that is nearest to another point.
func nearest(r vg.Rectangle, to vg.Point) vg.Point {
	return vg.Point{X: min(max(to.X, r.Min.X), r.Max.X), Y: min(max(to.Y, r.Min.Y), r.Max.Y)}
}

func distance(a, b vg.Point) vg.Length {
	return vg.Length(math.Hypot(float64(a.X-b.X), float64(a.Y-b.Y)))
}

// crosses reports whether a line passes through a rectangle, by a look at many of its points.
func crosses(r vg.Rectangle, from, to vg.Point) bool {
	const looks = 64
	for i := range looks + 1 {
		at := from.Add(to.Sub(from).Scale(vg.Length(i) / looks))
		if r.Min.X < at.X && at.X < r.Max.X && r.Min.Y < at.Y && at.Y < r.Max.Y {
			return true
		}
	}
	return false
}
