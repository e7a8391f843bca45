package sweep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/parallel"
)

// Interrupted says that the context of Shard.Work ended. What was finished is in the file of
// the shard. It does not wrap the context's error.
type Interrupted struct {
	Safe, All int    // pieces in the file, and in the shard
	Path      string // the file
}

// Error implements error.
func (e *Interrupted) Error() string {
	return fmt.Sprintf("%d of %s are safe in %s; the same command goes on from there", e.Safe, pieces(e.All), e.Path)
}

// pieces is a number of pieces in words.
func pieces(n int) string {
	if n == 1 {
		return "1 piece"
	}
	return fmt.Sprintf("%d pieces", n)
}

// Work computes the pieces of a shard that its file does not have, which Todo lists. It writes
// them into the file at about regular times, each after the time every. p has the problems of
// the shard's sweep. Work tells run.Done about each finished piece, and ends when the shard is
// complete.
//
// The error is an *Interrupted when ctx ended. It wraps *fs.PathError or *os.LinkError where
// the file could not be written; the file is whole then, and lacks the results that were not
// written. Any other error comes from computing, for example from run.Backend; the results
// finished before it are in the file.
func (h *Shard) Work(ctx context.Context, p *Problems, todo []Piece, run scenario.Run, every time.Duration) error {
	if p.Sweep.ID != h.Sweep.ID {
		return fmt.Errorf("problems of plan %.12s for a shard of plan %.12s", p.Sweep.ID, h.Sweep.ID)
	}
	if len(todo) > 0 {
		if err := h.Probe(); err != nil {
			return err
		}
	}
	// A second round is needed only where another process replaced the file in the same
	// moment.
	for len(todo) > 0 {
		w := &worker{p, h, run}
		if err := w.compute(ctx, todo, every); err != nil {
			return err
		}
		var err error
		if todo, _, err = h.Todo(); err != nil {
			return err
		}
	}
	h.Finish()
	return nil
}

// worker computes pieces of a shard.
type worker struct {
	*Problems
	shard *Shard
	run   scenario.Run
}

// compute computes pieces, and flushes them while it does so and at the end.
func (w *worker) compute(ctx context.Context, todo []Piece, every time.Duration) error {
	work, cancel := context.WithCancel(ctx)
	defer cancel()
	kept := make(chan error, 1)
	go func() {
		err := w.shard.Keep(work, every)
		if err != nil {
			cancel()
		}
		kept <- err
	}()
	err := w.all(work, todo)
	cancel()
	fileErr := <-kept
	switch {
	case err != nil && ctx.Err() != nil:
		return w.interrupted()
	case fileErr != nil:
		return fileErr
	}
	return errors.Join(err, w.shard.Flush())
}

// interrupted writes the finished results into the file.
func (w *worker) interrupted() error {
	if err := w.shard.Flush(); err != nil {
		return fmt.Errorf("the results of the last moments are lost: %w", err)
	}
	todo, all, err := w.shard.Todo()
	if err != nil {
		return err
	}
	return &Interrupted{Safe: all - len(todo), All: all, Path: w.shard.Path()}
}

// all computes pieces: first bounds and exact values, then samples.
func (w *worker) all(ctx context.Context, todo []Piece) error {
	var theory, samples []Piece
	for _, p := range todo {
		if w.Sweep.Task(p.Task).Method == scenario.Sample {
			samples = append(samples, p)
		} else {
			theory = append(theory, p)
		}
	}
	if len(samples) > 0 && w.run.Backend == nil {
		return errors.New("no backend to sample with")
	}
	if err := w.theory(ctx, theory); err != nil {
		return err
	}
	if w.Sweep.RelErr > 0 {
		return w.estimate(ctx, samples)
	}
	return w.sample(ctx, samples)
}

// problem returns the sampling problem of a piece. A cell that is invalid has none: its result is
// taken here, and the problem is nil.
func (w *worker) problem(ctx context.Context, find *finder, p Piece) (*montecarlo.Problem, error) {
	problem, err := find.problem(ctx, w.Sweep.Task(p.Task))
	if problem == nil && err == nil {
		w.add(Result{Piece: p, Invalid: true})
	}
	return problem, err
}

// add takes a result.
func (w *worker) add(r Result) {
	w.shard.Add(r)
	if w.run.Done != nil {
		w.run.Done(1)
	}
}

// neighbours is the number of neighbouring cells that a goroutine takes at a time: they share
// error models.
const neighbours = 32

// theory computes bounds and exact values on run.Workers goroutines.
func (w *worker) theory(ctx context.Context, todo []Piece) error {
	return parallel.Chunks(ctx, w.run.Workers, len(todo), neighbours, func() (func(context.Context, int, int) error, error) {
		find := &finder{Problems: w.Problems}
		means := map[pairMethod]cellMean{}
		return func(ctx context.Context, first, last int) error {
			for _, p := range todo[first:last] {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := w.value(ctx, find, means, p); err != nil {
					return err
				}
			}
			return nil
		}, nil
	})
}

// pairMethod is a pair with a method.
type pairMethod struct {
	pair   int
	method scenario.Method
}

