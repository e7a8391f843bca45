package plots

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// TestNames: names lie on no other name, mark or line, and belong to the nearest mark, or a line leads to
// them from their own.
func TestNames(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, names := range [][]int{{1}, {1, 1, 1, 1, 1, 1, 1, 1}, {3, 1, 1, 2, 1, 1, 1}, {12, 1, 1, 1}, {2, 2, 2, 2, 2, 2}} {
		for range 20 {
			s := spots{area: vg.Rectangle{Max: vg.Point{X: 400, Y: 220}}, radius: 3.2}
			for _, n := range append(names, 0, 0) { // marks without names at the end
				at := vg.Point{X: vg.Length(20 + 360*random.Float64()), Y: vg.Length(20 + 180*random.Float64())}
				if len(s.marks)%3 == 1 {
					at = s.marks[len(s.marks)-1].Add(vg.Point{Y: 7}) // just above the one before
				}
				s.marks = append(s.marks, at)
				if n > 0 {
					s.sizes = append(s.sizes, vg.Point{X: vg.Length(15 + 50*random.Float64()), Y: vg.Length(9 * n)})
				}
			}
			checkSpots(t, fmt.Sprint(names), s, s.place())
		}
	}
}

func checkSpots(t *testing.T, name string, s spots, placed []spot) {
	t.Helper()
	far := func(r vg.Rectangle, p vg.Point) float64 {
		return math.Hypot(max(0, float64(r.Min.X-p.X), float64(p.X-r.Max.X)), max(0, float64(r.Min.Y-p.Y), float64(p.Y-r.Max.Y)))
	}
	for i, a := range placed {
		own := s.marks[i]
		if a.box.Min.X < 0 || a.box.Min.Y < 0 || a.box.Max.X > s.area.Max.X || a.box.Max.Y > s.area.Max.Y {
			t.Errorf("%s: name %d is outside: %v", name, i, a)
		}
		for j, m := range s.marks {
			if far(a.box, m) < float64(s.radius) {
				t.Errorf("%s: name %d lies on mark %d", name, i, j)
			}
			if !a.leader && far(a.box, m) < far(a.box, own) {
				t.Errorf("%s: name %d has mark %d nearer than its own, and no line", name, i, j)
			}
		}
		if from := math.Hypot(float64(a.from.X-own.X), float64(a.from.Y-own.Y)); a.leader &&
			(math.Abs(from-float64(s.radius)) > 1e-9 || far(a.box, a.to) > 1e-9) {
			t.Errorf("%s: the line of name %d leads from %v to %v, its mark is at %v", name, i, a.from, a.to, own)
		}
		for j, b := range placed {
			if j != i && overlap(a.box, b.box) || j != i && b.leader && crosses(a.box, b.from, b.to) {
				t.Errorf("%s: name %d lies on name %d, or on its line", name, i, j)
			}
		}
	}
}

// TestNamesDrawn: a trade-off shows each name once, those of marks that coincide one below the other.
func TestNamesDrawn(t *testing.T) {
	var d TradeoffData
	for i := range 12 {
		d.Codes = append(d.Codes, Point{Name: fmt.Sprint("same ", i), X: 16, Y: 0.5, Lo: 0.49, Hi: 0.51})
	}
	for i := range 4 {
		d.Codes = append(d.Codes, Point{Name: fmt.Sprint("other ", i), X: float64(17 + i), Y: 0.5, Lo: 0.5, Hi: 0.5})
	}
	f, err := Tradeoff(d)
	if err != nil {
		t.Fatal(err)
	}
	var c recorder.Canvas
	f.draw(draw.NewCanvas(&c, f.width, f.height))
	at := map[string]vg.Point{}
	for _, action := range c.Actions {
		if text, ok := action.(*recorder.FillString); ok {
			if _, twice := at[text.String]; twice && len(text.String) > 5 {
				t.Errorf("%q is drawn twice", text.String)
			}
			at[text.String] = text.Point
		}
	}
	for i, code := range d.Codes {
		here, ok := at[code.Name]
		if !ok {
			t.Errorf("%q is not drawn", code.Name)
		}
		if above := at[d.Codes[max(i-1, 0)].Name]; 0 < i && i < 12 && (here.X != above.X || here.Y > above.Y-8) {
			t.Errorf("%q is at %v, not below %v", code.Name, here, above)
		}
	}
}
