//go:build linux && cgo

// Package emulator is a CUDA driver without a device, for tests: the kernels,
// compiled for the host, run thread by thread on the host's memory. Any call of
// the driver can be made to fail, and what is not released is counted.
package emulator

/*
#cgo CXXFLAGS: -std=c++17 -O2 -Wall -Wextra
#include <stdlib.h>
#include "../../kernel.h"

const char *emulator_source();
void *emulator_lookup(const char *symbol);
void emulator_reset(int devices, int major, size_t memory);
void emulator_fail(long at, int with, int ever);
long emulator_calls();
long emulator_live();
void emulator_philox(const unsigned *key, const unsigned *counter, unsigned *out);
double emulator_hazard(double e);
void emulator_tables(const bel_launch *a);
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// Source is the digest of the files that were compiled: see gpu's go:generate.
func Source() string { return C.GoString(C.emulator_source()) }

// Lookup returns the address of a function of the driver.
func Lookup(symbol string) (unsafe.Pointer, error) {
	c := C.CString(symbol)
	defer C.free(unsafe.Pointer(c))
	if address := C.emulator_lookup(c); address != nil {
		return address, nil
	}
	return nil, fmt.Errorf("the emulator has no function %s", symbol)
}

// Machine describes the devices that the driver finds.
type Machine struct {
	Devices int // −1: cuInit fails
	Major   int // compute capability
	Memory  uint64
}

// Usual is a machine that everything works on.
var Usual = Machine{Devices: 1, Major: 9, Memory: 1 << 34}

// Reset makes a machine whose calls succeed.
func Reset(m Machine) { C.emulator_reset(C.int(m.Devices), C.int(m.Major), C.size_t(m.Memory)) }

// Fail makes call number at from now on, counted from 1, fail with an error
// code, and all later ones too if ever is set; 0 makes none fail.
func Fail(at, code int, ever bool) {
	e := C.int(0)
	if ever {
		e = 1
	}
	C.emulator_fail(C.long(at), C.int(code), e)
}

// Calls returns the number of calls since Reset or Fail.
func Calls() int { return int(C.emulator_calls()) }

// Live returns how many contexts, modules, streams and allocations were made and
// not released.
func Live() int { return int(C.emulator_live()) }

// Philox is the kernels' generator.
func Philox(key [2]uint32, counter [4]uint32) (out [4]uint32) {
	C.emulator_philox((*C.uint)(&key[0]), (*C.uint)(&counter[0]), (*C.uint)(&out[0]))
	return out
}

// Hazard is the kernels' −ln(1−e).
func Hazard(e float64) float64 { return float64(C.emulator_hazard(C.double(e))) }

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
func MakeTables(word []uint32, errors []float64, columns, classes int) (*Tables, error) {
	alloc := func(bytes int) C.bel_u64 { return C.bel_u64(uintptr(C.calloc(C.size_t(bytes), 1))) }
	a := C.bel_launch{
		code: alloc(4 * len(word)), errors: alloc(8 * len(errors)), row: alloc(4), base: alloc(4 * len(word)),
		column_bits: alloc(4), column_share: alloc(8 * columns), column_bit: alloc(4 * columns),
		class_count: alloc(4), class_points: alloc(4 * classes), class_share: alloc(8 * classes),
		weights: alloc(8 * max(columns, classes)), stack: alloc(4 * columns), status: alloc(4),
		levels: 1, bits: C.uint(len(errors)), words: C.uint(len(word)), columns: C.uint(columns), classes: C.uint(classes), plans: 1,
	}
	defer func() {
		for _, p := range []C.bel_u64{a.code, a.errors, a.row, a.base, a.column_bits, a.column_share, a.column_bit,
			a.class_count, a.class_points, a.class_share, a.weights, a.stack, a.status} {
			C.free(pointer(p))
		}
	}()
	copy(slice[uint32](a.code, len(word)), word)
	copy(slice[float64](a.errors, len(errors)), errors)
	C.emulator_tables(&a)
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
