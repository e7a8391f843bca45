//go:build !(linux && cgo)

package gpu

import (
	"context"

	"belsim/montecarlo"
)

// Device is a CUDA device; there is none in this build.
type Device struct{}

func find(int) (*Device, error) { return nil, errNotInBuild }

// Name is empty.
func (*Device) Name() string { return "" }

// Sample returns errNotInBuild.
func (*Device) Sample(context.Context, *montecarlo.Problem, []montecarlo.Span, []montecarlo.Sums,
	func(samples uint64)) error {
	return errNotInBuild
}

// Close does nothing.
func (*Device) Close() error { return nil }
