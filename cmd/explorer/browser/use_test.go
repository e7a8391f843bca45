package browser

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
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
