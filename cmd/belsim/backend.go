package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"belsim/gpu"
	"belsim/montecarlo"
)

// backendFlags choose where samples are drawn.
type backendFlags struct {
	workersFlag
	Backend string `enum:"auto,cpu,cuda" default:"auto" help:"Where to sample: cpu, cuda (an NVIDIA GPU), or auto: cuda where there is one, else cpu. Never changes a number."`
}

// backend is where a command samples.
type backend interface {
	montecarlo.Backend
	io.Closer
}

// open returns the backend. cuda without a device is an error of the environment;
// auto looks for a device when there is something to sample.
func (f backendFlags) open(env *environment, quiet bool) (backend, error) {
	switch f.Backend {
	case "cpu":
		return cpu{}, nil
	case "cuda":
		device, err := gpu.Open(0)
		if err != nil {
			return nil, environmentError{fmt.Errorf("--backend cuda: %w", err)}
		}
		return insistent{device}, nil
	}
	return &willing{env: env, quiet: quiet}, nil
}

// cpu samples on goroutines.
type cpu struct{ montecarlo.CPU }

func (cpu) Close() error { return nil }

// insistent is a device whose failures end the command.
type insistent struct{ backend }

func (b insistent) Sample(ctx context.Context, jobs []montecarlo.Job, done func(uint64)) error {
	err := b.backend.Sample(ctx, jobs, done)
	if err != nil && ctx.Err() == nil {
		return environmentError{fmt.Errorf("--backend cuda: %w", err)}
	}
	return err
}

// willing samples on a device where there is one. The CPU takes over where there
// is none, or when it fails, even in the middle: the sums are the same wherever
// they come from.
type willing struct {
	env    *environment
	quiet  bool
	device *gpu.Device
	failed bool
}

// fail gives the device up and says so, once.
func (b *willing) fail(err error) {
	b.failed = true
	if b.device != nil {
		err = errors.Join(err, b.device.Close())
	}
	if !b.quiet {
		fmt.Fprintf(b.env.stderr, "belsim: note: sampling on the CPU: %s\n", oneLine(err))
	}
}

func (b *willing) Close() error {
	if b.failed || b.device == nil {
		return nil
	}
	return b.device.Close()
}

// Sample implements montecarlo.Backend. The device's sums are kept apart until it
// has finished, so that what it did before it failed is not counted twice.
func (b *willing) Sample(ctx context.Context, jobs []montecarlo.Job, done func(uint64)) error {
	if err := montecarlo.ValidateJobs(jobs); err != nil {
		return err
	}
	if done == nil {
		done = func(uint64) {}
	}
	if b.device == nil && !b.failed {
		var err error
		if b.device, err = gpu.Open(0); err != nil {
			b.device = nil
			b.fail(err)
		}
	}
	var reported uint64
	if !b.failed {
		apart := make([]montecarlo.Job, len(jobs))
		for i, j := range jobs {
			apart[i] = montecarlo.Job{Problem: j.Problem, Spans: j.Spans, Sums: make([]montecarlo.Sums, len(j.Sums))}
		}
		err := b.device.Sample(ctx, apart, func(n uint64) {
			reported += n
			done(n)
		})
		if err == nil || ctx.Err() != nil {
			for i := range jobs {
				for row, s := range apart[i].Sums {
					jobs[i].Sums[row].Add(s)
				}
			}
			return err
		}
		b.fail(err)
	}
	var mu sync.Mutex
	return montecarlo.CPU{}.Sample(ctx, jobs, func(n uint64) {
		mu.Lock()
		seen := min(n, reported) // the device has said so already
		reported -= seen
		mu.Unlock()
		if n > seen {
			done(n - seen)
		}
	})
}
