package terminal

import (
	"bytes"
	"strings"
	"testing"

	"belsim/theory/base/table"
)

// TestColoured: what asks for colours, and what is against them, where there is no terminal.
func TestColoured(t *testing.T) {
	for _, tt := range []struct {
		choice Choice
		env    string
		want   bool
	}{
		{Auto, "", false},
		{Always, "", true},
		{Always, "NO_COLOR=1", true},
		{Never, "FORCE_COLOR=1", false},
		{Auto, "FORCE_COLOR=1", true},
		{Auto, "FORCE_COLOR=0", false},
		{Auto, "CLICOLOR_FORCE=1", true},
		{Auto, "FORCE_COLOR=1 NO_COLOR=1", false},
		{Auto, "FORCE_COLOR=1 NO_COLOR=", true},
	} {
		if got := Coloured(tt.choice, &bytes.Buffer{}, environment(tt.env)); got != tt.want {
			t.Errorf("%s, %s: %v", tt.choice, tt.env, got)
		}
	}
}

// environment reads variables of a text.
func environment(text string) func(string) string {
	return func(name string) string {
		for _, v := range strings.Fields(text) {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func TestChoiceOf(t *testing.T) {
	for args, want := range map[string]Choice{
		"": Auto, "compare --color=never": Never, "--color always compare": Always, "--color always --color never": Never,
		"--color sometimes": Auto, "--color": Auto, "codes -- --color=always": Auto,
	} {
		if got := ChoiceOf(strings.Fields(args)); got != want {
			t.Errorf("%q: %s, want %s", args, got, want)
		}
	}
}

func TestPaint(t *testing.T) {
	if got := Paint(table.Good, "PASS"); got != "\x1b[1;32mPASS\x1b[0m" {
		t.Errorf("%q", got)
	}
	if got := Paint(table.Plain, "x"); got != "x" {
		t.Errorf("%q", got)
	}
}
