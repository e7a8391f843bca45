package browser

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// serve starts belsim explore with files, and returns the address of the page. The command ends
// when it is interrupted.
func serve(t *testing.T, files ...string) string {
	t.Helper()
	free := get(net.Listen("tcp", "127.0.0.1:0"))(t)
	_, port, _ := net.SplitHostPort(free.Addr().String())
	free.Close()
	// a browser opens without a port
	c := exec.Command(need(t).belsim, append([]string{"explore", "--port", port}, files...)...)
	out := get(c.StdoutPipe())(t)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Signal(os.Interrupt)
		err := c.Wait()
		if code := c.ProcessState.ExitCode(); code != 130 { // interrupted
			t.Errorf("the server ends with %d, %v", code, err)
		}
	})
	line := get(bufio.NewReader(out).ReadString('\n'))(t)
	_, url, _ := strings.Cut(line, "http://")
	url, _, _ = strings.Cut(url, " ")
	if !strings.HasPrefix(url, "127.0.0.1:") {
		t.Fatalf("the server says %q", line)
	}
	return "http://" + url
}

// TestOpen opens the page from disk and from the server. It shows the command's numbers, and
// loads nothing else.
func TestOpen(t *testing.T) {
	for name, url := range map[string]string{"disk": fileURL(t), "server": serve(t)} {
		t.Run(name, func(t *testing.T) {
			p := open(t, url, 1400, 1000)
			p.text("exact", "0.588")
			p.text("bound", "0.6926")
			p.text("name", "johnson")
			const loaded = `performance.getEntriesByType('resource').map(r => r.name).filter(
				n => !/^(data|blob):/.test(n))`
			if names := value[[]string](p, loaded); len(names) > 0 {
				t.Errorf("it loads %q", names)
			}
			t.Logf("the first view comes after %.0f ms", value[float64](p, "explorer.startedAfter"))
			if n := value[int](p, "document.querySelectorAll('#table tbody tr').length"); n < 13 {
				t.Errorf("%d rows in the table of codes", n)
			}
			p.quiet()
		})
	}
}

// rectangle is a part of the page, in pixels.
type rectangle struct{ X, Y, Width, Height float64 }

// place is where an element is in the window.
func (p *tab) place(selector string) rectangle {
	p.Helper()
	return value[rectangle](p, fmt.Sprintf(`(r => ({X: r.x, Y: r.y, Width: r.width, Height: r.height}))(
		document.querySelector(%q).getBoundingClientRect())`, selector))
}

// shown scrolls to an element and returns its place.
func (p *tab) shown(selector string) rectangle {
	p.Helper()
	p.eval(fmt.Sprintf("document.querySelector(%q).scrollIntoView({block: 'center'})", selector))
	return p.place(selector)
}

// drag moves the mouse from a to b with the button pressed.
func (p *tab) drag(ax, ay, bx, by float64, steps int) {
	p.Helper()
	left := chromedp.ButtonType(input.MouseButtonLeft)
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, ax, ay),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, ax, ay, left, chromedp.ClickCount(1)))
	for i := 1; i <= steps; i++ {
		f := float64(i) / float64(steps)
		p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, ax+f*(bx-ax), ay+f*(by-ay), left))
	}
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, bx, by, left, chromedp.ClickCount(1)))
}

// click clicks at a place.
func (p *tab) click(x, y float64) { p.Helper(); p.do(chromedp.MouseClickXY(x, y)) }

// number is a number of the state.
func (p *tab) number(name string) float64 {
	p.Helper()
	return value[float64](p, "explorer.state()."+name)
}

// TestDrag drags r and σ with the sliders and in the map. One undo takes a drag back.
func TestDrag(t *testing.T) {
	p := open(t, fileURL(t)+few, 1400, 1000)
	before := p.says("exact")
	r := p.shown("#r")
	p.drag(r.X+r.Width*0.52, r.Y+r.Height/2, r.X+r.Width*0.7, r.Y+r.Height/2, 12)
	p.wait("explorer.state().r !== 0.6")
	p.settle()
	if v := p.number("r"); v < 1 || v > 10 {
		t.Errorf("r = %v after a drag to the right", v)
	}
	if now := p.says("exact"); now == before {
		t.Errorf("the exact error stays %s", now)
	}
	p.press("#undo")
	if v := p.number("r"); v != 0.6 {
		t.Errorf("r = %v after undo", v)
	}
	p.press("#redo")
	if v := p.number("r"); v == 0.6 {
		t.Error("redo does nothing")
	}
	m := p.shown("#map svg")
	p.drag(m.X+m.Width*0.3, m.Y+m.Height*0.5, m.X+m.Width*0.45, m.Y+m.Height*0.4, 8)
	p.settle()
	rAt, sigma := p.number("r"), p.number("sigma")
	p.eval("document.getElementById('map').focus()")
	p.do(chromedp.KeyEvent(kb.ArrowRight))
	p.wait(fmt.Sprintf("explorer.state().r > %v", rAt))
	if v := p.number("sigma"); v != sigma {
		t.Errorf("an arrow to the right moves from σ = %v to %v", sigma, v)
	}
	p.settle()
	p.quiet()
}

