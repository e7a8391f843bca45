package gpu

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"belsim/montecarlo"
)

// Choice says where samples are drawn. It never changes a number.
type Choice string

// The choices.
const (
	Auto Choice = "auto" // on a device where there is one, else on the CPU
	CPU  Choice = "cpu"
	CUDA Choice = "cuda" // on a device; without one sampling fails with ErrDevice
)

// ErrDevice is wrapped by the errors of a backend of the choice CUDA.
var ErrDevice = errors.New("no samples from the CUDA device")

// Backend samples, and is closed when it is not used any more.
type Backend interface {
	montecarlo.Backend
	io.Closer
}

// NewBackend returns the backend of a choice. It looks for a device when the first samples
// are drawn. workers is the number of goroutines on the CPU, 0 for one on each processor.
// fallback, which may be nil, is told why Auto takes the CPU although there is a device. A machine
// without one, and a build without support for devices, are no reason to speak.
func NewBackend(choice Choice, workers int, fallback func(error)) Backend {
	if fallback == nil {
		fallback = func(error) {}
	}
	switch choice {
	case CPU:
		return cpuOnly{montecarlo.CPU{Workers: workers}}
	case CUDA:
		return &deviceOnly{lazy{workers: workers}}
	}
	return &deviceFirst{lazy: lazy{workers: workers}, fallback: fallback}
}

// cpuOnly samples on goroutines.
type cpuOnly struct{ montecarlo.CPU }

func (cpuOnly) Close() error { return nil }

// lazy is a device that is opened when it is needed.
type lazy struct {
	workers int
	device  *Device
}

func (l *lazy) open() (err error) {
	if l.device == nil {
		if l.device, err = Open(l.workers); err != nil {
			l.device = nil
		}
	}
	return err
}

// Close implements Backend.
func (l *lazy) Close() error {
	if l.device == nil {
		return nil
	}
	err := l.device.Close()
	l.device = nil
	return err
}

// deviceOnly samples on a device, whose failures end the work.
type deviceOnly struct{ lazy }

// Sample implements montecarlo.Backend. The error wraps ErrDevice.
func (b *deviceOnly) Sample(ctx context.Context, jobs []montecarlo.Job, done func(uint64)) error {
	if err := b.open(); err != nil {
		return &deviceError{err}
	}
	err := b.device.Sample(ctx, jobs, done)
	if err != nil && ctx.Err() == nil {
		return &deviceError{err}
	}
	return err
}

// deviceError is ErrDevice with its cause.
type deviceError struct{ cause error }

func (e *deviceError) Error() string   { return fmt.Sprintf("backend cuda: %v", e.cause) }
func (e *deviceError) Unwrap() []error { return []error{ErrDevice, e.cause} }

// deviceFirst samples on a device where there is one. The CPU takes over where there is none,
// or when it fails, even in the middle: the sums are the same wherever they come from.
type deviceFirst struct {
	lazy
	fallback func(error)
	failed   bool
}

// fail gives the device up and says so, once.
func (b *deviceFirst) fail(err error) {
	b.failed = true
	err = errors.Join(err, b.Close())
	if !errors.Is(err, ErrNoDevice) && !errors.Is(err, ErrNotInBuild) {
		b.fallback(err)
	}
}

// Sample implements montecarlo.Backend. The device's sums are kept apart until it
// has finished, so that the work it did before it failed is not counted twice.
func (b *deviceFirst) Sample(ctx context.Context, jobs []montecarlo.Job, done func(uint64)) error {
	if err := montecarlo.ValidateJobs(jobs); err != nil {
		return err
	}
	if done == nil {
		done = func(uint64) {}
	}
	if !b.failed {
		if err := b.open(); err != nil {
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
		if !errors.Is(err, ErrUnsupported) { // the device is well, and samples other problems
			b.fail(err)
		}
	}
	var mu sync.Mutex
	return montecarlo.CPU{Workers: b.workers}.Sample(ctx, jobs, func(n uint64) {
		mu.Lock()
		seen := min(n, reported) // the device has said so already
		reported -= seen
		mu.Unlock()
		if n > seen {
			done(n - seen)
		}
	})
}
