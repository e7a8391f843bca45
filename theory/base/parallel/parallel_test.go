package parallel_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"belsim/theory/base/must"
	"belsim/theory/base/parallel"
)

// TestOneWorker: one worker takes i in ascending order, and its calls get the caller's own context:
// the explorer's is asked whether it has ended.
func TestOneWorker(t *testing.T) {
	type own struct{ context.Context }
	ctx, last := own{t.Context()}, -1
	err := parallel.Each(ctx, 1, 20, func() (func(context.Context, int) error, error) {
		return func(got context.Context, i int) error {
			if got != context.Context(ctx) || i != last+1 {
				t.Errorf("%d comes after %d, with %v", i, last, got)
			}
			last = i
			return nil
		}, nil
	})
	if err != nil || last != 19 {
		t.Errorf("ended at %d with %v", last, err)
	}
}

// TestEach: every i is taken once, and a worker's function by one goroutine at a time.
func TestEach(t *testing.T) {
	for _, workers := range []int{-1, 0, 1, 2, 7, 100} {
		for _, n := range []int{0, 1, 2, 30} {
			calls := make([]int, n)
			var started atomic.Int64
			must.Succeed(t, parallel.Each(context.Background(), workers, n, func() (func(context.Context, int) error, error) {
				started.Add(1)
				busy := false // of this worker alone: the race detector sees it shared
				return func(_ context.Context, i int) error {
					if busy {
						t.Error("a worker's function is called while it runs")
					}
					busy = true
					runtime.Gosched()
					calls[i]++
					busy = false
					return nil
				}, nil
			}))
			must.Equal(t, "calls", slices.Repeat([]int{1}, n), calls)
			must.Equal(t, "workers", min(parallel.Workers(workers), n), int(started.Load()))
		}
	}
}

// TestChunks: chunks cover 0 … n−1 without gaps, all of them as long as was asked
// for but the last.
func TestChunks(t *testing.T) {
	for _, size := range []int{0, 1, 3, 4, 50} {
		const n = 12
		var lengths [n]int
		err := parallel.Chunks(context.Background(), 2, n, size, func() (func(context.Context, int, int) error, error) {
			return func(_ context.Context, first, last int) error {
				lengths[first] = last - first
				return nil
			}, nil
		})
		must.Succeed(t, err)
		for first := 0; first < n; {
			if want := min(max(size, 1), n-first); lengths[first] != want {
				t.Fatalf("size %d: the chunk from %d has %d, want %d", size, first, lengths[first], want)
			}
			first += lengths[first]
		}
	}
}

// TestError: the error of a call, or of start, comes back, and ends the rest.
func TestError(t *testing.T) {
	want := errors.New("broken")
	for _, workers := range []int{1, 3} {
		var calls atomic.Int64
		err := parallel.Each(context.Background(), workers, 1<<40, func() (func(context.Context, int) error, error) {
			return func(ctx context.Context, i int) error {
				calls.Add(1)
				if i == 5 {
					return want
				}
				if i > 5 {
					<-ctx.Done() // never, unless the error cancels it
				}
				return nil
			}, nil
		})
		if !errors.Is(err, want) {
			t.Errorf("%d workers: %v, want %v", workers, err, want)
		}
		if n := calls.Load(); n > int64(5+workers) {
			t.Errorf("%d workers: %d calls although the sixth failed", workers, n)
		}
		err = parallel.Each(context.Background(), workers, 10, func() (func(context.Context, int) error,
			error) {
			return nil, want
		})
		if !errors.Is(err, want) {
			t.Errorf("%d workers: start's error became %v", workers, err)
		}
	}
}

// TestCancel: the loop ends with its context, before it begins or in the middle.
func TestCancel(t *testing.T) {
	for _, workers := range []int{1, 3} {
		ctx, cancel := context.WithCancel(context.Background())
		var calls atomic.Int64
		loop := func() error {
			return parallel.Each(ctx, workers, 1<<40, func() (func(context.Context, int) error, error) {
				return func(_ context.Context, i int) error {
					calls.Add(1)
					if i == 3 {
						cancel()
					}
					return nil
				}, nil
			})
		}
		if err := loop(); !errors.Is(err, context.Canceled) {
			t.Errorf("%d workers: %v, want the context's error", workers, err)
		}
		calls.Store(0)
		if err := loop(); !errors.Is(err, context.Canceled) || calls.Load() != 0 {
			t.Errorf("%d workers: %d calls after the context's end, and %v", workers, calls.Load(), err)
		}
	}
}
