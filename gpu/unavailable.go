//go:build !(linux && cgo)

package gpu

import (
	"context"

	"belsim/montecarlo"
)

// Device is a CUDA device; there is none in this build.
type Device struct{}

// Open returns ErrNotInBuild.
func Open(int) (*Device, error) { return nil, ErrNotInBuild }

// Name is empty.
func (*Device) Name() string { return "" }

// Sample returns ErrNotInBuild.
func (*Device) Sample(context.Context, *montecarlo.Problem, []montecarlo.Span, []montecarlo.Sums, func(samples uint64)) error {
	return ErrNotInBuild
}

// Close does nothing.
func (*Device) Close() error { return nil }
