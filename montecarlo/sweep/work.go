package sweep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/parallel"
	"belsim/theory/base/safefile"
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
		if err := safefile.Probe(h.path); err != nil {
			return err
		}
	}
	// A second round is needed only where another process replaced the file in the same
	// moment.
	for len(todo) > 0 {
		w := &worker{Problems: p, shard: h, run: run}
		if err := w.work(ctx, todo, every); err != nil {
			return err
		}
		var err error
		if todo, _, err = h.Todo(); err != nil {
			return err
		}
	}
	return nil
}

// worker computes pieces of a shard, one after another. A goroutine has its own.
type worker struct {
	*Problems
	shard *Shard
	run   scenario.Run
	means map[Task]cellMean // by pair and method

	// The error models of the last cell, which its neighbours share.
	pair int
	y    float64
	line *scenario.Line
}

// work computes pieces, and flushes them while it does so and at the end.
func (w *worker) work(ctx context.Context, todo []Piece, every time.Duration) error {
	work, cancel := context.WithCancel(ctx)
	defer cancel()
	kept := make(chan error, 1)
	go func() {
		err := w.shard.keep(work, every)
		if err != nil {
			cancel()
		}
		kept <- err
	}()
	err := w.compute(work, todo)
	cancel()
	fileErr := <-kept
	switch {
	case err != nil && ctx.Err() != nil:
		return w.interrupted()
	case fileErr != nil:
		return fileErr
	}
	return errors.Join(err, w.shard.flush())
}

// interrupted writes the finished results into the file.
func (w *worker) interrupted() error {
	if err := w.shard.flush(); err != nil {
		return fmt.Errorf("the results of the last moments are lost: %w", err)
	}
	todo, all, err := w.shard.Todo()
	if err != nil {
		return err
	}
	return &Interrupted{Safe: all - len(todo), All: all, Path: w.shard.path}
}

// neighbours is the number of neighbouring cells that a goroutine takes at a time: they share
// error models.
const neighbours = 32

// compute computes pieces: first bounds and exact values, then samples.
func (w *worker) compute(ctx context.Context, todo []Piece) error {
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
	if err := parallel.Chunks(ctx, w.run.Workers, len(theory), neighbours, func() (func(context.Context, int, int) error, error) {
		own := &worker{Problems: w.Problems, shard: w.shard, run: w.run, means: map[Task]cellMean{}}
		return func(ctx context.Context, first, last int) error { return own.each(ctx, theory[first:last], own.theory) }, nil
	}); err != nil {
		return err
	}
	if w.Sweep.RelErr > 0 {
		return w.each(ctx, samples, w.estimate)
	}
	return w.sample(ctx, samples)
}

// add takes the result of a piece.
func (w *worker) add(p Piece, r Result) error {
	if w.run.Done != nil {
		w.run.Done(1)
	}
	return w.shard.add(p, r)
}

// each computes pieces by a function until the context ends. Cells that are invalid need none.
func (w *worker) each(ctx context.Context, todo []Piece, compute func(context.Context, Piece, *montecarlo.Problem) (Result, error)) error {
	for _, p := range todo {
		if err := ctx.Err(); err != nil {
			return err
		}
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
	t := w.Sweep.Task(p.Task)
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
		problem, err := w.scenario.ProblemOf(ctx, s.code, s.decoder, e, w.Sweep.sampling())
		if !scenario.Invalid(err) {
			return problem, err
		}
	}
	r := w.Sweep.result(p)
	r.Invalid = true
	return nil, w.add(p, r)
}

// theory computes a bound or an exact value.
func (w *worker) theory(ctx context.Context, p Piece, problem *montecarlo.Problem) (Result, error) {
	t := w.Sweep.Task(p.Task)
	key := Task{Pair: t.Pair, Method: t.Method}
	if w.means[key] == nil {
		mean, err := w.mean(ctx, t, problem)
		if err != nil {
			return Result{}, err
		}
		w.means[key] = mean
	}
	r := w.Sweep.result(p)
	mean, err := w.means[key](ctx, problem)
	r.Value = &mean
	return r, err
}

// cellMean is the bound or the exact value of a cell of one pair, the mean over the labels.
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
				return exact, err
			}
			return bound, err
		}, nil
	}
	mean, err := t.Method.MeanOf(ctx, problem)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, q *montecarlo.Problem) (float64, error) {
		return mean.Mean(ctx, s.weights, q.Errors)
	}, nil
}

// estimate samples a cell until it has its relative error.
func (w *worker) estimate(ctx context.Context, p Piece, problem *montecarlo.Problem) (Result, error) {
	target := w.Sweep.sampling().Target(w.sides[w.pair].weights, false)
	sums, reached, err := montecarlo.Estimate(ctx, w.run.Backend, problem, target, nil)
	return w.Sweep.sampled(p, sums, reached), err
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
	most := uint64(firstBatch)
	for len(todo) > 0 {
		b, err := w.nextBatch(ctx, todo, most)
		if err != nil {
			return err
		}
		todo = todo[b.taken:]
		start := time.Now()
		err = w.run.Backend.Sample(ctx, b.jobs, nil)
		for i, job := range b.jobs {
			if err == nil || ctx.Err() != nil && complete(job) {
				if err := w.add(b.pieces[i], w.Sweep.sampled(b.pieces[i], job.Sums, false)); err != nil {
					return err
				}
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

// nextBatch takes the first pieces, at least one, until they have most samples.
func (w *worker) nextBatch(ctx context.Context, todo []Piece, most uint64) (b batch, err error) {
	rows := 0
	for _, p := range todo {
		if len(b.jobs) > 0 && (b.samples >= most || rows >= scenario.SampledRows) {
			break
		}
		b.taken++
		problem, err := w.problem(ctx, p)
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
