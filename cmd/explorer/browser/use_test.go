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

	"github.com/chromedp/cdproto/input"
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

// TestOld: what a move has made old is dim until it is new, and nothing else is.
func TestOld(t *testing.T) {
	p := open(t, fileURL(t)+"#levels=12", 1400, 1000)
	const numbers = "bits bound exact facts-of levels-figure sampled table-note tr worst"
	for change, want := range map[string]string{
		"{r: 0.7}":                         numbers,
		"{sigma: 2}":                       numbers,
		"{decoder: 'gen'}":                 numbers + " map", // it reads the rows, too
		"{other: {...code, name: 'gray'}}": "map",
		"{method: 'bound'}":                "map",
		"{code: {...code, name: 'gray'}}":  strings.Replace(numbers, "table-note tr ", "", 1) + " map matrix",
		"{levels: 16}":                     numbers + " map matrix",
		"{bits: [3]}":                      "",
	} {
		words := strings.Fields(want)
		slices.Sort(words)
		const dim = `[...new Set([...document.querySelectorAll('.stale, tr.old')].map(
			e => e.id || 'tr'))].sort().join(' ')`
		const hold = "for (const w of explorer.pool.workers) w.ready = "
		// No worker takes a question until the page has been drawn.
		p.eval(hold + "false; { const {code} = explorer.state(); explorer.set(" + change + ") }")
		p.eval("globalThis.drawn = false; requestAnimationFrame(() => requestAnimationFrame(() => drawn = true))")
		p.wait("drawn")
		got := value[string](p, dim)
		if want := strings.Join(words, " "); got != want {
			t.Errorf("after %s, dim are %q; want %q", change, got, want)
		}
		p.eval(hold + "true; explorer.pool.pump()")
		p.settle()
		if got := value[string](p, dim); got != "" {
			t.Errorf("%s is computed, and %q are dim", change, got)
		}
		p.eval("explorer.undo()")
		p.settle()
	}
	p.quiet()
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

// TestHover lights up what belongs to a level, in all figures.
func TestHover(t *testing.T) {
	p := open(t, fileURL(t)+few, 1400, 1000)
	f := p.shown("#levels-figure svg")
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, f.X+f.Width*0.5, f.Y+f.Height*0.5))
	p.until("readout", `level \d+ · exact 0\.\d+ · bound .* · sampled`)
	m := p.shown("#matrix svg image")
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, m.X+m.Width*0.4, m.Y+m.Height*0.3))
	p.until("readout", `bit \d+ · its target is`)
	p.until("bits", "under the pointer")
	p.quiet()
}

// TestFragments follows a link, goes back, and refuses a bad link with a sentence.
func TestFragments(t *testing.T) {
	const link = "#levels=32&code=hexj!3.4&other=unary&r=0.7&sigma=2&prior=middle&bits=9_12&method=bound"
	p := open(t, fileURL(t)+link, 1400, 1000)
	p.text("name", "hexj-edited.csv")
	p.text("facts", "32 levels, 16 bits, read by gen on bits")
	if m := value[string](p, "explorer.views.data.map.method"); m != "bound" {
		t.Errorf("the map is by %s", m)
	}
	p.eval("{ const e = document.getElementById('code'); e.value = 'gray'; e.dispatchEvent(new Event('change')) }")
	p.wait("location.hash.includes('code=gray')")
	p.settle()
	p.do(chromedp.NavigateBack())
	p.wait("explorer.state().code.name === 'hexj'")
	p.settle()
	p.text("name", "hexj-edited.csv")
	p.eval("location.hash = '#r=fast'")
	p.until("alert", "r is “fast”")
	if v := p.number("r"); v != 0.6 {
		t.Errorf("r = %v after a bad link; want the default", v)
	}
	p.eval("location.hash = '#levels=4&prior=-1_2_2_1&method=x'")
	p.until("alert", "prior is “-1_2_2_1”")
	p.settle()
	if s := value[string](p, "explorer.state().prior.kind + ' ' + explorer.state().method"); s != "uniform auto" {
		t.Errorf("the prior and the method are %s after a bad link", s)
	}
	p.eval("location.hash = '#code=unary'")
	p.wait("explorer.views.data.code.name === 'unary' && !explorer.views.data.problem")
	p.quiet()
}

// TestInvalid stops r at its largest valid value, and says so.
func TestInvalid(t *testing.T) {
	p := open(t, fileURL(t)+"#levels=16&r=9&sigma=1", 1400, 1000)
	stopped := func() {
		t.Helper()
		p.until("model-problem", `^r stops at [\d.]+: `)
		p.settle()
		if v := value[float64](p, "explorer.views.data.theory.mean.exact"); !(v > 0.1) {
			t.Errorf("the exact error is %v; %s", v, value[string](p, "explorer.views.data.problem"))
		}
		if v := p.number("r"); !(v > 1 && v < 4) {
			t.Errorf("r stops at %v", v)
		}
	}
	stopped()
	r := p.shown("#r")
	p.drag(r.X+r.Width*0.5, r.Y+r.Height/2, r.X+r.Width*0.99, r.Y+r.Height/2, 6)
	stopped()
	p.eval("explorer.set({r: 0.5})")
	p.wait("document.getElementById('model-problem').hidden")
	p.quiet()
}

// TestPresets shows each state of the guided start.
func TestPresets(t *testing.T) {
	p := open(t, fileURL(t), 1400, 1000)
	for i, want := range []string{"unary", "b1jdj"} { // code B of the map; the third opens files
		p.eval(fmt.Sprintf("document.querySelectorAll('#start button')[%d].click()", i))
		p.settle()
		p.wait(fmt.Sprintf("explorer.views.data.map.b?.name === %q", want))
		if text := p.says("start-text"); len(text) < 50 || strings.Contains(text, "--") {
			t.Errorf("preset %d says %q", i+1, text)
		}
		exact := value[float64](p, "explorer.views.data.theory.mean.exact")
		if i == 0 && fmt.Sprintf("%.1f", exact) != "18.2" {
			t.Errorf("preset 1 says 18.2, and the page %v", exact)
		}
	}
	p.quiet()
}
