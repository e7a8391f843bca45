//go:build linux && cgo

// Package emulator is a CUDA driver without a device, for tests: the kernels,
// compiled for the host, run thread by thread on the host's memory. Any call of
// the driver can be made to fail, and what is not released is counted.
//
// The emulator is C++. A test compiles it when it runs, so that all packages
// build where there is no C++ compiler.
package emulator

/*
#include <stdlib.h>
// Go's build cache does not see a change of a header in another folder. Count here how often bel_launch
// has changed, so that this package is built again: 5.
#include "../../kernel.h"

// Go cannot call a pointer to a function; these can.
static void emulator_reset(void *f, int devices, int major, size_t memory) { ((void (*)(int, int, size_t))f)(devices, major, memory); }
static void emulator_fail(void *f, long at, int with, int ever) { ((void (*)(long, int, int))f)(at, with, ever); }
static long emulator_count(void *f) { return ((long (*)(void))f)(); }
static void emulator_philox(void *f, const unsigned *key, const unsigned *counter, unsigned *out) {
	((void (*)(const unsigned *, const unsigned *, unsigned *))f)(key, counter, out);
}
static double emulator_hazard(void *f, double e) { return ((double (*)(double))f)(e); }
static void emulator_tables(void *f, const bel_launch *a) { ((void (*)(const bel_launch *))f)(a); }
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"unsafe"

	"belsim/gpu/internal/dl"
)

// ErrNoCompiler says that there is no C++ compiler that works.
var ErrNoCompiler = errors.New("no C++ compiler works here (the variable CXX names one, c++ is looked for without it)")

// Emulator is the compiled library. All Emulators of a process share one state.
type Emulator struct {
	library                                          *dl.Library
	reset, fail, calls, live, philox, hazard, tables unsafe.Pointer
}

// Open compiles the emulator, whose sources are in the folder gpu of the
// repository, and loads it. It takes a few seconds. The error is ErrNoCompiler
// where there is nothing to compile it with.
func Open(gpu string) (*Emulator, error) {
	source := filepath.Join(gpu, "internal", "emulator", "libcuda")
	// go test keeps the results of a test until a file changes that the test
	// has read. It does not see what a compiler reads.
	for _, name := range []string{filepath.Join(source, "emulator.cc"), filepath.Join(source, "build.sh"),
		filepath.Join(gpu, "kernel.cu"), filepath.Join(gpu, "kernel.h"), filepath.Join(gpu, "internal", "driver", "driver.h")} {
		if _, err := os.ReadFile(name); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"CXX", "CGO_CXXFLAGS", "PATH"} {
		os.Getenv(name) // for the same reason
	}
	folder, err := os.MkdirTemp("", "emulator")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder) // a loaded library needs no file
	path := filepath.Join(folder, "libcuda.so.1")
	out, err := exec.Command("sh", filepath.Join(source, "build.sh"), path).CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 77 {
		return nil, ErrNoCompiler
	}
	if err != nil {
		return nil, fmt.Errorf("compiling the emulator: %w: %s", err, out)
	}
	e := &Emulator{}
	if e.library, err = dl.Open(path); err != nil {
		return nil, err
	}
	for _, f := range []struct {
		name string
		to   *unsafe.Pointer
	}{
		{"emulator_reset", &e.reset}, {"emulator_fail", &e.fail}, {"emulator_calls", &e.calls}, {"emulator_live", &e.live},
		{"emulator_philox", &e.philox}, {"emulator_hazard", &e.hazard}, {"emulator_tables", &e.tables},
	} {
		if *f.to, err = e.library.Lookup(f.name); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Lookup returns the address of a function of the driver.
func (e *Emulator) Lookup(symbol string) (unsafe.Pointer, error) { return e.library.Lookup(symbol) }

// Machine describes the devices that the driver finds.
type Machine struct {
	Devices int // −1: cuInit fails
	Major   int // compute capability
	Memory  uint64
}

// Usual is a machine that everything works on.
var Usual = Machine{Devices: 1, Major: 9, Memory: 1 << 34}

// Reset makes a machine whose calls succeed.
func (e *Emulator) Reset(m Machine) {
	C.emulator_reset(e.reset, C.int(m.Devices), C.int(m.Major), C.size_t(m.Memory))
}

// Fail makes call number at from now on, counted from 1, fail with an error
// code, and all later ones too if ever is set; 0 makes none fail.
func (e *Emulator) Fail(at, code int, ever bool) {
	every := C.int(0)
	if ever {
		every = 1
	}
	C.emulator_fail(e.fail, C.long(at), C.int(code), every)
}

// Calls returns the number of calls since Reset or Fail.
func (e *Emulator) Calls() int { return int(C.emulator_count(e.calls)) }

// Live returns how many contexts, modules, streams and allocations were made and
// not released.
func (e *Emulator) Live() int { return int(C.emulator_count(e.live)) }

// Philox is the kernels' generator.
func (e *Emulator) Philox(key [2]uint32, counter [4]uint32) (out [4]uint32) {
	C.emulator_philox(e.philox, (*C.uint)(&key[0]), (*C.uint)(&counter[0]), (*C.uint)(&out[0]))
	return out
}

// Hazard is the kernels' −ln(1−e).
func (e *Emulator) Hazard(p float64) float64 {
	return float64(C.emulator_hazard(e.hazard, C.double(p)))
}

// Tables are what the kernels prepare for one row of a code.
type Tables struct {
	Base        []uint32
	ClassPoints []uint32
	ClassShare  []uint64
	ColumnShare []uint64
	ColumnBit   []uint32 // own bit, alias << 16
}

// MakeTables prepares one row of a code: word is its code word, bit
// k in bit k%32 of element k/32; errors are its M probabilities; classes is the most that are
// possible; columns is a power of two of at least M.
func (e *Emulator) MakeTables(word []uint32, errors []float64, columns, classes int) (*Tables, error) {
	alloc := func(bytes int) C.bel_u64 { return C.bel_u64(uintptr(C.calloc(C.size_t(bytes), 1))) }
	a := C.bel_launch{
		code: alloc(4 * len(word)), errors: alloc(8 * len(errors)), row: alloc(4), base: alloc(4 * len(word)),
		column_bits: alloc(4), column_share: alloc(8 * columns), column_bit: alloc(4 * columns),
		class_count: alloc(4), class_points: alloc(4 * classes), class_share: alloc(8 * classes),
		weights: alloc(8 * max(columns, classes)), stack: alloc(4 * columns), status: alloc(4),
		levels: 1, bits: C.uint(len(errors)), words: C.uint(len(word)), columns: C.uint(columns), classes: C.uint(classes), entries: 1,
	}
	defer func() {
		for _, p := range []C.bel_u64{a.code, a.errors, a.row, a.base, a.column_bits, a.column_share, a.column_bit,
			a.class_count, a.class_points, a.class_share, a.weights, a.stack, a.status} {
			C.free(pointer(p))
		}
	}()
	copy(slice[uint32](a.code, len(word)), word)
	copy(slice[float64](a.errors, len(errors)), errors)
	C.emulator_tables(e.tables, &a)
	if status := slice[uint32](a.status, 1)[0]; status != 0 {
		return nil, fmt.Errorf("status %d", status)
	}
	t := &Tables{Base: clone[uint32](a.base, len(word))}
	if n := int(slice[uint32](a.class_count, 1)[0]); n > 0 {
		size := 1 << slice[uint32](a.column_bits, 1)[0]
		t.ClassPoints, t.ClassShare = clone[uint32](a.class_points, n), clone[uint64](a.class_share, n)
		t.ColumnShare, t.ColumnBit = clone[uint64](a.column_share, size), clone[uint32](a.column_bit, size)
	}
	return t, nil
}

// pointer makes an address of C's memory a pointer; vet cannot know it is not
// Go's.
func pointer(address C.bel_u64) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

func slice[T any](address C.bel_u64, n int) []T { return unsafe.Slice((*T)(pointer(address)), n) }

func clone[T any](address C.bel_u64, n int) []T { return append([]T(nil), slice[T](address, n)...) }
