// Package gpu samples on a CUDA device. It uses the random numbers, the tables and the integer
// decisions of package montecarlo, so its sums are equal to the last bit.
//
// The kernels are one source, kernel.cu. They are embedded as PTX, which the
// driver compiles for the device it finds, and the driver itself is opened at
// run time: a binary needs no CUDA toolkit to be built and no device to run.
package gpu

import (
	_ "embed"
	"errors"
)

// To make the PTX anew: Debian's clang-19, no CUDA toolkit.
//
//go:generate clang-19 -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_70 -std=c++17 -O3 -Wall -Wextra -Werror -S kernel.cu -o kernel.ptx

//go:embed kernel.ptx
var ptx []byte

// Oldest compute capability that the kernels run on.
const (
	leastMajor = 7
	leastMinor = 0
)

// errNotInBuild says that this binary was built without support for devices:
// not for Linux, or without cgo.
var errNotInBuild = errors.New("CUDA is not available in this build (it needs Linux and cgo)")

// errNoDevice is what the errors of Open are (errors.Is) on a machine without a device: there is
// no driver and no sign of an NVIDIA GPU, or the driver finds none.
var errNoDevice = errors.New("there is no CUDA device")

// marked is an error that also is another, which it does not name.
type marked struct{ cause, also error }

func (e marked) Error() string { return e.cause.Error() }

func (e marked) Unwrap() []error { return []error{e.cause, e.also} }

// errUnsupported is wrapped by the error with which Device.Sample refuses a decoder that
// it has no kernel for, before it samples anything. montecarlo.CPU samples with any
// decoder.
var errUnsupported = errors.New("not supported on a CUDA device")
