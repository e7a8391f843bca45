package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"belsim/plots/paper"
)

// TestFigures draws figures twice, on one processor and on all, and expects the same
// bytes. With BELSIM_LONG=1 these are all figures, otherwise one that codes makes, too, and one that
// figures alone makes.
func TestFigures(t *testing.T) {
	inFolderWithData(t)
	drawn := slices.DeleteFunc(paper.Figures(true), func(f paper.Figure) bool {
		return !long && f.Name != "2b" && f.Name != "11"
	})
	var names []string
	for _, f := range drawn {
		names = append(names, f.Name)
	}
	args := "figures --quick -q --style column --only " + strings.Join(names, ",")
	mustRun(t, args+" -o first")
	mustRun(t, args+" -o second/deeper --workers 1")
	page := content(t, "first/index.html")
	for file, width := range map[string]string{"figure-11.svg": "237.6pt"} {
		if svg := content(t, "first/"+file); !strings.Contains(svg, `width="`+width+`"`) {
			t.Errorf("%s is not %s wide: %.300s", file, width, svg)
		}
	}
	for _, f := range drawn {
		for _, name := range filesOf(f) {
			a := content(t, filepath.Join("first", name))
			if len(a) < 100 || a != content(t, filepath.Join("second/deeper", name)) {
				t.Errorf("%s: %d bytes, or another file the second time", name, len(a))
			}
			if format(name) == "csv" && len(readCSV(t, filepath.Join("first", name))) < 8 {
				t.Errorf("%s: %s", name, a)
			}
		}
		if !strings.Contains(page, `src="figure-`+f.Name+`.svg"`) || !strings.Contains(page, f.Caption[:20]) {
			t.Errorf("figure %s is not in the index", f.Name)
		}
	}
}