// value computes one cell of theory.
func (w *worker) value(ctx context.Context, find *finder, means map[pairMethod]cellMean, p Piece) error {
	t := w.Sweep.Task(p.Task)
	problem, err := w.problem(ctx, find, p)
	if problem == nil || err != nil {
		return err
	}
	key := pairMethod{t.Pair, t.Method}
	mean := means[key]
	if mean == nil {
		if mean, err = w.mean(ctx, t, problem); err != nil {
			return err
		}
		means[key] = mean
	}
	value, err := mean(ctx, problem)
	if err == nil {
		w.add(Result{Piece: p, Value: value})
	}
	return err
}

// cellMean is the bound or the exact value of a cell of one pair, the mean over the labels. It
// belongs to one goroutine.
type cellMean func(ctx context.Context, p *montecarlo.Problem) (float64, error)

// sharedTable is the size of a table of probabilities above which the levels of one cell are
// shared by all workers, and an interruption need not wait for the cell.
const sharedTable = 1 << 20

// mean prepares the means of the cells of a task's pair and method.
func (w *worker) mean(ctx context.Context, t Task, problem *montecarlo.Problem) (cellMean, error) {
	s := w.sides[t.Pair]
	if s.code.Levels()*s.code.Bits() > sharedTable {
		return func(ctx context.Context, q *montecarlo.Problem) (float64, error) {
			bound, exact, err := scenario.AverageTheory(ctx, w.run.Workers, q, s.weights)
			if t.Method == scenario.Exact {
				return float64(exact), err
			}
			return float64(bound), err
		}, nil
	}
	if t.Method == scenario.Exact {
		x, err := scenario.ExactOf(ctx, problem)
		return func(ctx context.Context, q *montecarlo.Problem) (float64, error) {
			return x.Mean(ctx, s.weights, q.Errors)
		}, err
	}
	b, err := scenario.BoundOf(problem)
	return func(ctx context.Context, q *montecarlo.Problem) (float64, error) {
		return b.Mean(ctx, s.weights, q.Errors)
	}, err
}

// estimate samples cells until they have their relative error, one after another.
func (w *worker) estimate(ctx context.Context, todo []Piece) error {
	find := &finder{Problems: w.Problems}
	for _, p := range todo {
		if err := ctx.Err(); err != nil {
			return err
		}
		t := w.Sweep.Task(p.Task)
		problem, err := w.problem(ctx, find, p)
		if err != nil {
			return err
		}
		if problem == nil {
			continue
		}
		target := w.Sweep.sampling().Target(w.sides[t.Pair].weights, false)
		sums, reached, err := montecarlo.Estimate(ctx, w.run.Backend, problem, target, nil)
		if err != nil {
			return err
		}
		w.add(Result{Piece: p, Sums: sums, Reached: reached})
	}
	return nil
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
	find := &finder{Problems: w.Problems}
	most := uint64(firstBatch)
	for len(todo) > 0 {
		b, err := w.nextBatch(ctx, find, todo, most)
		if err != nil {
			return err
		}
		todo = todo[b.taken:]
		start := time.Now()
		err = w.run.Backend.Sample(ctx, b.jobs, nil)
		for i, job := range b.jobs {
			if err == nil || ctx.Err() != nil && complete(job) {
				w.add(Result{Piece: b.pieces[i], Sums: job.Sums})
			}
		}
		if err != nil {
			return err
		}
		switch took := time.Since(start); {
		case took < batchTime/2 && b.samples >= most:
			most *= 2
		case took > 2*batchTime:
			most = max(most/2, smallestBatch)
		}
	}
	return nil
}

// batch has the pieces that are sampled in one call of the backend.
type batch struct {
	jobs    []montecarlo.Job
	pieces  []Piece // by job
	samples uint64
	taken   int // pieces that are done with the batch, with those that are invalid
}

// nextBatch takes the first pieces, at least one, until they have most samples. Cells that are
// invalid need none.
func (w *worker) nextBatch(ctx context.Context, find *finder, todo []Piece, most uint64) (b batch, err error) {
	rows := 0
	for _, p := range todo {
		if len(b.jobs) > 0 && (b.samples >= most || rows >= scenario.SampledRows) {
			break
		}
		b.taken++
		problem, err := w.problem(ctx, find, p)
		if err != nil {
			return b, err
		}
		if problem == nil {
			continue
		}
		job := montecarlo.Job{Problem: problem, Spans: w.Sweep.Spans(p), Sums: make([]montecarlo.Sums, problem.Code.Levels())}
		for _, span := range job.Spans {
			b.samples += span.Samples
		}
		rows += problem.Code.Levels()
		b.jobs, b.pieces = append(b.jobs, job), append(b.pieces, p)
	}
	return b, nil
}

// complete reports whether an interrupted job has all its samples. Its sums hold whole
// blocks only, so that no block is counted in part.
func complete(job montecarlo.Job) bool {
	missing := map[int]uint64{}
	for _, span := range job.Spans {
		missing[span.Row] += span.Samples
	}
	for row, n := range missing {
		if job.Sums[row].Samples != n {
			return false
		}
	}
	return true
}
