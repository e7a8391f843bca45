// Package parallel spreads a loop over several goroutines.
//
// The number of workers does not change a result, as long as each call of the loop writes to
// its own place.
package parallel

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Workers returns the number of goroutines that a worker count stands for: the
// count itself, or as many as there are processors (runtime.GOMAXPROCS) where it is
// 0 or less.
func Workers(workers int) int {
	if workers <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return workers
}

// PerProcessor is the largest number of workers for each processor that makes sense: more take
// memory and gain nothing.
const PerProcessor = 16

// Most returns the largest number of workers that makes sense here: PerProcessor for each
// processor that the process may run on.
func Most() int { return PerProcessor * max(runtime.NumCPU(), runtime.GOMAXPROCS(0)) }

// Each calls a function for every i from 0 to n−1, each i once, on min(workers, n) goroutines;
// workers ≤ 0 stands for all processors. A goroutine takes the smallest i that is left, so the
// calls begin in ascending order of i.
//
// Every goroutine calls start first, which makes the state of one worker, such as
// scratch memory, and returns the function that it will call: no two goroutines
// share one. start itself must be safe for concurrent use. It is not called when n
// is 0.
//
// The first error of start or of a call ends the loop: no further i is begun, the
// context that the calls get is cancelled, and Each returns the error once all
// goroutines have ended. When ctx ends before every i was begun, Each returns the
// context's error; calls that take longer than a fraction of a second should look
// at their context. One worker is the caller's goroutine, and its calls get ctx itself.
func Each(ctx context.Context, workers, n int, start func() (func(ctx context.Context, i int) error, error)) error {
	return Chunks(ctx, workers, n, 1, func() (func(context.Context, int, int) error, error) {
		f, err := start()
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, i, _ int) error { return f(ctx, i) }, nil
	})
}

// Chunks is like Each, for short calls and for calls whose neighbours share work. It
// cuts 0 … n−1 into chunks of the given size, at least 1; the last chunk may be shorter. It
// calls a function for every chunk, with the i from first to last−1.
func Chunks(ctx context.Context, workers, n, size int, start func() (func(ctx context.Context, first, last int) error,
	error)) error {
	if n <= 0 {
		return nil
	}
	size = max(size, 1)
	chunks := (n-1)/size + 1
	var next atomic.Int64
	loop := func(ctx context.Context) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, err := start()
		if err != nil {
			return err
		}
		for {
			chunk := int(next.Add(1)) - 1
			if chunk >= chunks {
				return nil
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			first := chunk * size
			if err := f(ctx, first, min(first+size, n)); err != nil {
				return err
			}
		}
	}
	workers = min(Workers(workers), chunks)
	if workers == 1 {
		return loop(ctx) // the caller's own context, whose Err may do more than to say whether it has ended
	}
	g, ctx := errgroup.WithContext(ctx)
	for range workers {
		g.Go(func() error { return loop(ctx) })
	}
	return g.Wait()
}
