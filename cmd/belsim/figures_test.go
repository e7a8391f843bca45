package main

import (
	"path/filepath"
	"strings"
	"testing"

	"belsim/plots/paper"
)

// TestFigures draws figures twice, on one processor and on all, and expects the same
// bytes. With BELSIM_LONG=1 these are all figures, otherwise two of those that other commands make.
func TestFigures(t *testing.T) {
	inFolderWithData(t)
	drawn := "2b,3c"
	if long {
		var names []string
		for _, f := range paper.Figures() {
			names = append(names, f.Name)
		}
		drawn = strings.Join(names, ",")
	}
	t.Logf("figures %s", drawn)
	isDrawn := func(name string) bool { return strings.Contains(","+drawn+",", ","+name+",") }
	mustRun(t, "figures", "--quick", "-q", "--only", drawn, "-o", "first")
	mustRun(t, "figures", "--quick", "-q", "--only", drawn, "-o", "second/deeper", "--workers", "1")
	for _, f := range paper.Figures() {
		if !isDrawn(f.Name) {
			continue
		}
		for _, format := range figureFormats {
			name := "figure-" + f.Name + "." + format
			a := content(t, filepath.Join("first", name))
			if len(a) < 100 || a != content(t, filepath.Join("second/deeper", name)) {
				t.Errorf("%s: %d bytes, or another file the second time", name, len(a))
			}
			if format == "csv" && len(readCSV(t, filepath.Join("first", name))) < 8 {
				t.Errorf("%s: %s", name, a)
			}
		}
	}
	page := content(t, "first/index.html")
	for _, f := range paper.Figures() {
		if isDrawn(f.Name) && (!strings.Contains(page, `src="figure-`+f.Name+`.svg"`) ||
			!strings.Contains(page, f.Caption[:20])) {
			t.Errorf("figure %s is not in the index", f.Name)
		}
	}
}

func TestFiguresOnly(t *testing.T) {
	inFolderWithData(t)
	mustRun(t, "figures --only 2b,3a --style column -o out")
	if names, err := filepath.Glob("out/*"); err != nil || len(names) != 2*len(figureFormats)+1 {
		t.Errorf("%v, %v", names, err)
	}
	if text := content(t, "out/figure-3a.csv"); !strings.HasPrefix(text, "bit,level,fitted,rate,lo,hi\n") ||
		strings.Count(text, "\n") != 63*8+2 {
		t.Errorf("%.200s", text)
	}
	if svg := content(t, "out/figure-3a.svg"); !strings.Contains(svg, `width="237.6pt"`) {
		t.Errorf("%.300s: want 3.3 inches", svg)
	}
	if svg := content(t, "out/figure-2b.svg"); !strings.Contains(svg, `width="174.24pt"`) { // by the command codes
		t.Errorf("%.300s: want the style of the others", svg)
	}
}
