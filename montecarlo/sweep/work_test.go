package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"belsim/montecarlo"
	"belsim/montecarlo/plane"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
)

// mixed is a plan with all methods, and with invalid cells.
const mixed = `{"codes": ["unary", "johnson"], "decoders": ["auto", "gen-ex"], "levels": [4, 8],
 "r": [0.5, 1, 60], "sigma": [1, 2], "methods": ["bound", "exact", "mc"], "samples": 500}`

// work computes a shard in a folder.
func work(t testing.TB, ctx context.Context, p *Plan, dir string, i, n int, run montecarlo.Run) (*Shard, error) {
	t.Helper()
	h := must.Get(p.Open(dir, i, n))(t)
	return h, h.Work(ctx, run)
}

// TestWork: shards and workers change no number, and Done is told about every cell once.
func TestWork(t *testing.T) {
	t.Chdir(t.TempDir())
	p := must.Get(read(mixed))(t)
	alone, dir := t.TempDir(), t.TempDir()
	must.Get(work(t, t.Context(), p, alone, 1, 1, montecarlo.Run{Backend: montecarlo.CPU{}}))(t)
	want := mustMerge(t, alone).Table("").Cells
	var done atomic.Uint64
	for i := 1; i <= 3; i++ {
		for range 2 { // again, there is nothing to do
			must.Get(work(t, t.Context(), p, dir, i, 3, montecarlo.Run{Backend: montecarlo.CPU{Workers: i},
				Workers: i, Done: func(n uint64) { done.Add(n) }}))(t)
		}
	}
	m := mustMerge(t, dir)
	got := m.Table("").Cells
	text := func(cells []CellResult) string {
		var b strings.Builder
		must.Succeed(t, table.WriteCSV(&b, cells))
		return b.String()
	}
	if text(got) != text(want) || int(done.Load()) != p.Size() {
		t.Errorf("%d of %d cells;\n%s\nwant\n%s", done.Load(), p.Size(), text(got), text(want))
	}
	invalid := 0
	for _, c := range want {
		if !c.Valid {
			invalid++
		}
		if c.Valid == table.Missing(c.Mean) {
			t.Errorf("%+v is valid, or has a number, and not both", c)
		}
	}
	if invalid == 0 || invalid == len(want) || invalid != m.Invalid {
		t.Errorf("%d of %d cells are invalid; Invalid says %d", invalid, len(want), m.Invalid)
	}
}

// sampler is a backend that calls a function in the place of the n-th sampling, from 0.
type sampler struct {
	montecarlo.CPU
	calls int
	at    int
	then  func() error
}

func (s *sampler) Sample(ctx context.Context, p *montecarlo.Problem, spans []montecarlo.Span, sums []montecarlo.Sums,
	done func(uint64)) error {
	s.calls++
	if s.calls > s.at {
		if err := s.then(); err != nil {
			return err
		}
	}
	return s.CPU.Sample(ctx, p, spans, sums, done)
}

// TestWorkFails: what was finished before a backend fails is in the file.
func TestWorkFails(t *testing.T) {
	t.Chdir(t.TempDir())
	p := must.Get(read(mixed))(t)
	broken := errors.New("broken")
	dir := t.TempDir()
	if _, err := work(t, t.Context(), p, dir, 1, 1,
		montecarlo.Run{Backend: &sampler{then: func() error { return broken }}}); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	h := must.Get(p.Open(dir, 1, 1))(t)
	if len(h.Todo) == 0 || len(h.Todo) == h.All {
		t.Errorf("%d of %d cells are left", len(h.Todo), h.All)
	}
	for _, cell := range h.Todo {
		if p.task(cell).Method != plane.Sample {
			t.Errorf("%s is left, and needs no samples", p.describe(cell))
		}
	}
}

// TestWorkInterrupted: the error says how much is safe, and the file has that much.
func TestWorkInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	p := must.Get(read(strings.Replace(mixed, `"samples": 500`, `"rel_err": 0.2, "max_samples": 65536`, 1)))(t)
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	_, err := work(t, ctx, p, dir, 1, 1,
		montecarlo.Run{Backend: &sampler{at: 2, then: func() error { cancel(); return nil }}})
	h := must.Get(p.Open(dir, 1, 1))(t)
	want := fmt.Sprintf("%d of %d cells are safe in %s; the same command goes on from there", h.All-len(h.Todo), h.All,
		h.Path())
	if err == nil || err.Error() != want || errors.Is(err, context.Canceled) || len(h.Todo) == 0 {
		t.Errorf("said %v, want %q", err, want)
	}
	must.Get(work(t, t.Context(), p, dir, 1, 1, montecarlo.Run{Backend: montecarlo.CPU{}}))(t)
	must.Succeed(t, mustMerge(t, dir).Complete())
}

// TestWorkUnwritable: a file that cannot be written ends the work with the system's error.
func TestWorkUnwritable(t *testing.T) {
	t.Chdir(t.TempDir())
	p := must.Get(read(mixed))(t)
	dir := t.TempDir()
	h := must.Get(p.Open(dir, 1, 1))(t)
	must.Succeed(t, os.Remove(dir))
	if err := h.Work(t.Context(), montecarlo.Run{Backend: montecarlo.CPU{}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a folder: %v", err)
	}
}