// TestToggle changes bits with the mouse and the keyboard.
func TestToggle(t *testing.T) {
	p := open(t, fileURL(t)+few, 1400, 1000)
	// The place of a cell: the figure's box is known to the page's tests only by its picture.
	cell := func(level, bit int) (x, y float64) {
		i := p.shown("#matrix svg image")
		return i.X + i.Width*(float64(bit)-0.5)/8, i.Y + i.Height*(float64(level)-0.5)/16
	}
	p.eval("explorer.set({decoder: 'gen'})")
	p.settle()
	byGen := value[float64](p, "explorer.views.data.theory.mean.exact")
	p.eval("explorer.undo()")
	p.settle()
	before := value[float64](p, "explorer.views.data.theory.mean.exact")
	x, y := cell(3, 2)
	p.click(x, y)
	p.wait("explorer.state().code.flips.length === 1")
	p.settle()
	p.text("name", "johnson-edited.csv")
	if d := value[string](p, "explorer.views.data.code.decoder"); d != "gen" {
		t.Errorf("the decoder of an edited code is %s", d)
	}
	p.until("edited-text", "bel-j reads johnson only as it is, so gen reads this code")
	p.until("edited-text", `Read by bel-j, the unchanged code has 0\.\d+\.`)
	// What the page says of the unchanged code is its row of the table, and a damaged code is
	// worse than the unchanged one is by the same decoder.
	const row = "explorer.views.data.rows.get(JSON.stringify({name: 'johnson', flips: [], rows: []}))"
	unchanged := value[float64](p, row+".exact")
	if now := value[float64](p, "explorer.views.data.theory.mean.exact"); now <= byGen {
		t.Errorf("the exact error of the changed code is %v; of the unchanged one %v", now, byGen)
	}
	if text := p.says("edited-text"); !strings.Contains(text, fmt.Sprintf("has %.4g.", unchanged)) {
		t.Errorf("the unchanged code has %v; the page says %q", unchanged, text)
	}
	codes := value[int](p, "document.querySelectorAll('#code option').length")
	if n := value[int](p, "document.querySelectorAll('#table tbody tr').length"); n != codes+1 {
		t.Errorf("%d rows in the table", n)
	}
	x, y = cell(3, 2)
	p.click(x, y)
	p.wait("explorer.state().code.flips.length === 0")
	p.settle()
	p.text("name", "johnson")
	if now := value[float64](p, "explorer.views.data.theory.mean.exact"); now != before {
		t.Errorf("the exact error is %v; was %v", now, before)
	}
	// Level 2 becomes the code word of level 1.
	x, y = cell(2, 8)
	p.click(x, y)
	p.until("model-problem", `johnson-edited\.csv`)
	p.press("#restore")
	p.settle()
	// The keyboard: from cell (1, 1) down and right, then change the bit.
	p.eval("document.getElementById('matrix').focus()")
	p.do(chromedp.KeyEvent(kb.Home + kb.ArrowDown + kb.ArrowRight + " "))
	p.settle()
	if n := value[int](p, "explorer.state().code.flips.length"); n != 1 {
		t.Errorf("%d bits changed by the keyboard", n)
	}
	p.until("spoken", "its target is")
	p.quiet()
}

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

