package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/mattn/go-runewidth"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/cwriter"
	"github.com/vbauerster/mpb/v8/decor"

	"belsim/theory/base/table"
)

// isTerminal reports whether a writer is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// progress shows how far a computation is, on standard error: a bar on a
// terminal, elsewhere a plain line after 5 seconds and every half minute, or as often as the
// variable BELSIM_PROGRESS of the environment says; nothing when quiet.
type progress struct {
	what     string
	finished atomic.Uint64
	total    uint64
	drawn    atomic.Uint64 // samples
	note     atomic.Value  // a text beside it
	above    atomic.Pointer[table.Table]
	began    time.Time
	bar      *mpb.Bar // nil elsewhere than on a terminal
	stop     func()   // takes the bar away; again, it does nothing
}

// A line comes when the work has taken a while, and then from time to time.
const (
	progressAfter = 5 * time.Second
	progressEvery = 30 * time.Second
)

// newProgress counts to total things of a kind, or tells how long it takes where total is 0,
// because nobody knows how many there are.
func (env *environment) newProgress(what string, total uint64) *progress {
	p := &progress{what: what, total: total, began: time.Now(), stop: func() {}}
	env.watch(p)
	if env.quiet {
		return p
	}
	if isTerminal(env.stderr) {
		p.draw(env.stderr)
		return p
	}
	every, _ := time.ParseDuration(os.Getenv("BELSIM_PROGRESS")) // 0 where it says nothing
	stopped, lines := make(chan struct{}), sync.WaitGroup{}
	lines.Go(func() {
		timer := time.NewTimer(cmp.Or(max(every, 0), progressAfter))
		defer timer.Stop()
		for {
			select {
			case <-timer.C:
				timer.Reset(cmp.Or(max(every, 0), progressEvery))
				env.say("belsim:", "%s: %s%s", what, p.soFar(), p.said())
			case <-stopped:
				return
			}
		}
	})
	p.stop = sync.OnceFunc(func() {
		close(stopped)
		lines.Wait()
	})
	return p
}

// during shows for how long a function runs.
func (env *environment) during(what string, f func() error) error {
	p := env.newProgress(what, 0)
	defer p.stop()
	return f()
}

// draw draws the bar on a terminal, and above it the table that there is.
func (p *progress) draw(on io.Writer) {
	const bar, line = 40, 80
	options := []mpb.ContainerOption{mpb.WithOutput(on), mpb.WithWidth(bar)}
	size := cwriter.New(on).GetTermSize
	if columns, _, err := size(); err != nil || columns == 0 {
		// A terminal that does not say how wide it is, as of some containers and serial lines. A
		// bar is drawn as wide as the terminal says, unless it is no terminal.
		options = []mpb.ContainerOption{mpb.WithOutput(struct{ io.Writer }{on}), mpb.WithWidth(line),
			mpb.WithAutoRefresh()}
	}
	bars := mpb.New(options...)
	p.stop = sync.OnceFunc(func() {
		p.bar.Abort(true)
		bars.Wait()
	})
	said := decor.Any(func(decor.Statistics) string { return p.said() })
	if p.total == 0 {
		p.bar = bars.New(0, mpb.NopStyle(), mpb.BarRemoveOnComplete(),
			mpb.PrependDecorators(decor.Name(p.what+" "), decor.Any(func(decor.Statistics) string { return p.soFar() }),
				said))
		return
	}
	table := mpb.BarFillerFunc(func(w io.Writer, _ decor.Statistics) error {
		columns, rows, _ := size()
		// Room for ^C, for the bar and the line below it, and for a line above: some terminals keep
		// a screen that is cleared from its first line.
		return p.fill(w, columns-len("^C"), rows-3)
	})
	p.bar = bars.AddBar(int64(p.total), mpb.BarRemoveOnComplete(), mpb.BarExtender(table, true),
		mpb.PrependDecorators(decor.Name(p.what+" ")),
		mpb.AppendDecorators(decor.Percentage(), decor.Name("  "), decor.AverageETA(decor.ET_STYLE_GO), said))
}

// fill writes the table above a bar once the work has taken a second, the last line first. Lines
// that a terminal breaks, or for which it has no room, would stay there when the bar goes.
func (p *progress) fill(w io.Writer, columns, rows int) error {
	t := p.above.Load()
	if t == nil || columns <= 0 || time.Since(p.began) < time.Second {
		return nil
	}
	var text strings.Builder
	if err := t.Write(&text); err != nil {
		return err
	}
	lines := slices.Collect(strings.Lines(text.String()))
	for _, line := range slices.Backward(lines[:max(0, min(len(lines), rows))]) {
		fmt.Fprintln(w, runewidth.Truncate(strings.TrimSuffix(line, "\n"), columns, "…"))
	}
	return nil
}

// show puts a table above the bar, on a terminal. It is safe for concurrent use.
func (p *progress) show(t *table.Table) { p.above.Store(t) }

// add counts n more. It is safe for concurrent use.
func (p *progress) add(n uint64) {
	p.finished.Add(n)
	if p.bar != nil {
		p.bar.IncrInt64(int64(n))
	}
}

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

// progressBar shows the parts of a computation one after the other, as assess.Progress tells of
// them.
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
