package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"belsim/theory/base/must"
)

// openTerminal returns both sides of a pseudoterminal with a number of columns. What is written to
// tty is read from master. It skips the test where there is none.
func openTerminal(t *testing.T, columns uint16) (master, tty *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skip(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skip(err)
	}
	if tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { tty.Close() })
	must.Succeed(t, unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}))
	return master, tty
}

// TestProgressOnTerminals: progress is drawn on a terminal of 80 columns, and on one that says 0:
// what has a number, what has none, and how many samples were drawn of a code.
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

// TestTableOnTerminals: a comparison that takes long shows exact values before there are samples,
// in lines that the terminal does not break, and takes them away again. A terminal that does not
// say how wide it is gets the result alone.
func TestTableOnTerminals(t *testing.T) {
	for _, columns := range []uint16{0, 50, 80} {
		drawn := string(onTerminal(t, columns, func(tty *os.File) {
			args := "compare hexj hadamard --levels 32 --samples 30000"
			env := newEnvironment(strings.Fields(args), tty, tty)
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
	master, tty := openTerminal(t, columns)
	drawn := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(master) // ends with an error where the other side is closed
		drawn <- all
	}()
	f(tty)
	tty.Close()
	return <-drawn
}
