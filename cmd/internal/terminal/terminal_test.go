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
		env  string
		want bool
	}{
		{"", false},
		{"FORCE_COLOR=1", true},
		{"FORCE_COLOR=0", false},
		{"CLICOLOR_FORCE=1", true},
		{"FORCE_COLOR=1 NO_COLOR=1", false},
		{"FORCE_COLOR=1 NO_COLOR=", true},
	} {
		if got := Coloured(&bytes.Buffer{}, environment(tt.env)); got != tt.want {
			t.Errorf("%s: %v", tt.env, got)
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

func TestPaint(t *testing.T) {
	if got := Paint(table.Good, "PASS"); got != "\x1b[1;32mPASS\x1b[0m" {
		t.Errorf("%q", got)
	}
	if got := Paint(table.Plain, "x"); got != "x" {
		t.Errorf("%q", got)
	}
}

// TestVisible: a text keeps its lines, its tabs and the colours of Paint, and nothing else that a terminal obeys.
func TestVisible(t *testing.T) {
	const text = "a\tσ\n\x1b[1;32mPASS\x1b[0m \x1b[31m\x1b\x1b[2J\u202e\u0085\x7f\r\xff\n"
	const rest = ` \x1b[31m\x1b\x1b[2J\u202e\u0085\x7f\r\xff` + "\n"
	if got, want := Visible(text, true), "a\tσ\n\x1b[1;32mPASS\x1b[0m"+rest; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := Visible(text, false), "a\tσ\n"+`\x1b[1;32mPASS\x1b[0m`+rest; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
