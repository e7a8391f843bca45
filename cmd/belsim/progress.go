package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"belsim/cmd/internal/terminal"
	"belsim/theory/base/table"
)

// progress shows how far a computation is, on standard error: on a terminal a line that changes,
// elsewhere a line every half minute, or as often as the variable
// BELSIM_PROGRESS of the environment says; nothing when quiet.
type progress struct {
	what     string
	finished atomic.Uint64
	total    uint64
	drawn    atomic.Uint64 // samples
	note     atomic.Value  // a text beside it
	began    time.Time
	stopped  chan struct{} // nil when quiet
	ended    chan struct{}
	once     sync.Once
}

const (
	progressEvery   = 30 * time.Second
	progressChanges = 200 * time.Millisecond // on a terminal
)

// newProgress counts to total things of a kind, or tells how long it takes where total is 0, because
// nobody knows how many there are.
func (env *environment) newProgress(what string, total uint64) *progress {
	p := &progress{what: what, total: total, began: time.Now()}
	env.watch(p)
	if env.quiet {
		return p
	}
	every, _ := time.ParseDuration(os.Getenv("BELSIM_PROGRESS")) // 0 where it says nothing
	every = cmp.Or(max(every, 0), progressEvery)
	show := func() { env.say("belsim:", "%s: %s%s", what, p.soFar(), p.said()) }
	if terminal.Is(env.stderr) {
		every = progressChanges
		show = func() { env.draw(fmt.Sprintf("%s: %s%s%s", what, p.soFar(), p.left(), p.said())) }
	}
	p.stopped, p.ended = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(p.ended)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				show()
			case <-p.stopped:
				env.erase()
				return
			}
		}
	}()
	return p
}

// draw puts a line on a terminal, in the place of the one before. erase takes it away.
func (env *environment) draw(line string) {
	line = table.Visible(line)
	width := max(env.line.Load(), int64(utf8.RuneCountInString(line)))
	env.line.Store(width)
	fmt.Fprintf(env.stderr, "\r%-*s", width, line)
}

func (env *environment) erase() {
	if width := env.line.Swap(0); width > 0 {
		fmt.Fprintf(env.stderr, "\r%*s\r", width, "")
	}
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
	if n := p.drawn.Load(); n > 0 {
		return fmt.Sprintf(", %.3g samples", float64(n))
	}
	if text, ok := p.note.Load().(string); ok {
		return ", " + text
	}
	return ""
}

// soFar says how much is finished, or how long it has taken where nothing was counted.
func (p *progress) soFar() string {
	if p.total == 0 && p.finished.Load() == 0 {
		return fmt.Sprintf("%d s", int(time.Since(p.began).Seconds()))
	}
	return p.String()
}

// left says how long the rest takes, where that is known.
func (p *progress) left() string {
	done := p.finished.Load()
	if done == 0 || p.total == 0 {
		return ""
	}
	rest := float64(max(p.total, done)-done) / float64(done) * float64(time.Since(p.began))
	return fmt.Sprintf(", %v left", time.Duration(rest).Round(time.Second))
}

// String says how much is finished.
func (p *progress) String() string {
	done, total := p.finished.Load(), p.total
	if total == 0 { // it is not known
		return fmt.Sprint(done)
	}
	return fmt.Sprintf("%d of %d (%.0f %%)", done, total, 100*float64(done)/float64(max(total, 1)))
}

// unfinished is the error of a cancelled context. It says what was finished.
type unfinished struct {
	finished string
	error
}

func (u unfinished) Unwrap() error { return u.error }

// interrupted adds what was finished to a cancelled context's error; other errors it leaves as
// they are.
func (p *progress) interrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return unfinished{fmt.Sprintf("%s %s were finished", p, p.what), err}
	}
	return err
}

// stop ends it; again, it does nothing.
func (p *progress) stop() {
	p.once.Do(func() {
		if p.stopped != nil {
			close(p.stopped)
			<-p.ended
		}
	})
}

// progressBar shows the parts of a computation one after the other, as assess.Progress tells of them.
type progressBar struct{ *progress }

func (b *progressBar) of(env *environment) func(what string, total uint64) (done func(uint64), end func()) {
	return func(what string, total uint64) (func(uint64), func()) {
		b.progress = env.newProgress(what, total)
		return b.add, b.stop
	}
}

// interrupted is that of the last part, if any began.
func (b *progressBar) interrupted(err error) error {
	if b.progress == nil {
		return err
	}
	return b.progress.interrupted(err)
}
