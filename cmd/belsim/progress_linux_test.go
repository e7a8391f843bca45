package main

import (
	"bytes"
	"io"
	"testing"
	"time"

	"belsim/cmd/internal/terminal/terminaltest"
)

// TestProgressOnTerminals: a terminal shows what has a number, what has none, and how many samples were drawn of a
// code; notes stand on lines of their own, and nothing is left at the end.
func TestProgressOnTerminals(t *testing.T) {
	master, tty := terminaltest.Open(t)
	seen := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(master) // ends with an error where the other side is closed
		seen <- all
	}()
	env := newEnvironment([]string{"compare"}, io.Discard, tty)
	env.during("theory", func() error { time.Sleep(3 * progressChanges); return nil })
	bar := env.newProgress("codes", 4)
	bar.add(1)
	bar.drawn.Add(5000)
	time.Sleep(3 * progressChanges)
	env.note("a note")
	bar.stop()
	tty.Close()
	all := <-seen
	for _, want := range []string{"\rtheory: 0 s", "\rcodes: 1 of 4 (25 %), ", "s left, 5e+03 samples", " \rbelsim: note: a note\r\n"} {
		if !bytes.Contains(all, []byte(want)) {
			t.Errorf("%q is shown, want %q in it", all, want)
		}
	}
	lines := bytes.Split(all[bytes.LastIndexByte(all, '\n')+1:], []byte("\r"))
	if last := lines[max(0, len(lines)-2)]; len(bytes.TrimSpace(last)) > 0 { // behind it is nothing
		t.Errorf("%q is left", last)
	}
}
