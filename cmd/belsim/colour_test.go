package main

import (
	"regexp"
	"strings"
	"testing"
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
		{"optimize --levels 6 --bits 4 --steps 200 --samples 200 -q", "\x1b[1mfound "},
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
		"compare unary gray --levels 64 --samples 200 --format markdown",
		"verify --code unary --levels 4 --samples 200 --format latex -o v.json -o v.csv",
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
