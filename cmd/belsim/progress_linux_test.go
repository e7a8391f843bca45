package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"belsim/theory/base/must"
)

// TestProgressOnTerminals: what has a number, and what has none, is drawn
// on a terminal, and taken away.
func TestProgressOnTerminals(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer master.Close()
	must.Succeed(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n := must.Get(unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN))(t)
	tty := must.Get(os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	drawn := make(chan string)
	go func() {
		all, _ := io.ReadAll(master) // ends with an error where the other side is closed
		drawn <- string(all)
	}()
	env := newEnvironment([]string{"compare"}, io.Discard, tty)
	env.during("theory", func() error { time.Sleep(time.Second / 2); return nil })
	bar := env.newProgress("codes", 4)
	bar.add(1)
	time.Sleep(time.Second / 2)
	bar.stop()
	tty.Close()
	got := <-drawn
	for _, want := range []string{"\rtheory: 0 s", "\rcodes: 1 of 4 (25 %), 1s left\x1b[K"} {
		if !strings.Contains(got, want) || !strings.HasSuffix(got, "\r\x1b[K") {
			t.Errorf("%q is drawn, want %q in it", got, want)
		}
	}
}
