package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"belsim/theory/base/must"
)

// TestModules runs the tests of the page's modules, which need Node and no browser.
func TestModules(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no Node: the page's modules are not tested")
	}
	files, err := filepath.Glob("page/test/*.test.js")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	if out, err := exec.CommandContext(t.Context(), "node",
		append([]string{"--test"}, files...)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestLines: lines of the page are short enough to be read.
func TestLines(t *testing.T) {
	for _, pattern := range []string{"page/*.[hcj]*", "page/test/*.js"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatal(names, err)
		}
		for _, name := range names {
			text := must.Get(os.ReadFile(name))(t)
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
	names, err := filepath.Glob("page/*.[hcj]*")
	if err != nil || len(names) < 5 {
		t.Fatal(names, err)
	}
	address := regexp.MustCompile(`(https?:)?//[a-z0-9.-]+\.[a-z]{2,}[^ "'\x60>]*`)
	for _, name := range names {
		text := must.Get(os.ReadFile(name))(t)
		for _, found := range address.FindAllString(string(text), -1) {
			if found != "http://www.w3.org/2000/svg" { // the name of SVG, which nobody loads
				t.Errorf("%s has the address %s", name, found)
			}
		}
	}
}

// TestPage builds the page: less than 3.7 MB, and the same bytes each time.
func TestPage(t *testing.T) {
	if os.Getenv("BELSIM_LONG") != "1" {
		t.Skip("BELSIM_LONG=1 builds the page")
	}
	path := filepath.Join(t.TempDir(), "explorer.html")
	must.Succeed(t, explore(t.Context(), path))
	first := must.Get(os.ReadFile(path))(t)
	if len(first) >= 3.7e6 {
		t.Errorf("the page has %d bytes; want less than 3,700,000", len(first))
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
	c := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "-timeout=25m", ".")
	c.Dir = "browser"
	out, err := c.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}
