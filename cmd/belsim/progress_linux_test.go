package main

import (
	"bytes"
	"io"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"belsim/cmd/internal/terminal/terminaltest"
)

// TestProgressOnTerminals: progress is drawn on a terminal of 80 columns, and on one that says 0: what has a
// number, what has none, and how many samples were drawn of a code.
func TestProgressOnTerminals(t *testing.T) {
	for _, columns := range []uint16{0, 80} {
		drawn := onTerminal(t, columns, func(tty *os.File) {
			env := newEnvironment([]string{"compare"}, io.Discard, tty)
			env.during("theory", func() error { time.Sleep(time.Second / 2); return nil })
			bar := env.newProgress("codes", 4)
			bar.add(1)
			bar.drawn.Add(5000)
			time.Sleep(time.Second / 2)
			bar.stop()
		})
		for _, want := range []string{"theory 0 s", "codes ", "25 %", "5e+03 samples"} {
			if !bytes.Contains(drawn, []byte(want)) {
				t.Errorf("%d columns: %q is drawn, want %q in it", columns, drawn, want)
			}
		}
	}
}

// onTerminal returns what a function writes to a pseudoterminal with a number of columns.
func onTerminal(t *testing.T, columns uint16, f func(tty *os.File)) []byte {
	t.Helper()
	master, tty := terminaltest.Open(t)
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	drawn := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(master) // ends with an error where the other side is closed
		drawn <- all
	}()
	f(tty)
	tty.Close()
	return <-drawn
}
