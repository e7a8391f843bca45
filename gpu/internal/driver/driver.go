//go:build linux && cgo

// Package driver is the part of the CUDA driver's interface that belsim uses,
// over a library that was opened at run time. Every call's result is checked.
package driver

/*
#include <stdlib.h>
#include "driver.h"

#define MEMBER(symbol, name, parameters, arguments) CUresult (*name) parameters;
typedef struct { BELSIM_DRIVER_FUNCTIONS(MEMBER) } driver;

#define NAME(symbol, name, parameters, arguments) #symbol,
static const char *const function_names[] = {BELSIM_DRIVER_FUNCTIONS(NAME)};
enum { function_count = sizeof function_names / sizeof function_names[0] };
static const char *function_name(int i) { return function_names[i]; }
static void set_function(driver *d, int i, void *address) { ((void **)d)[i] = address; }

// Go cannot call a pointer to a function; these can.
#define WITH(...) (driver *d, __VA_ARGS__)
#define CALL(symbol, name, parameters, arguments) \
	static inline CUresult name WITH parameters { return d->name arguments; }
BELSIM_DRIVER_FUNCTIONS(CALL)

static CUresult load_module(driver *d, CUmodule *m, const void *image, char *log, size_t size) {
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)size};
	return d->ModuleLoadDataEx(m, image, 2, options, values);
}
static CUresult launch(driver *d, CUfunction f, unsigned grid, unsigned block, CUstream s, void *argument) {
	void *arguments[] = {argument};
	return d->LaunchKernel(f, grid, 1, 1, block, 1, 1, 0, s, arguments, NULL);
}
*/
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"unsafe"
)

// ErrNoDevice is wrapped by the error of Init where there is no device.
var ErrNoDevice = errors.New("the CUDA driver finds no device")

// Error is a call of the driver that failed.
type Error struct {
	Call string // name of the function
	Code int
	Name string // the driver's name of the code, CUDA_ERROR_…
	Text string // the driver's description
}

func (e *Error) Error() string {
	if e.Name == "" {
		return fmt.Sprintf("%s: error %d", e.Call, e.Code)
	}
	return fmt.Sprintf("%s: %s (%s)", e.Call, e.Name, e.Text)
}

// Driver is the driver's functions, and its first device.
type Driver struct {
	c      C.driver
	device C.CUdevice
}

// Load looks up every function that is used. The error names the first that is
// missing, as in a driver that is too old.
func Load(lookup func(symbol string) (unsafe.Pointer, error)) (*Driver, error) {
	d := new(Driver)
	for i := range C.int(C.function_count) {
		address, err := lookup(C.GoString(C.function_name(i)))
		if err != nil {
			return nil, err
		}
		C.set_function(&d.c, i, address)
	}
	return d, nil
}

func (d *Driver) check(call string, r C.CUresult) error {
	if r == 0 {
		return nil
	}
	var name, text *C.char
	C.GetErrorName(&d.c, r, &name)
	C.GetErrorString(&d.c, r, &text)
	return &Error{call, int(r), C.GoString(name), C.GoString(text)}
}

// Info describes a device.
type Info struct {
	Name            string
	Major, Minor    int // compute capability
	Multiprocessors int
}

// Init starts the driver, and asks it about its first device.
func (d *Driver) Init() (info Info, err error) {
	const noDevice = 100 // CUDA_ERROR_NO_DEVICE
	r, count := C.Init(&d.c, 0), C.int(0)
	if err = d.check("cuInit", r); err == nil {
		err = d.check("cuDeviceGetCount", C.DeviceGetCount(&d.c, &count))
	}
	switch {
	case r == noDevice:
		return info, fmt.Errorf("%w: %w", ErrNoDevice, err)
	case err != nil:
		return info, err
	case count == 0:
		return info, ErrNoDevice
	}
	if err := d.check("cuDeviceGet", C.DeviceGet(&d.c, &d.device, 0)); err != nil {
		return info, err
	}
	var name [256]C.char
	if err := d.check("cuDeviceGetName", C.DeviceGetName(&d.c, &name[0], C.int(len(name)), d.device)); err != nil {
		return info, err
	}
	info.Name = C.GoString(&name[0])
	for attribute, to := range map[C.CUdevice_attribute]*int{
		C.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: &info.Major,
		C.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: &info.Minor,
		C.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:     &info.Multiprocessors,
	} {
		var value C.int
		if err := d.check("cuDeviceGetAttribute", C.DeviceGetAttribute(&d.c, &value, attribute, d.device)); err != nil {
			return info, err
		}
		*to = int(value)
	}
	return info, nil
}

// Context is the primary context of a device. Everything below must be called
// between Enter and the function it returns.
type Context struct {
	d *Driver
	c C.CUcontext
}

// Retain takes hold of the device's primary context.
func (d *Driver) Retain() (*Context, error) {
	c := &Context{d: d}
	if err := d.check("cuDevicePrimaryCtxRetain", C.DevicePrimaryCtxRetain(&d.c, &c.c, d.device)); err != nil {
		return nil, err
	}
	return c, nil
}

// Release lets go of the context.
func (c *Context) Release() error {
	return c.d.check("cuDevicePrimaryCtxRelease", C.DevicePrimaryCtxRelease(&c.d.c, c.d.device))
}

// Enter makes c the context of the calling goroutine's thread, which it holds on
// to until leave is called.
func (c *Context) Enter() (leave func(), err error) {
	runtime.LockOSThread()
	if err := c.d.check("cuCtxSetCurrent", C.CtxSetCurrent(&c.d.c, c.c)); err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	return func() {
		// That no context is current any more is a courtesy to the thread's
		// next user; nothing depends on it.
		C.CtxSetCurrent(&c.d.c, nil)
		runtime.UnlockOSThread()
	}, nil
}

