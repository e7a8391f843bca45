package main

import (
	"bytes"
	"compress/zlib"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"belsim/theory/base/must"
)

// TestPicturesHaveNumbers: no picture of a degenerate problem has a coordinate or a text that is no
// number: where no bit errs, or all do, of two levels, of costs of 0, of cells without a value.
func TestPicturesHaveNumbers(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"zero.csv": strings.Repeat("0,0,0\n", 4), "one.csv": strings.Repeat("1,1,1\n", 4),
		"tiny.csv": strings.Repeat("1e-300,1e-300,1e-300\n", 4), "dead.csv": "1,0,0\n1,0,1\n1,1,1\n1,1,0\n",
		"free.csv": strings.Repeat("0,0,0,0\n", 4), "prior.csv": "label,count\n1,5\n2,0\n3,0\n4,0\n",
	} {
		must.Succeed(t, os.WriteFile(name, []byte(text), 0o600))
	}
	const two = " --samples 2 --backend cpu"
	for _, line := range []string{
		"verify --code unary --levels 4 --errors zero.csv" + two, "verify --code dead.csv --errors one.csv" + two,
		"verify --code unary --levels 4 --errors tiny.csv --cost squared" + two,
		"verify --code unary --levels 4 --errors tiny.csv --cost beyond:9 --prior prior.csv" + two,
		"verify --code unary --levels 4 --errors one.csv --cost free.csv" + two,
		"verify --code unary --levels 4 --errors zero.csv --decoder gen-ex --outputs bits" + two,
		"verify --code johnson --levels 2 --r 1e-300 --sigma 1" + two,
		"compare unary dead.csv --levels 4 --errors zero.csv" + two,
		"compare unary --levels 4 --errors one.csv --cost free.csv --prior prior.csv" + two,
		"compare unary --levels 4 --errors tiny.csv --cost beyond:9" + two, "compare unary --levels 2 --r 1e-300 --sigma 1" + two,
		"codes dead.csv", "codes unary --levels 2 --circular",
		"heatmap unary unary --levels 2 --r 0.1:0.2:2 --sigma 1:2:2", "heatmap unary johnson --levels 4 --r 1e9 --sigma 1",
		"heatmap unary johnson --levels 4 --r 1e-300:1e-299:2:log --sigma 1e-3:1:2:log --method exact",
		"heatmap unary johnson --levels 4 --r 1e-200,1e9 --sigma 1,2 --method mc --samples 2 --backend cpu",
		"optimize --levels 4 --bits 3 --r 1e-300 --sigma 1 --steps 10", "optimize --levels 2 --bits 1 --r 1 --sigma 1 --steps 10",
		"optimize --levels 4 --bits 3 --r 0.1 --sigma 1e-9 --cost beyond:9 --steps 10",
	} {
		out := " -o p.svg -o p.pdf"
		if strings.HasPrefix(line, "verify") {
			out += " --confusion c.svg"
		}
		searched(t, line+out, ".")
	}
	searched(t, "figures --quick --only 2a -o figures", "figures")
}

var noNumber = regexp.MustCompile(`(^|[^a-zA-Z])(NaN|Inf)([^a-zA-Z]|$)`)

// searched runs a command, and searches the pictures that it writes into a folder, and removes them.
func searched(t *testing.T, line, folder string) {
	t.Helper()
	if status, _, stderr := run(t, line); status != 0 {
		t.Errorf("belsim %s: exit %d, %s", line, status, stderr)
	}
	entries := must.Get(os.ReadDir(folder))(t)
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		var texts []string
		switch filepath.Ext(path) {
		case ".svg", ".html":
			texts = []string{content(t, path)}
		case ".pdf":
			texts = drawn(t, path)
		default:
			continue
		}
		for _, text := range texts {
			if !strings.Contains(text, "NaN") && !strings.Contains(text, "Inf") {
				continue // sooner
			}
			if at := noNumber.FindStringIndex(text); at != nil {
				t.Errorf("belsim %s: %s has %q", line, path, text[max(0, at[0]-40):at[1]])
			}
		}
		must.Succeed(t, os.Remove(path))
	}
}

// drawn are the drawing operators of a PDF: its streams of text, uncompressed.
func drawn(t *testing.T, path string) (texts []string) {
	t.Helper()
	for _, part := range bytes.Split([]byte(content(t, path)), []byte("\nstream\n"))[1:] {
		r, err := zlib.NewReader(bytes.NewReader(part))
		if err != nil {
			continue // an image or a font of another filter
		}
		text, _ := io.ReadAll(r)
		if bytes.Contains(text, []byte(" re\n")) || bytes.Contains(text, []byte(" m\n")) {
			texts = append(texts, string(text))
		}
	}
	if len(texts) == 0 {
		t.Errorf("%s: no drawing is found", path)
	}
	return texts
}