// moves makes random moves, as a person would, in the page: controls, figures, undo, themes.
const moves = `(async (count, seed) => {
	let x = seed >>> 0;
	const random = () => { x = (Math.imul(x, 1664525) + 1013904223) >>> 0; return x / 2 ** 32; };
	const pick = (list) => list[Math.floor(random() * list.length)];
	const $ = (id) => document.getElementById(id);
	const tell = (e, type) => e.dispatchEvent(new Event(type, { bubbles: true }));
	const slide = (id) => {
		$(id).value = Math.floor(1000 * random());
		tell($(id), "input");
		if (random() < 0.5) tell($(id), "change");
	};
	const put = (id, value) => { $(id).value = value; tell($(id), "change"); };
	const choose = (id) => put(id, pick([...$(id).options].filter((o) => !o.hidden)).value);
	const point = (id, types) => {
		const e = $(id), svg = e.querySelector("svg");
		if (!svg) return;
		const r = svg.getBoundingClientRect();
		const at = { clientX: r.left + random() * r.width, clientY: r.top + random() * r.height, pointerId: 1 };
		for (const type of types) e.dispatchEvent(new PointerEvent(type, { ...at, bubbles: true }));
	};
	$("map").setPointerCapture = () => {};
	const kinds = [
		...["r", "sigma", "r", "sigma", "temperature"].map((id) => () => slide(id)),
		...["code", "other", "decoder", "outputs", "prior", "method"].map((id) => () => choose(id)),
		() => put("levels", pick([2, 3, 8, 16, 33, 64, 100])),
		() => point("matrix", ["pointermove", "click"]),
		...["matrix", "levels-figure", "bits"].map((id) => () => point(id, ["pointermove"])),
		() => point("map", ["pointerdown", "pointermove", "pointerup"]), () => point("matrix", ["pointerleave"]),
		() => explorer.undo(), () => explorer.undo(), () => explorer.redo(), () => $("theme").click(),
		() => pick([...document.querySelectorAll("#table button")])?.click(),
	];
	for (let i = 0; i < count; i++) {
		pick(kinds)();
		if (random() < 0.5) await new Promise(requestAnimationFrame);
		if (random() < 0.02) await new Promise((done) => setTimeout(done, 200));
	}
	return JSON.stringify(explorer.state());
})`

// TestRandomMoves makes 600 random moves: nothing on the console, no memory that is kept, and
// the page still computes.
func TestRandomMoves(t *testing.T) {
	p := open(t, fileURL(t)+few, 1400, 1000, chromedp.Flag("js-flags", "--expose-gc"))
	exact := p.says("exact")
	p.eval("globalThis.begun = explorer.state()")
	used := func() float64 {
		p.eval("explorer.set(begun)")
		p.settle()
		get(chromedp.Call(p.ctx, heapprofiler.CollectGarbage, cdp.Empty{}))(t)
		return get(chromedp.Call(p.ctx, runtime.GetHeapUsage, cdp.Empty{}))(t).UsedSize / (1 << 20)
	}
	const parts, each = 6, 100
	var memory []float64
	for i := range parts {
		value[string](p, fmt.Sprintf("%s(%d, %d)", moves, each, 1230+1001*i))
		memory = append(memory, used())
		p.quiet()
		if t.Failed() {
			t.Fatalf("after %d moves", each*(i+1))
		}
	}
	t.Logf("memory after each %d moves, MiB: %.1f; elements %d; workers replaced %d", each, memory,
		value[int](p, "document.querySelectorAll('*').length"), value[int](p, "explorer.pool.replaced"))
	if first, last := slices.Max(memory[:3]), memory[parts-1]; last > 1.5*first+8 {
		t.Errorf("the memory grows from %.1f to %.1f MiB", first, last)
	}
	p.text("exact", exact)
}

// TestStopped: a worker that computes for seconds hears that its question is stopped, and answers
// the next one.
func TestStopped(t *testing.T) {
	p := blank(t, 1400, 1000)
	p.do(chromedp.Navigate(fileURL(t) + "#levels=256"))
	p.wait("globalThis.explorer && 'table' in explorer.views.timings")
	got := value[[]string](p, `(async () => {
	const { pool, views } = explorer, { scene } = views.present;
	const ask = (name, samples) => {
		const question = { scene, code: { name, flips: [], rows: [] }, decoder: "gen", samples, quick: false };
		return pool.ask("test", "row", question, { rank: 3 });
	};
	const long = ask("hadamard", 1e7).then(() => "answered", (err) => err.message);
	while (!pool.workers.some((w) => w.task?.group === "test")) await new Promise((done) => setTimeout(done, 10));
	pool.workers.find((w) => w.task?.group === "test").worker.postMessage({ stop: true });
	return [await long, String((await ask("gray", 20)).code)];
})()`)
	if want := []string{"context canceled", "gray"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
