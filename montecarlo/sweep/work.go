package sweep

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/parallel"
	"belsim/theory/base/safefile"
)

// pieces is a number of pieces in words.
func pieces(n int) string {
	if n == 1 {
		return "1 piece"
	}
	return fmt.Sprintf("%d pieces", n)
}

// Work computes the pieces of Todo. It writes them into the file at about regular times, each after
// the time every, and at the end. It tells run.Done about each finished piece.
//
// Where ctx ended, the error says how much is in the file, and does not wrap the context's error. It
// wraps *fs.PathError or *os.LinkError where the file could not be written; the file is whole then,
// and lacks the results that were not written. Any other error comes from computing, for example from
// run.Backend; the results finished before it are in the file.
func (h *Shard) Work(ctx context.Context, run scenario.Run, every time.Duration) error {
	if len(h.Todo) == 0 {
		return nil
	}
	if err := safefile.Probe(h.path); err != nil {
		return err
	}
	working, done := context.WithCancel(ctx)
	group, working := errgroup.WithContext(working)
	group.Go(func() error { return h.keep(working, every) })
	group.Go(func() error {
		defer done()
		return (&worker{Shard: h, run: run}).compute(working)
	})
	err := group.Wait()
	if err := h.flush(); err != nil {
		return err
	}
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%d of %s are safe in %s; the same command goes on from there", h.safe, pieces(h.All), h.path)
	}
	return err
}

// worker computes pieces of a shard, one after another. A goroutine has its own.
type worker struct {
	*Shard
	run   scenario.Run
	means map[Task]*scenario.Mean // by pair and method

	// The error models of the last cell, which its neighbours share.
	pair int
	y    float64
	line *scenario.Line
}

// neighbours is the number of neighbouring cells that a goroutine takes at a time: they share
// error models.
const neighbours = 32

// compute computes the pieces of the shard: first bounds and exact values, then samples.
func (w *worker) compute(ctx context.Context) error {
	var theory, samples []Piece
	for _, p := range w.Todo {
		if w.Task(p.Task).Method == scenario.Sample {
			samples = append(samples, p)
		} else {
			theory = append(theory, p)
		}
	}
	if err := parallel.Chunks(ctx, w.run.Workers, len(theory), neighbours, func() (func(context.Context, int, int) error, error) {
		own := &worker{Shard: w.Shard, run: w.run, means: map[Task]*scenario.Mean{}}
		return func(ctx context.Context, first, last int) error { return own.each(ctx, theory[first:last], own.theory) }, nil
	}); err != nil {
		return err
	}
	if w.RelErr > 0 {
		return w.each(ctx, samples, w.estimate)
	}
	return w.sample(ctx, samples)
}

// add takes the result of a piece.
func (w *worker) add(p Piece, r result) error {
	if w.run.Done != nil {
		w.run.Done(1)
	}
	return w.Shard.add(p, r)
}

// each computes pieces by a function until the context ends. Cells that are invalid need none.
func (w *worker) each(ctx context.Context, todo []Piece, compute func(context.Context, Piece, *montecarlo.Problem) (result, error)) error {
	for _, p := range todo {
		problem, err := w.problem(ctx, p)
		if err != nil {
			return err
		}
		if problem == nil {
			continue
		}
		r, err := compute(ctx, p, problem)
		if err != nil {
			return err
		}
		if err := w.add(p, r); err != nil {
			return err
		}
	}
	return nil
}

// problem returns the sampling problem of a piece. A cell where r and σ give a probability above 1
// has none: its result is taken here, and the problem is nil.
func (w *worker) problem(ctx context.Context, p Piece) (*montecarlo.Problem, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t := w.Task(p.Task)
	s := w.sides[t.Pair]
	if w.line == nil || w.pair != t.Pair || w.y != t.Y {
		line, err := s.models(ctx, t.Y)
		if err != nil {
			return nil, err
		}
		w.pair, w.y, w.line = t.Pair, t.Y, line
	}
	if w.line.Valid(t.X) {
		e, err := w.line.Errors(ctx, t.X)
		if err != nil {
			return nil, err
		}
		problem, err := w.scenario.ProblemOf(ctx, s.code, s.decoder, e, w.Sampling)
		if !scenario.Invalid(err) {
			return problem, err
		}
	}
	r := w.result(p)
	r.Invalid = true
	return nil, w.add(p, r)
}

