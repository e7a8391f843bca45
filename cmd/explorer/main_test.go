package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"
)

func TestAssemble(t *testing.T) {
	html := "<style>/*style*/</style>/*size*/ /*wasm*/ /*worker*/ /*imports*/"
	page := fstest.MapFS{
		"index.html": {Data: []byte(html)}, "style.css": {Data: []byte("body{}")}, "worker.js": {Data: []byte("onmessage")}, "a.js": {Data: []byte("export {}")},
	}
	got, err := assemble(page, []byte("wasm"), []byte("support"))
	if err != nil {
		t.Fatal(err)
	}
	code := base64.StdEncoding.EncodeToString([]byte("export {}\n//# sourceURL=explorer/a.js\n"))
	for _, want := range []string{"<style>body{}</style>", "support\nonmessage", `{"imports":{"explorer/a.js":"data:text/javascript;base64,` + code} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%s\ndoes not hold %s", got, want)
		}
	}
	page["index.html"] = &fstest.MapFile{Data: []byte(html + "/*wasm*/")}
	if _, err := assemble(page, nil, nil); err == nil || !strings.Contains(err.Error(), "2 times /*wasm*/") {
		t.Errorf("error %v", err)
	}
	page["index.html"] = &fstest.MapFile{Data: []byte(html)}
	delete(page, "style.css")
	if _, err := assemble(page, nil, nil); err == nil {
		t.Error("a page without a style is assembled")
	}
}

func TestEncode(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		b := make([]byte, n)
		for i := range b {
			if b[i] = byte(random.Uint32()); n%3 == 0 {
				b[i] &= 0x42 // many forbidden characters
			}
		}
		text := encode(b)
		if strings.ContainsAny(text, forbidden) || !utf8.ValidString(text) || len(text) > (8*n+6)/7+1 {
			t.Fatalf("%v becomes %q", b, text)
		}
		var back []byte
		value, bits := 0, 0
		add := func(group int) {
			value, bits = value<<7|group, bits+7
			if bits >= 8 {
				bits -= 8
				back = append(back, byte(value>>bits))
				value &= 1<<bits - 1
			}
		}
		for _, c := range text {
			if c < 128 {
				add(int(c))
			} else {
				add(int(forbidden[(c-256)>>7]))
				add(int(c & 127))
			}
		}
		if len(back) < n || !bytes.Equal(back[:n], b) {
			t.Fatalf("%v comes back as %v", b, back)
		}
	}
}

// TestModules runs the tests of the page's modules, which need Node and no browser.
func TestModules(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no Node: the page's modules are not tested")
	}
	files, err := filepath.Glob("page/test/*.test.js")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	if out, err := exec.CommandContext(t.Context(), "node", append([]string{"--test"}, files...)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestLines: lines of the page are short enough to be read.
func TestLines(t *testing.T) {
	for _, pattern := range []string{"page/*.*", "page/test/*.js"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatal(names, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(text), "\n") {
				if n := utf8.RuneCountInString(line); n > 120 {
					t.Errorf("%s:%d has %d characters; want at most 120", name, i+1, n)
				}
			}
		}
	}
}

// TestNothingElsewhere looks for addresses in the sources of the page.
func TestNothingElsewhere(t *testing.T) {
	names, err := filepath.Glob("page/*.*")
	if err != nil || len(names) < 5 {
		t.Fatal(names, err)
	}
	address := regexp.MustCompile(`(https?:)?//[a-z0-9.-]+\.[a-z]{2,}[^ "'\x60>]*`)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range address.FindAllString(string(text), -1) {
			if found != "http://www.w3.org/2000/svg" { // the name of SVG, which nobody loads
				t.Errorf("%s has the address %s", name, found)
			}
		}
	}
}

func TestHandler(t *testing.T) {
	h := handler([]byte("<page>"))
	for path, want := range map[string]int{"/": 200, "/other": 404, "/index.html": 404} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != want || want == 200 && w.Body.String() != "<page>" {
			t.Errorf("%s: %d %q", path, w.Code, w.Body)
		}
	}
}

func TestServe(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	r, w := io.Pipe()
	done := make(chan error)
	go func() { done <- serve(ctx, nil, "127.0.0.1:0", w, false) }()
	line := make([]byte, 100)
	n, err := r.Read(line)
	if err != nil || !regexp.MustCompile(`^The explorer is at http://127\.0\.0\.1:\d+/ \(Ctrl-C ends it\)\.\n$`).Match(line[:n]) {
		t.Errorf("it says %q, %v", line[:n], err)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := serve(context.Background(), nil, "nowhere:x", io.Discard, false); err == nil {
		t.Error("it serves at nowhere:x")
	}
}

func TestArguments(t *testing.T) {
	for _, args := range [][]string{{"what"}, {"-x"}, {"-o"}} {
		if err := explore(context.Background(), args, io.Discard, io.Discard); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v", args, err)
		}
	}
}

// TestPage builds the page: less than 3 MB, and the same bytes each time.
func TestPage(t *testing.T) {
	if os.Getenv("BELSIM_LONG") != "1" {
		t.Skip("BELSIM_LONG=1 builds the page")
	}
	path := filepath.Join(t.TempDir(), "explorer.html")
	if err := explore(t.Context(), []string{"-o", path}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(first) >= 3e6 {
		t.Errorf("the page has %d bytes; want less than 3,000,000", len(first))
	}
	if again, err := build(t.Context()); err != nil || !bytes.Equal(first, again) {
		t.Errorf("the second page differs from the first, or there is none: %v", err)
	}
}

// TestBrowser runs the tests in a real browser, which are a module of their own.
func TestBrowser(t *testing.T) {
	if os.Getenv("BELSIM_LONG") != "1" {
		t.Skip("BELSIM_LONG=1 tests the page in Chromium")
	}
	if _, err := exec.LookPath("chromium"); err != nil && os.Getenv("CHROMIUM") == "" {
		t.Skip("no Chromium: set CHROMIUM, or install chromium; the page is not tested in a browser")
	}
	c := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", ".")
	c.Dir = "browser"
	out, err := c.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}
