package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mattn/go-isatty"
)

// isTerminal reports whether a writer is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// progress shows how far a computation is, on standard error: a line that is drawn again and again on a
// terminal, elsewhere a line after 5 seconds and every half minute, or as often as the
// variable BELSIM_PROGRESS of the environment says; nothing when quiet.
type progress struct {
	what     string
	finished atomic.Uint64
	total    uint64
	note     atomic.Value // a text beside it
	began    time.Time
	stop     func() // ends it; again, it does nothing
}

// A line comes when the work has taken a while, and then from time to time.
const (
	progressAfter   = 5 * time.Second
	progressEvery   = 30 * time.Second
	progressRedrawn = time.Second / 5 // on a terminal
)

// newProgress counts to total things of a kind, or tells how long it takes where total is 0,
// because nobody knows how many there are.
func (env *environment) newProgress(what string, total uint64) *progress {
	p := &progress{what: what, total: total, began: time.Now(), stop: func() {}}
	env.last = p
	env.watch(p)
	if env.quiet {
		return p
	}
	first, every := progressAfter, progressEvery
	if said, err := time.ParseDuration(os.Getenv("BELSIM_PROGRESS")); err == nil && said > 0 {
		first, every = said, said
	}
	show, end := func() { env.say("belsim:", "%s: %s%s", what, p.soFar(), p.said()) }, ""
	if isTerminal(env.stderr) {
		first, every, end = progressRedrawn, progressRedrawn, "\r\x1b[K"
		show = func() { fmt.Fprintf(env.stderr, "\r%s: %s%s%s\x1b[K", what, p.soFar(), p.said(), p.left()) }
	}
	stopped, lines := make(chan struct{}), sync.WaitGroup{}
	lines.Go(func() {
		for wait := first; ; wait = every {
			select {
			case <-time.After(wait):
				show()
			case <-stopped:
				return
			}
		}
	})
	p.stop = sync.OnceFunc(func() {
		close(stopped)
		lines.Wait()
		io.WriteString(env.stderr, end)
	})
	return p
}

// follow is newProgress for parts of a computation that come one after the other, as assess.Progress tells of
// them.
func (env *environment) follow(what string, total uint64) (done func(uint64), end func()) {
	p := env.newProgress(what, total)
	return p.add, p.stop
}

// during shows for how long a function runs.
func (env *environment) during(what string, f func() error) error {
	p := env.newProgress(what, 0)
	defer p.stop()
	return f()
}

// add counts n more. It is safe for concurrent use.
func (p *progress) add(n uint64) { p.finished.Add(n) }

// say puts a text beside the progress. It is safe for concurrent use.
func (p *progress) say(text string) { p.note.Store(text) }

func (p *progress) said() string {
	if text, ok := p.note.Load().(string); ok {
		return ", " + text
	}
	return ""
}

// left says how long the rest may take.
func (p *progress) left() string {
	done := float64(p.finished.Load())
	if done == 0 || p.total == 0 {
		return ""
	}
	rest := float64(time.Since(p.began)) * (float64(p.total)/done - 1)
	return fmt.Sprintf(", %v left", time.Duration(rest).Round(time.Second))
}

// soFar says how much is finished, or how long it has taken where nothing was counted.
func (p *progress) soFar() string {
	if p.total == 0 && p.finished.Load() == 0 {
		return fmt.Sprintf("%d s", int(time.Since(p.began).Seconds()))
	}
	return p.String()
}

// String says how much is finished.
func (p *progress) String() string {
	done := p.finished.Load()
	if p.total == 0 { // it is not known
		return fmt.Sprint(done)
	}
	return fmt.Sprintf("%d of %d (%.0f %%)", done, p.total, 100*float64(done)/float64(p.total))
}
