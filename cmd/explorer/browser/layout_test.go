package browser

import (
	"fmt"
	"testing"
)

// TestHeaders: bars above figures have one line at 1,400 pixels, also with long names, and bars in
// the table are seen beside one-hot's error, which is ten times as large.
func TestHeaders(t *testing.T) {
	p := open(t, fileURL(t)+"#code=johnson-nonzero&other=johnson-nonzero&method=exact", 1400, 1000)
	for selector, most := range map[string]float64{"header": 60, "#map-card .bar": 34, "#levels-card .bar": 34} {
		if r := p.shown(selector); r.Height > most {
			t.Errorf("%s is %v pixels high; want at most %v", selector, r.Height, most)
		}
	}
	const end = `Math.max(...[...document.querySelectorAll('#map-card .bar > *')].map(
		e => e.getBoundingClientRect().right))`
	if card := p.place("#map-card"); value[float64](p, end) > card.X+card.Width {
		t.Error("the map's header is wider than its card")
	}
	const narrowest = `Math.min(...[...document.querySelectorAll('#table .meter')].map(
		e => e.getBoundingClientRect().width))`
	if narrow := value[float64](p, narrowest); narrow < 6 {
		t.Errorf("a bar of the table is %v pixels wide", narrow)
	}
	p.quiet()
}

// contrast is the ratio of luminances of an element's text and background, as WCAG 2 defines it.
const contrast = `(e => {
	const light = (colour) => {
		const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		const [r, g, b] = colour.match(/[\d.]+/g).map((v) => linear(v / 255));
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const style = getComputedStyle(e), both = [light(style.color), light(style.backgroundColor)];
	return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
})(document.getElementById(%q))`

// TestContrast: buttons are legible in both themes, also those that are disabled.
func TestContrast(t *testing.T) {
	p := open(t, fileURL(t), 1400, 1000)
	for range 2 {
		theme := value[string](p, "document.documentElement.dataset.theme ?? ''")
		if !value[bool](p, "document.getElementById('undo').disabled") {
			t.Error("there is nothing to undo, and the button is not disabled")
		}
		for _, button := range []string{"undo", "link"} {
			if ratio := value[float64](p, fmt.Sprintf(contrast, button)); ratio < 4.5 {
				t.Errorf("theme %q: the button %s has a contrast of %.2g; want 4.5", theme, button, ratio)
			}
		}
		p.press("#theme")
	}
	p.quiet()
}

// TestPhone: at the width of a phone nothing is cut, and the sliders and what they mean stay in
// view, with the errors that they move, above every figure.
func TestPhone(t *testing.T) {
	const width, height = 390, 844
	p := open(t, fileURL(t), width, height)
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
