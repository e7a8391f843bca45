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

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"belsim/cmd/internal/terminal"
)

// progress shows how far a computation is, on standard error: a bar on a
// terminal, elsewhere a plain line every half minute, or as often as the variable
// BELSIM_PROGRESS of the environment says; nothing when quiet.
type progress struct {
	what     string
	finished atomic.Uint64
	total    uint64
	note     atomic.Value // a text beside it
	bars     *mpb.Progress
	bar      *mpb.Bar
	ticker   *time.Ticker
	stopped  chan struct{}
	ended    chan struct{}
	once     sync.Once
}

const progressEvery = 30 * time.Second

// newProgress counts to total things of a kind. It shows nothing where there are none, or where
// nobody knows how many.
func (env *environment) newProgress(what string, total uint64) *progress {
	p := &progress{what: what, total: total}
	env.watch(p)
	if env.quiet || total == 0 {
		return p
	}
	if terminal.Is(env.stderr) {
		p.bars = mpb.New(mpb.WithOutput(env.stderr), mpb.WithWidth(40))
		p.bar = p.bars.AddBar(int64(total), mpb.BarRemoveOnComplete(),
			mpb.PrependDecorators(decor.Name(what+" ")),
			mpb.AppendDecorators(decor.Percentage(), decor.Name("  "), decor.AverageETA(decor.ET_STYLE_GO),
				decor.Any(func(decor.Statistics) string { return p.said() })))
		return p
	}
	every, _ := time.ParseDuration(os.Getenv("BELSIM_PROGRESS")) // 0 where it says nothing
	p.ticker = time.NewTicker(cmp.Or(max(every, 0), progressEvery))
	p.stopped, p.ended = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(p.ended)
		for {
			select {
			case <-p.ticker.C:
				env.say("belsim:", "%s: %s%s", what, p, p.said())
			case <-p.stopped:
				return
			}
		}
	}()
	return p
}

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
	if text, ok := p.note.Load().(string); ok {
		return ", " + text
	}
	return ""
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

// stop takes the bar away; again, it does nothing.
func (p *progress) stop() { p.once.Do(p.end) }

func (p *progress) end() {
	if p.bar != nil {
		p.bar.Abort(true)
		p.bars.Wait()
	}
	if p.ticker != nil {
		p.ticker.Stop()
		close(p.stopped)
		<-p.ended
	}
}
