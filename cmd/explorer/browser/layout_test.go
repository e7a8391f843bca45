package browser

import (
	"testing"
)

// TestPhone: at the width of a phone nothing is cut, and the sliders and what they mean stay in
// view, with the errors that they move, above every figure.
func TestPhone(t *testing.T) {
	const width, height = 390, 844
	p := open(t, fileURL(t)+few, width, height)
	if wide := value[float64](p, "document.documentElement.scrollWidth"); wide > width {
		t.Errorf("the page is %v pixels wide", wide)
	}
	const cut = `[...document.querySelectorAll('.canvas text')].filter(e => {
		const text = e.getBoundingClientRect(), figure = e.closest('svg').getBoundingClientRect();
		return text.left < figure.left - 1 || text.right > figure.right + 1;
	}).map(e => e.textContent)`
	if texts := value[[]string](p, cut); len(texts) > 0 {
		t.Errorf("cut in figures: %q", texts)
	}
	const whole = `[...document.querySelectorAll('#table tbody tr:not(:has([colspan])) td:nth-child(5)')].filter(e => {
		const r = e.getBoundingClientRect();
		return r.width > 0 && r.left >= 0 && r.right <= innerWidth;
	}).length`
	rows := value[int](p, "document.querySelectorAll('#table tbody tr:not(:has([colspan]))').length")
	if n := value[int](p, whole); n < 13 || n != rows {
		t.Errorf("%d of %d rows in the table have an exact error that is not cut", n, rows)
	}
	const wider = "(e => e.scrollWidth - e.clientWidth)(document.querySelector('#table-card .scroll'))"
	if wide := value[float64](p, wider); wide > 0 {
		t.Errorf("the table is %v pixels wider than its card", wide)
	}
	for _, figure := range []string{"#matrix-card", "#levels-card", "#bits-card", "#map-card", "#table-card"} {
		p.shown(figure)
		for _, part := range []string{"#r", "#r-why", "#sigma", "#sigma-why", "#exact"} {
			if r := p.place(part); r.Width == 0 || r.X < 0 || r.X+r.Width > width || r.Y < 0 || r.Y+r.Height > height {
				t.Errorf("with %s in view, %s is at %v", figure, part, r)
			}
		}
	}
	p.quiet()
}
