package main

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belsim/plots/paper"
)

// TestFigures draws figures twice, on one processor and on all, and expects the same
// bytes; and the command that each is said to be made by makes it. With BELSIM_LONG=1
// these are all figures, otherwise one of each kind and no large map of exact values.
func TestFigures(t *testing.T) {
	inFolderWithData(t)
	drawn := "2b,3a,3c,7"
	if long {
		var names []string
		for _, f := range paper.Figures() {
			names = append(names, f.Name)
		}
		drawn = strings.Join(names, ",")
	}
	t.Logf("figures %s", drawn)
	isDrawn := func(name string) bool { return strings.Contains(","+drawn+",", ","+name+",") }
	out := mustRun(t, "figures", "--quick", "--only", drawn, "-o", "first")
	mustRun(t, "figures", "--quick", "--only", drawn, "-o", "second/deeper", "--workers", "1")
	for _, f := range paper.Figures() {
		if !isDrawn(f.Name) {
			continue
		}
		for _, format := range figureFormats {
			name := "figure-" + f.Name + "." + format
			a, err := os.ReadFile(filepath.Join("first", name))
			if err != nil || len(a) < 100 {
				t.Errorf("%s: %d bytes, %v", name, len(a), err)
			}
			b, err := os.ReadFile(filepath.Join("second/deeper", name))
			if err != nil || !bytes.Equal(a, b) {
				t.Errorf("%s: another file the second time (%v)", name, err)
			}
			if format == "csv" {
				if records, err := csv.NewReader(bytes.NewReader(a)).ReadAll(); err != nil || len(records) < 8 {
					t.Errorf("%s: %d records, %v", name, len(records), err)
				}
			}
		}
	}
	page := content(t, "first/index.html")
	for _, f := range paper.Figures() {
		if isDrawn(f.Name) && (!strings.Contains(page, `src="figure-`+f.Name+`.svg"`) || !strings.Contains(page, f.Caption[:20])) {
			t.Errorf("figure %s is not in the index", f.Name)
		}
	}
	for _, line := range strings.Split(out, "\n") {
		name, command, ok := strings.Cut(line, " belsim ")
		name = strings.TrimSpace(name)
		if !ok {
			continue
		}
		args := strings.Fields(command)
		if args[0] == "figures" {
			args = append(args, "-o", ".")
		}
		mustRun(t, args...)
		got, err := os.ReadFile("figure-" + name + ".pdf")
		want, err2 := os.ReadFile(filepath.Join("first", "figure-"+name+".pdf"))
		if err != nil || err2 != nil || !bytes.Equal(got, want) {
			t.Errorf("%s makes another figure (%v, %v)", command, err, err2)
		}
	}
}

func TestFiguresOnly(t *testing.T) {
	inFolderWithData(t)
	write(t, "file", "")
	mustRun(t, "figures", "--only", "3a,11", "--style", "column", "-o", "out")
	if names, err := filepath.Glob("out/*"); err != nil || len(names) != 2*len(figureFormats)+1 {
		t.Errorf("%v, %v", names, err)
	}
	text, err := os.ReadFile("out/figure-3a.csv")
	if err != nil || !strings.HasPrefix(string(text), "bit,level,fitted\n") || strings.Count(string(text), "\n") != 63*8+2 {
		t.Errorf("%.200s, %v", text, err)
	}
	for _, args := range [][]string{{"--only", "4"}, {"-o", "file"}, {"--style", "poster"}} {
		if status, stdout, stderr := run(t, append([]string{"figures", "--quick"}, args...)...); status != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit %d, %q", args, status, stderr)
		}
	}
}

// TestOutputs writes several files of one result, in both widths.
func TestOutputs(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, "compare", "unary", "gray", "--levels", "16", "--samples", "100", "-o", "c.csv", "-o", "c.png", "-o", "c.svg", "--style", "column")
	if got := len(listing(t)); got != 3 {
		t.Errorf("%v", listing(t))
	}
	svg, err := os.ReadFile("c.svg")
	if err != nil || !strings.Contains(string(svg), `width="237.6pt"`) {
		t.Errorf("%.300s: want 3.3 inches", svg)
	}
	status, _, stderr := run(t, "compare", "unary", "--levels", "16", "-o", "x.csv", "-o", "x.csv")
	if status != 2 || !strings.Contains(stderr, "given twice") {
		t.Errorf("exit %d, %s", status, stderr)
	}
}