// sharedTable is the size of a table of probabilities above which the levels of one cell are
// shared by all workers, and an interruption need not wait for the cell.
const sharedTable = 1 << 20

// theory computes a bound or an exact value.
func (w *worker) theory(ctx context.Context, p Piece, problem *montecarlo.Problem) (r result, err error) {
	t := w.Task(p.Task)
	prior := w.priors[problem.Code.Levels()]
	r, r.Value = w.result(p), new(float64)
	if problem.Code.Levels()*problem.Code.Bits() > sharedTable {
		bound, exact, err := scenario.AverageTheory(ctx, w.run.Workers, problem, prior)
		if *r.Value = bound; t.Method == scenario.Exact {
			*r.Value = exact
		}
		return r, err
	}
	key := Task{Pair: t.Pair, Method: t.Method}
	if w.means[key] == nil {
		if w.means[key], err = t.Method.MeanOf(ctx, problem); err != nil {
			return r, err
		}
	}
	*r.Value, err = w.means[key].Mean(ctx, prior, problem.Errors)
	return r, err
}

// estimate samples a cell until it has its relative error.
func (w *worker) estimate(ctx context.Context, p Piece, problem *montecarlo.Problem) (result, error) {
	target := w.Target(w.priors[problem.Code.Levels()], false)
	sums, reached, err := montecarlo.Estimate(ctx, w.run.Backend, problem, target, nil)
	return w.sampled(p, sums, reached), err
}

// A batch of cells is sampled in about this time: long enough to keep a device busy, short
// enough that little is lost with a process that is killed.
const batchTime = time.Second

// The samples of a batch, at the beginning and at least. They change no number.
const (
	firstBatch    = 1 << 22
	smallestBatch = 1 << 20
)

// sample samples cells, many at a time.
func (w *worker) sample(ctx context.Context, todo []Piece) error {
	for most := uint64(firstBatch); len(todo) > 0; {
		var jobs []montecarlo.Job
		var pieces []Piece // by job
		samples, rows := uint64(0), 0
		for len(todo) > 0 && (len(jobs) == 0 || samples < most && rows < scenario.SampledRows) {
			p := todo[0]
			todo = todo[1:]
			problem, err := w.problem(ctx, p)
			if err != nil {
				return err
			}
			if problem == nil {
				continue
			}
			job := montecarlo.Job{Problem: problem, Spans: w.Spans(p), Sums: make([]montecarlo.Sums, problem.Code.Levels())}
			jobs, pieces = append(jobs, job), append(pieces, p)
			samples += spanned(job)
			rows += len(job.Sums)
		}
		start := time.Now()
		err := w.run.Backend.Sample(ctx, jobs, nil)
		for i, job := range jobs {
			if err == nil || ctx.Err() != nil && complete(job) {
				if err := w.add(pieces[i], w.sampled(pieces[i], job.Sums, false)); err != nil {
					return err
				}
			}
		}
		if err != nil {
			return err
		}
		switch took := time.Since(start); {
		case took < batchTime/2 && samples >= most:
			most *= 2
		case took > 2*batchTime:
			most = max(most/2, smallestBatch)
		}
	}
	return nil
}

// spanned is the number of samples that a job asks for.
func spanned(job montecarlo.Job) (samples uint64) {
	for _, span := range job.Spans {
		samples += span.Samples
	}
	return samples
}

// complete reports whether an interrupted job has all its samples. Its sums hold whole
// blocks only, so that no block is counted in part.
func complete(job montecarlo.Job) bool {
	missing := spanned(job)
	for _, sums := range job.Sums {
		missing -= sums.Samples
	}
	return missing == 0
}
