package main

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// TestColour: colours add escape sequences, and nothing else, to texts for people alone.
func TestColour(t *testing.T) {
	t.Chdir(t.TempDir())
	escape := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, tt := range []struct{ args, want string }{
		{"compare unary johnson gray --levels 64 --samples 200", "\x1b[33m! 10.5\x1b[0m"},
		{"compare unary johnson --levels 8 --samples 200 --decoder bel-u,bel-j,gen", "\x1b[1m"},
		{"compare unary --levels 8 --samples 200 --r 99", ""}, // invalid: no row is the best
		{"verify --code unary --levels 4 --samples 200", "\x1b[1;32mPASS\x1b[0m every"},
		{"optimize --levels 6 --bits 4 --steps 200 --samples 200 -q", "\x1b[1mfound\x1b[0m"},
		{"levels unary --levels 8,16 --range 0:1 --label-noise 0.1", "\x1b[1m"},
	} {
		args := strings.Fields(tt.args)
		_, plain, _ := run(t, args...)
		t.Setenv("FORCE_COLOR", "1")
		status, coloured, stderr := run(t, args...)
		t.Setenv("FORCE_COLOR", "")
		if escape.MatchString(plain) {
			t.Errorf("%s: without colours\n%s", tt.args, plain)
		}
		if escape.ReplaceAllString(coloured, "") != plain || !strings.Contains(coloured, tt.want) || tt.want == "" && coloured != plain {
			t.Errorf("%s: exit %d, coloured\n%q\nplain\n%q\n%s", tt.args, status, coloured, plain, stderr)
		}
		if escape.MatchString(stderr) {
			t.Errorf("%s: standard error is no terminal, and has %q", tt.args, stderr)
		}
	}
	t.Setenv("FORCE_COLOR", "1")
	for _, args := range []string{
		"compare unary gray --levels 64 --samples 200 --format json",
		"verify --code unary --levels 4 --samples 200 --format json -o v.json -o v.csv",
		"codes unary --levels 4",
	} {
		if _, stdout, _ := run(t, strings.Fields(args)...); escape.MatchString(stdout) {
			t.Errorf("%s: a document has %q", args, stdout)
		}
	}
	for _, name := range []string{"v.json", "v.csv"} {
		if text := content(t, name); escape.MatchString(text) {
			t.Errorf("%s: %q", name, text)
		}
	}
}

// TestTerminal: no command prints what a terminal obeys in the names of files; results have them as they are.
func TestTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	const name = "\x1b[2J\u202eσ\u0085\x7f.csv"
	mustRun(t, "codes", "unary", "--levels", "4", "-o", name)
	write(t, "e"+name, "0.1,0.1,0.1\n0.1,0.1,0.1\n0.1,0.1,0.1\n0.1,0.1,0.1\n")
	write(t, "plan.json", `{"codes": ["\u001b[2J\u202eσ\u0085\u007f.csv"], "levels": [4], "r": [0.5], "sigma": [3], "methods": ["bound"]}`)
	for _, colours := range []string{"", "1"} {
		t.Setenv("FORCE_COLOR", colours)
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
			text := regexp.MustCompile("\x1b\\[(0|1|1;31|1;32|2|33)m").ReplaceAllString(stdout, "") + stderr
			if text == "" || !strings.Contains(text, `\u202eσ`) && !strings.HasPrefix(args, "heatmap") || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\u202e' }) {
				t.Errorf("%s: exit %d, %q", args, status, text)
			}
		}
	}
	if stdout := mustRun(t, "compare", name, "--samples", "200", "--format", "json"); !strings.Contains(stdout, `"\u001b[2J`+name[4:len(name)-5]) {
		t.Errorf("JSON has another name: %q", stdout)
	}
	if status, _, stderr := run(t, "codes", "a\nb.csv"); status != exitUsage || !strings.Contains(stderr, "no such names") {
		t.Errorf("a name of two lines: exit %d, %q", status, stderr)
	}
}
