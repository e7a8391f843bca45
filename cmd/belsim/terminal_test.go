package main

import (
	"strings"
	"testing"
	"unicode"
)

// TestTerminal: no command prints what a terminal obeys in the names of files; results have them as
// they are.
func TestTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	const name = "\x1b[2J\u202eσ\u0085\x7f.csv"
	mustRun(t, "codes", "unary", "--levels", "4", "-o", name)
	write(t, "e"+name, "0.1,0.1,0.1\n0.1,0.1,0.1\n0.1,0.1,0.1\n0.1,0.1,0.1\n")
	write(t, "plan.json", `{"codes": ["\u001b[2J\u202eσ\u0085\u007f.csv"], "levels": [4], "r": [0.5], "sigma": [3], "methods": ["bound"]}`)
	for _, args := range []string{
		"verify --samples 200 --code FILE", "heatmap FILE unary --levels 4 --r 1:2:2 --sigma 1:2:2 -o map.csv", "optimize --levels 4 --bits 3 --steps 5 --samples 200 --start FILE",
		"compare unary --levels 4 --samples 200 --errors eFILE", "compare FILE unary --samples 200", "compare FILE --samples 200 --model eFILE",
		"codes FILE --describe", "codes no-FILE", "fit --code FILE --targets eFILE --outputs eFILE --range 0:1",
	} {
		list := strings.Fields(args)
		for i := range list {
			list[i] = strings.Replace(list[i], "FILE", name, 1)
		}
		status, stdout, stderr := run(t, list...)
		text := stdout + stderr
		if text == "" || !strings.Contains(text, `\u202eσ`) && !strings.HasPrefix(args, "heatmap") ||
			strings.ContainsFunc(text, func(r rune) bool {
				return unicode.IsControl(r) && r != '\n' && r != '\t' ||
					r == '\u202e'
			}) {
			t.Errorf("%s: exit %d, %q", args, status, text)
		}
	}
	if stdout := mustRun(t, "compare", name, "--samples", "200", "--format", "json"); !strings.Contains(stdout,
		`"\u001b[2J`+name[4:len(name)-5]) {
		t.Errorf("JSON has another name: %q", stdout)
	}
	if status, _, stderr := run(t, "codes", "a\nb.csv"); status != exitUsage ||
		!strings.Contains(stderr, "no such names") {
		t.Errorf("a name of two lines: exit %d, %q", status, stderr)
	}
}
