package plots

import (
	"fmt"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// TestNames: a trade-off shows each name once, inside of its axes, and no two lie on each other, even
// those of marks that coincide.
func TestNames(t *testing.T) {
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
	at := map[string]vg.Rectangle{}
	for _, action := range c.Actions {
		if text, ok := action.(*recorder.FillString); ok && (strings.HasPrefix(text.String, "same") || strings.HasPrefix(text.String, "other")) {
			width := text.Font.Size * vg.Length(len(text.String)) / 3 // at least
			box := vg.Rectangle{Min: text.Point, Max: text.Point.Add(vg.Point{X: width, Y: 0.7 * text.Font.Size})}
			for name, b := range at {
				if box.Min.X < b.Max.X && b.Min.X < box.Max.X && box.Min.Y < b.Max.Y && b.Min.Y < box.Max.Y {
					t.Errorf("%q at %v lies on %q at %v", text.String, box, name, b)
				}
			}
			at[text.String] = box
			if box.Min.X < 0 || box.Max.X > f.width || box.Min.Y < 0 || box.Max.Y > f.height {
				t.Errorf("%q is outside: %v", text.String, box)
			}
		}
	}
	for _, code := range d.Codes {
		if _, ok := at[code.Name]; !ok {
			t.Errorf("%q is not drawn", code.Name)
		}
	}
}
