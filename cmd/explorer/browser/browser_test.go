// Package browser drives the explorer's page in a real browser. It is a module of its own, so
// that belsim does not depend on chromedp. Its tests need Chromium, which $CHROMIUM names, or
// chromium in the path; without one they are skipped.
package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// built are the explorer and its file, and the command.
type built struct{ explorer, page, belsim string }

var build = sync.OnceValues(func() (b built, err error) {
	folder, err := os.MkdirTemp("", "explorer-page")
	if err != nil {
		return b, err
	}
	b = built{filepath.Join(folder, "explorer"), filepath.Join(folder, "explorer.html"),
		filepath.Join(folder, "belsim")}
	for _, words := range [][]string{
		{"go", "build", "-o", b.explorer, "belsim/cmd/explorer"},
		{"go", "build", "-o", b.belsim, "belsim/cmd/belsim"},
		{b.explorer, "-o", b.page},
	} {
		c := exec.Command(words[0], words[1:]...)
		c.Dir = filepath.Join("..", "..", "..")
		if out, err := c.CombinedOutput(); err != nil {
			return b, fmt.Errorf("%v: %w: %s", words, err, out)
		}
	}
	return b, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if chromium() != "" {
		if b, err := build(); err == nil {
			os.RemoveAll(filepath.Dir(b.page))
		}
	}
	os.Exit(code)
}

// need returns what was built. It skips the test where there is no browser.
func need(t testing.TB) built {
	t.Helper()
	if chromium() == "" {
		t.Skip("no Chromium: set CHROMIUM, or install chromium")
	}
	return get(build())(t)
}

// get returns a value, or ends the test with its error.
func get[V any](v V, err error) func(t testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// chromium is the path of a Chromium, "" where there is none.
func chromium() string {
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	return ""
}

// tab is a page in the browser, with what it says on its console.
type tab struct {
	testing.TB
	ctx context.Context

	mu     sync.Mutex
	errors []string
}

// open starts a browser with a page of some size, and waits until it has computed everything.
func open(t testing.TB, url string, width, height int, flags ...chromedp.ExecAllocatorOption) *tab {
	t.Helper()
	p := blank(t, width, height, flags...)
	p.do(chromedp.Navigate(url))
	p.settle()
	return p
}

// blank starts a browser with an empty page.
func blank(t testing.TB, width, height int, flags ...chromedp.ExecAllocatorOption) *tab {
	t.Helper()
	if chromium() == "" {
		t.Skip("no Chromium: set CHROMIUM, or install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium()), chromedp.NoSandbox, chromedp.WindowSize(width, height),
		chromedp.Flag("disable-dev-shm-usage", true))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), append(options, flags...)...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator, chromedp.WithErrorf(func(string, ...any) {}))
	t.Cleanup(cancel)
	ctx, end := context.WithTimeout(ctx, 10*time.Minute)
	t.Cleanup(end)
	p := &tab{TB: t, ctx: ctx}
	p.do(chromedp.Steps()) // starts the browser
	go func() {
		for m, err := range chromedp.Console(ctx) {
			if err != nil {
				return
			}
			if m.IsException() || m.Type == "error" || m.Type == "warning" {
				p.mu.Lock()
				p.errors = append(p.errors, m.String())
				p.mu.Unlock()
			}
		}
	}()
	p.do(chromedp.EmulateViewport(int64(width), int64(height)))
	return p
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.Fatal(err)
	}
}

// eval runs a script of the page.
func (p *tab) eval(script string) { p.Helper(); p.do(chromedp.Evaluate[chromedp.Void](script)) }

// press clicks on an element.
func (p *tab) press(selector string) { p.Helper(); p.do(chromedp.Click(chromedp.CSS(selector))) }

// textOf is the expression of the text of an element.
func textOf(id string) string { return fmt.Sprintf("document.getElementById(%q).textContent", id) }

// says is the text of an element.
func (p *tab) says(id string) string { p.Helper(); return value[string](p, textOf(id)) }

// text fails unless an element has a text.
func (p *tab) text(id, want string) {
	p.Helper()
	if got := p.says(id); got != want {
		p.Errorf("#%s says %q; want %q", id, got, want)
	}
}

// until waits until the text of an element matches a regular expression.
func (p *tab) until(id, pattern string) {
	p.Helper()
	p.wait(fmt.Sprintf("RegExp(%q).test(%s)", pattern, textOf(id)))
}

// value evaluates an expression, which may be a promise.
func value[V any](p *tab, expression string) (v V) {
	p.Helper()
	text, err := chromedp.Run(p.ctx, chromedp.Evaluate[string]("(async () => JSON.stringify(await ("+expression+
		") ?? null))()", chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return v
}

// settle waits until nothing is computed any more.
func (p *tab) settle() {
	p.Helper()
	p.wait("globalThis.explorer && explorer.idle && explorer.views.data.code")
	time.Sleep(30 * time.Millisecond) // figures are drawn at the next frame
	p.wait("explorer.idle")
}

// wait waits until an expression is true.
func (p *tab) wait(expression string) {
	p.Helper()
	for begun := time.Now(); time.Since(begun) < 4*time.Minute; time.Sleep(20 * time.Millisecond) {
		if value[bool](p, "Boolean("+expression+")") {
			return
		}
	}
	p.Fatalf("never: %s; the page says %q", expression, p.says("alert"))
}

// quiet fails where the console has errors or warnings.
func (p *tab) quiet() {
	p.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.errors) > 0 {
		p.Errorf("on the console: %s", strings.Join(p.errors, "\n"))
	}
}

// few is the fragment of a state whose numbers take little work, for tests of what the page does.
const few = "#levels=16"

func fileURL(t testing.TB) string {
	t.Helper()
	return "file://" + need(t).page
}