// Module is a set of kernels.
type Module struct {
	d *Driver
	m C.CUmodule
}

// LoadModule compiles PTX, which ends with a zero byte, for the device.
func (c *Context) LoadModule(ptx []byte) (Module, error) {
	if len(ptx) == 0 || ptx[len(ptx)-1] != 0 {
		return Module{}, errors.New("PTX does not end with a zero byte")
	}
	m := Module{d: c.d}
	log := make([]byte, 4096)
	err := c.d.check("cuModuleLoadDataEx", C.load_module(&c.d.c, &m.m, unsafe.Pointer(&ptx[0]),
		(*C.char)(unsafe.Pointer(&log[0])), C.size_t(len(log))))
	if text := bytes.TrimSpace(log[:max(0, bytes.IndexByte(log, 0))]); err != nil && len(text) > 0 {
		err = fmt.Errorf("%w: %s", err, text)
	}
	return m, err
}

// Unload unloads the module.
func (m Module) Unload() error { return m.d.check("cuModuleUnload", C.ModuleUnload(&m.d.c, m.m)) }

// Function is a kernel.
type Function struct{ f C.CUfunction }

// Function returns the kernel of the given name.
func (m Module) Function(name string) (Function, error) {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	var f Function
	if err := m.d.check("cuModuleGetFunction", C.ModuleGetFunction(&m.d.c, &f.f, m.m, c)); err != nil {
		return f, fmt.Errorf("kernel %s: %w", name, err)
	}
	return f, nil
}

// FreeMemory returns how many bytes of the device's memory are free.
func (c *Context) FreeMemory() (uint64, error) {
	var free, total C.size_t
	err := c.d.check("cuMemGetInfo", C.MemGetInfo(&c.d.c, &free, &total))
	return uint64(free), err
}

// Memory is memory of the device. Its zero value is none.
type Memory struct {
	d       *Driver
	address C.CUdeviceptr
	Bytes   uint64
}

// Alloc allocates memory.
func (c *Context) Alloc(bytes uint64) (Memory, error) {
	m := Memory{d: c.d, Bytes: bytes}
	if err := c.d.check("cuMemAlloc", C.MemAlloc(&c.d.c, &m.address, C.size_t(bytes))); err != nil {
		return Memory{}, err
	}
	return m, nil
}

// Free frees the memory.
func (m Memory) Free() error {
	if m.d == nil {
		return nil
	}
	return m.d.check("cuMemFree", C.MemFree(&m.d.c, m.address))
}

// Address returns the device's address of a byte.
func (m Memory) Address(offset uint64) uint64 { return uint64(m.address) + offset }

// from returns the address of a byte, behind which so many are of the memory.
func (m Memory) from(offset uint64, bytes C.size_t) (C.CUdeviceptr, error) {
	if offset+uint64(bytes) > m.Bytes {
		return 0, fmt.Errorf("%d bytes from byte %d of %d", bytes, offset, m.Bytes)
	}
	return C.CUdeviceptr(m.Address(offset)), nil
}

func bytesOf[T any](data []T) C.size_t {
	var one T
	return C.size_t(len(data)) * C.size_t(unsafe.Sizeof(one))
}

// Stream is a queue of work.
type Stream struct {
	d *Driver
	s C.CUstream
}

// NewStream makes a stream.
func (c *Context) NewStream() (Stream, error) {
	s := Stream{d: c.d}
	err := c.d.check("cuStreamCreate", C.StreamCreate(&c.d.c, &s.s, C.CU_STREAM_NON_BLOCKING))
	return s, err
}

// Destroy destroys the stream once its work is done.
func (s Stream) Destroy() error { return s.d.check("cuStreamDestroy", C.StreamDestroy(&s.d.c, s.s)) }

// Synchronize waits for the work of the stream. An error may come from any kernel in the
// stream.
func (s Stream) Synchronize() error {
	return s.d.check("cuStreamSynchronize", C.StreamSynchronize(&s.d.c, s.s))
}

// CopyIn copies data to memory, from a byte on. The data may be changed when it
// returns: pageable memory of the host is staged before that.
func CopyIn[T any](s Stream, m Memory, offset uint64, data []T) error {
	bytes := bytesOf(data)
	to, err := m.from(offset, bytes)
	if err != nil || bytes == 0 {
		return err
	}
	return s.d.check("cuMemcpyHtoDAsync", C.MemcpyHtoDAsync(&s.d.c, to, unsafe.Pointer(&data[0]), bytes, s.s))
}

// CopyOut copies memory to data, after all work of the context's default stream;
// synchronize other streams first.
func CopyOut[T any](m Memory, offset uint64, data []T) error {
	bytes := bytesOf(data)
	from, err := m.from(offset, bytes)
	if err != nil || bytes == 0 {
		return err
	}
	return m.d.check("cuMemcpyDtoH", C.MemcpyDtoH(&m.d.c, unsafe.Pointer(&data[0]), from, bytes))
}

// Zero sets bytes to zero.
func (s Stream) Zero(m Memory, offset, bytes uint64) error {
	to, err := m.from(offset, C.size_t(bytes))
	if err != nil {
		return err
	}
	return s.d.check("cuMemsetD8Async", C.MemsetD8Async(&s.d.c, to, 0, C.size_t(bytes), s.s))
}

// Launch queues a kernel with one argument, a struct that holds no pointers of
// Go.
func Launch[T any](s Stream, f Function, groups, threads int, argument *T) error {
	return s.d.check("cuLaunchKernel", C.launch(&s.d.c, f.f, C.uint(groups), C.uint(threads), s.s,
		unsafe.Pointer(argument)))
}
