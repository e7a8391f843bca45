package terminal

import "testing"

// TestVisible: a text keeps its lines and its tabs, and nothing else that a terminal obeys.
func TestVisible(t *testing.T) {
	const text = "a\tσ\n\x1b[1;32mPASS\x1b[0m \x1b[31m\x1b\x1b[2J\u202e\u0085\x7f\r\xff\n"
	const want = "a\tσ\n" + `\x1b[1;32mPASS\x1b[0m \x1b[31m\x1b\x1b[2J\u202e\u0085\x7f\r\xff` + "\n"
	if got := Visible(text); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
