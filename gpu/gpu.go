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
	"math"
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

// ErrNotInBuild says that this binary was built without support for devices:
// not for Linux, or without cgo.
var ErrNotInBuild = errors.New("CUDA is not available in this build (it needs Linux and cgo)")

// ErrNoDevice is what the errors of Open are (errors.Is) on a machine without a device: there is
// no driver and no sign of an NVIDIA GPU, or the driver finds none.
var ErrNoDevice = errors.New("there is no CUDA device")

// noDevice is an error that is ErrNoDevice.
type noDevice struct{ error }

func (noDevice) Is(target error) bool { return target == ErrNoDevice }

func (e noDevice) Unwrap() error { return e.error }

// ErrUnsupported is wrapped by the error with which Device.Sample refuses a decoder that
// it has no kernel for, before it samples anything. montecarlo.CPU samples with any
// decoder.
var ErrUnsupported = errors.New("not supported on a CUDA device")

// Info describes a device.
type Info struct {
	Name            string
	Major, Minor    int // compute capability
	Multiprocessors int
	ClockKHz        int // highest clock; 0 where the driver does not say
}

// IntegerPeak is the most 32-bit integer operations a second, or 0 where it is
// not known: lanes for integers of a multiprocessor × multiprocessors × clock.
// NVIDIA's programming guide gives the lanes for each compute capability.
func (i Info) IntegerPeak() float64 {
	lanes := map[int]int{70: 64, 72: 64, 75: 64, 80: 64, 86: 64, 87: 64, 89: 64, 90: 64, 100: 64, 103: 64, 120: 64}[10*i.Major+i.Minor]
	return float64(lanes) * float64(i.Multiprocessors) * float64(i.ClockKHz) * 1000
}

// Operations estimates the instructions that one sample takes of a device of compute
// capability 9.0, nearly all of them 32-bit integer operations, for a mean number of points a
// sample. It has no estimate for gen, whose number of candidates depends on the errors, nor
// for codes of more than 256 bits.
//
// They were counted in the machine code that NVIDIA's assembler makes of the PTX. A point
// costs 6 instructions for an eighth of a call of Philox (20 wide products, 20 exclusive ors
// and the loop), 12 to look its place up, and some to mark its bit. A sample with a point
// costs decoding and adding up.
func Operations(decoder string, bits int, points float64) (float64, bool) {
	for _, o := range operations {
		if o.decoder == decoder && bits <= o.bits {
			return o.perPoint*points + o.perSample*-math.Expm1(-points), true
		}
	}
	return 0, false
}

// operations are the counts of Operations, for codes of at most some bits.
var operations = []struct {
	decoder             string
	bits                int
	perPoint, perSample float64
}{
	{"bel-u", 128, 43, 28}, {"bel-u", 256, 55, 41},
	{"bel-j", 128, 43, 55}, {"bel-j", 256, 55, 81},
}
