package sweep

import (
	"context"
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/montecarlo/plane"
	"belsim/theory/base/parallel"
	"belsim/theory/base/position"
	"belsim/theory/base/safefile"
)

// Work computes the cells of Todo. It writes them into the file from time to time, and at the end. It tells
// run.Done about each finished cell.
//
// Where ctx ended, the error says how much is in the file, and does not wrap the context's error.
// It wraps *fs.PathError or *os.LinkError where the file could not be written; the file is whole
// then, and lacks the results that were not written. Any other error comes from computing, for
// example from run.Backend; the results finished before it are in the file.
func (h *Shard) Work(ctx context.Context, run montecarlo.Run) error {
	if len(h.Todo) == 0 {
		return nil
	}
	if err := safefile.Probe(h.path); err != nil {
		return err
	}
	working, done := context.WithCancel(ctx)
	group, working := errgroup.WithContext(working)
	group.Go(func() error { return h.keep(working) })
	group.Go(func() error {
		defer done()
		return h.compute(working, run)
	})
	err := group.Wait()
	if err := h.flush(); err != nil {
		return err
	}
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%d of %s are safe in %s; the same command goes on from there", h.safe,
			position.Counted(h.All, "cell"), h.path)
	}
	return err
}

// worker computes cells of a shard, one after another. A goroutine has its own.
type worker struct {
	*Shard
	run montecarlo.Run

	sampled func(samples uint64) // is told of samples; may be nil

	// The profile of the last cell, which its neighbours share.
	pair    int
	sigma   float64
	profile *errmodel.Profile
}

// neighbours is the number of neighbouring cells that a goroutine takes at a time: they share
// error models.
const neighbours = 32

// compute computes the cells of the shard: first bounds and exact values, then samples.
func (h *Shard) compute(ctx context.Context, run montecarlo.Run) error {
	var theory, samples []int
	for _, cell := range h.Todo {
		if h.task(cell).Method == plane.Sample {
			samples = append(samples, cell)
		} else {
			theory = append(theory, cell)
		}
	}
	if err := parallel.Chunks(ctx, run.Workers, len(theory), neighbours,
		func() (func(context.Context, int, int) error, error) {
			own := &worker{Shard: h, run: run}
			return func(ctx context.Context, first, last int) error { return own.each(ctx, theory[first:last]) }, nil
		}); err != nil {
		return err
	}
	return (&worker{Shard: h, run: run}).each(ctx, samples)
}

// each computes cells until the context ends.
func (w *worker) each(ctx context.Context, todo []int) error {
	for _, cell := range todo {
		if err := ctx.Err(); err != nil {
			return err
		}
		numbers, err := w.numbers(ctx, w.task(cell))
		if err != nil {
			return err
		}
		w.run.Finished(1)
		if err := w.add(cell, numbers); err != nil {
			return err
		}
	}
	return nil
}

// numbers computes a cell. One where r and σ give a probability above 1 has none.
func (w *worker) numbers(ctx context.Context, t Task) (Numbers, error) {
	s := w.sides[t.Pair]
	if w.profile == nil || w.pair != t.Pair || w.sigma != t.Sigma {
		profile, err := errmodel.NewProfile(ctx, s.code, s.transitions, t.Sigma)
		if err != nil {
			return Numbers{}, err
		}
		w.pair, w.sigma, w.profile = t.Pair, t.Sigma, profile
	}
	if !w.profile.Valid(t.R) {
		return unsampled(math.NaN(), false), nil
	}
	e, err := w.profile.Mixture(t.R)
	if err != nil {
		return Numbers{}, err
	}
	problem, err := w.scenario.ProblemOf(s.code, s.decoder, e)
	if err != nil {
		return Numbers{}, err
	}
	prior := w.priors[s.code.Levels()]
	if t.Method == plane.Sample {
		return w.sample(ctx, w.Sampling.Of(problem), prior)
	}
	mean, err := s.means[t.Method].Mean(ctx, problem, prior)
	return unsampled(mean, true), err
}

// sample samples a cell.
func (w *worker) sample(ctx context.Context, problem *montecarlo.Problem, prior []float64) (Numbers, error) {
	sums, reached, err := montecarlo.Estimate(ctx, w.run.Backend, problem, w.Sampling, prior, w.sampled)
	if err != nil {
		return Numbers{}, err
	}
	numbers := sampledNumbers(prior, sums)
	if w.RelErr > 0 {
		numbers.Reached = &reached
	}
	return numbers, nil
}
