package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

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

// TestTableOnTerminals: a comparison that takes long shows exact values before there are samples, in lines that the
// terminal does not break, and takes them away again. A terminal that does not say how wide it is gets the result alone.
func TestTableOnTerminals(t *testing.T) {
	for _, columns := range []uint16{0, 50, 80} {
		drawn := string(onTerminal(t, columns, func(tty *os.File) {
			env := newEnvironment([]string{"compare", "unary", "hadamard", "--levels", "64", "--samples", "30000"}, tty, tty)
			env.watch = func(p *progress) { p.began = p.began.Add(-time.Second) }
			if status := env.belsim(); status != exitDone {
				t.Errorf("exit %d", status)
			}
		}))
		gone := strings.LastIndex(drawn, "\x1b[J")
		before, result := drawn[:gone], drawn[gone:]
		if shown := strings.Contains(before, "…") && strings.Contains(before, "hadamard"); shown != (columns > 0) {
			t.Errorf("%d columns: a table is shown: %v\n%s", columns, shown, before)
		}
		for line := range strings.Lines(before) {
			_, line, _ = strings.Cut(line, "\x1b[J") // of the frame before
			if n := utf8.RuneCountInString(strings.TrimSpace(line)); columns > 0 && n > int(columns) {
				t.Errorf("%d columns: a line of %d: %q", columns, n, line)
			}
		}
		if strings.Contains(result, "…") || strings.Count(result, "hadamard") != 2 { // and one note
			t.Errorf("%d columns: the result is %s", columns, result)
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
