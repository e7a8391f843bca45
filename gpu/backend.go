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
	Auto Choice = "auto" // on a device where there is one that is right, else on the CPU
	CPU  Choice = "cpu"
	CUDA Choice = "cuda" // on a device; without one that is right, sampling fails with ErrDevice
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
	return &backend{choice: choice, workers: workers, fallback: fallback, find: find}
}

// backend samples on a device where there is one and the choice allows it. The CPU takes over where
// there is none, or when it fails, even in the middle: the sums are the same wherever they come
// from.
type backend struct {
	choice   Choice // CPU after a device failed
	workers  int
	fallback func(error)
	find     func(workers int) (*Device, error)
	device   *Device // opened when it is needed
}

// open opens the device.
func (b *backend) open(ctx context.Context) (err error) {
	if b.device == nil {
		b.device, err = openProved(ctx, b.workers, b.find)
	}
	return err
}

// Close implements Backend.
func (b *backend) Close() error {
	if b.device == nil {
		return nil
	}
	err := b.device.Close()
	b.device = nil
	return err
}

// Sample implements montecarlo.Backend. The error wraps ErrDevice where the choice is CUDA.
func (b *backend) Sample(ctx context.Context, p *montecarlo.Problem, spans []montecarlo.Span, sums []montecarlo.Sums,
	done func(uint64)) error {
	switch b.choice {
	case CPU:
		return montecarlo.CPU{Workers: b.workers}.Sample(ctx, p, spans, sums, done)
	case CUDA:
		err := b.open(ctx)
		if err == nil {
			err = b.device.Sample(ctx, p, spans, sums, done)
		}
		if err != nil && ctx.Err() == nil {
			return marked{fmt.Errorf("backend cuda: %w", err), ErrDevice}
		}
		return err
	}
	return b.sampleAnywhere(ctx, p, spans, sums, done)
}

// fail gives the device up and says so, once.
func (b *backend) fail(err error) {
	b.choice = CPU
	err = errors.Join(err, b.Close())
	if !errors.Is(err, errNoDevice) && !errors.Is(err, errNotInBuild) {
		b.fallback(err)
	}
}

// sampleAnywhere samples on the device, if it can. The device's sums are kept apart until it
// has finished, so that the work it did before it failed is not counted twice.
func (b *backend) sampleAnywhere(ctx context.Context, p *montecarlo.Problem, spans []montecarlo.Span,
	sums []montecarlo.Sums, done func(uint64)) error {
	if _, err := montecarlo.Prepared(p, spans, sums); err != nil {
		return err
	}
	if done == nil {
		done = func(uint64) {}
	}
	var reported uint64
	if err := b.open(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b.fail(err)
	} else {
		apart := make([]montecarlo.Sums, len(sums))
		err := b.device.Sample(ctx, p, spans, apart, func(n uint64) {
			reported += n
			done(n)
		})
		if err == nil || ctx.Err() != nil {
			for row, s := range apart {
				sums[row].Add(s)
			}
			return err
		}
		if !errors.Is(err, errUnsupported) { // the device is well, and samples other problems
			b.fail(err)
		}
	}
	var mu sync.Mutex
	return montecarlo.CPU{Workers: b.workers}.Sample(ctx, p, spans, sums, func(n uint64) {
		mu.Lock()
		seen := min(n, reported) // the device has said so already
		reported -= seen
		mu.Unlock()
		if n > seen {
			done(n - seen)
		}
	})
}
