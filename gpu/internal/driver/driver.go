//go:build linux && cgo

// Package driver is the part of the CUDA driver's interface that belsim uses,
// over a library that was opened at run time. Every call's result is checked.
package driver

/*
#include <stdlib.h>
#include "driver.h"

#define MEMBER(symbol, name, arguments) CUresult (*name) arguments;
typedef struct { BELSIM_DRIVER_FUNCTIONS(MEMBER) } driver;

enum {
#define COUNT(symbol, name, arguments) count_##name,
	BELSIM_DRIVER_FUNCTIONS(COUNT)
	function_count
};

static const char *function_name(int i) {
#define NAME(symbol, name, arguments) #symbol,
	static const char *const names[] = {BELSIM_DRIVER_FUNCTIONS(NAME)};
	return names[i];
}

static void set_function(driver *d, int i, void *address) { ((void **)d)[i] = address; }

// Go cannot call a pointer to a function; these can.
static CUresult Init(driver *d) { return d->Init(0); }
static const char *error_name(driver *d, CUresult r) {
	const char *s = NULL;
	return d->GetErrorName(r, &s) == 0 ? s : NULL;
}
static const char *error_text(driver *d, CUresult r) {
	const char *s = NULL;
	return d->GetErrorString(r, &s) == 0 ? s : NULL;
}
static CUresult DeviceGetCount(driver *d, int *n) { return d->DeviceGetCount(n); }
static CUresult DeviceGet(driver *d, CUdevice *dev, int i) { return d->DeviceGet(dev, i); }
static CUresult DeviceGetName(driver *d, char *name, int size, CUdevice dev) {
	return d->DeviceGetName(name, size, dev);
}
static CUresult DeviceGetAttribute(driver *d, int *v, int a, CUdevice dev) { return d->DeviceGetAttribute(v, a, dev); }
static CUresult PrimaryCtxRetain(driver *d, CUcontext *c, CUdevice dev) { return d->DevicePrimaryCtxRetain(c, dev); }
static CUresult PrimaryCtxRelease(driver *d, CUdevice dev) { return d->DevicePrimaryCtxRelease(dev); }
static CUresult CtxSetCurrent(driver *d, CUcontext c) { return d->CtxSetCurrent(c); }
static CUresult ModuleLoad(driver *d, CUmodule *m, const void *image, char *log, size_t size) {
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)size};
	return d->ModuleLoadDataEx(m, image, 2, options, values);
}
static CUresult ModuleUnload(driver *d, CUmodule m) { return d->ModuleUnload(m); }
static CUresult ModuleGetFunction(driver *d, CUfunction *f, CUmodule m, const char *name) {
	return d->ModuleGetFunction(f, m, name);
}
static CUresult MemGetInfo(driver *d, size_t *free, size_t *total) { return d->MemGetInfo(free, total); }
static CUresult MemAlloc(driver *d, CUdeviceptr *p, size_t n) { return d->MemAlloc(p, n); }
static CUresult MemFree(driver *d, CUdeviceptr p) { return d->MemFree(p); }
static CUresult CopyIn(driver *d, CUdeviceptr to, const void *from, size_t n, CUstream s) {
	return d->MemcpyHtoDAsync(to, from, n, s);
}
static CUresult CopyOut(driver *d, void *to, CUdeviceptr from, size_t n) { return d->MemcpyDtoH(to, from, n); }
static CUresult Zero(driver *d, CUdeviceptr p, size_t n, CUstream s) { return d->MemsetD8Async(p, 0, n, s); }
static CUresult StreamCreate(driver *d, CUstream *s) { return d->StreamCreate(s, CU_STREAM_NON_BLOCKING); }
static CUresult StreamDestroy(driver *d, CUstream s) { return d->StreamDestroy(s); }
static CUresult StreamSynchronize(driver *d, CUstream s) { return d->StreamSynchronize(s); }
static CUresult Launch(driver *d, CUfunction f, unsigned grid, unsigned block, CUstream s, void *argument) {
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

// CodeNoDevice is CUDA_ERROR_NO_DEVICE, with which Init fails where there is no device.
const CodeNoDevice = 100

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

// Driver is the driver's functions.
type Driver struct{ c C.driver }

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
	return &Error{call, int(r), C.GoString(C.error_name(&d.c, r)), C.GoString(C.error_text(&d.c, r))}
}

// Init starts the driver.
func (d *Driver) Init() error { return d.check("cuInit", C.Init(&d.c)) }

// DeviceCount returns the number of devices.
func (d *Driver) DeviceCount() (int, error) {
	var n C.int
	err := d.check("cuDeviceGetCount", C.DeviceGetCount(&d.c, &n))
	return int(n), err
}

// Info describes a device.
type Info struct {
	Name            string
	Major, Minor    int // compute capability
	Multiprocessors int
}

// Device is one device.
type Device struct {
	d  *Driver
	id C.CUdevice
}

// Device returns device number i.
func (d *Driver) Device(i int) (Device, error) {
	var id C.CUdevice
	err := d.check("cuDeviceGet", C.DeviceGet(&d.c, &id, C.int(i)))
	return Device{d, id}, err
}

// Info asks the driver about the device.
func (v Device) Info() (Info, error) {
	d := v.d
	var info Info
	var name [256]C.char
	if err := d.check("cuDeviceGetName", C.DeviceGetName(&d.c, &name[0], C.int(len(name)), v.id)); err != nil {
		return info, err
	}
	info.Name = C.GoString(&name[0])
	for _, a := range []struct {
		attribute C.int
		to        *int
	}{
		{C.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &info.Major},
		{C.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &info.Minor},
		{C.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &info.Multiprocessors},
	} {
		var value C.int
		if err := d.check("cuDeviceGetAttribute", C.DeviceGetAttribute(&d.c, &value, a.attribute, v.id)); err != nil {
			return info, err
		}
		*a.to = int(value)
	}
	return info, nil
}

// Context is the primary context of a device. Everything below must be called
// between Enter and the function it returns.
type Context struct {
	d      *Driver
	device Device
	c      C.CUcontext
}

// Retain takes hold of the device's primary context.
func (v Device) Retain() (*Context, error) {
	c := &Context{d: v.d, device: v}
	if err := v.d.check("cuDevicePrimaryCtxRetain", C.PrimaryCtxRetain(&v.d.c, &c.c, v.id)); err != nil {
		return nil, err
	}
	return c, nil
}

// Release lets go of the context.
func (c *Context) Release() error {
	return c.d.check("cuDevicePrimaryCtxRelease", C.PrimaryCtxRelease(&c.d.c, c.device.id))
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
	err := c.d.check("cuModuleLoadDataEx", C.ModuleLoad(&c.d.c, &m.m, unsafe.Pointer(&ptx[0]),
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

// Stream is a queue of work.
type Stream struct {
	d *Driver
	s C.CUstream
}

// NewStream makes a stream.
func (c *Context) NewStream() (Stream, error) {
	s := Stream{d: c.d}
	err := c.d.check("cuStreamCreate", C.StreamCreate(&c.d.c, &s.s))
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
	if len(data) == 0 {
		return nil
	}
	bytes := uint64(len(data)) * uint64(unsafe.Sizeof(data[0]))
	if offset+bytes > m.Bytes {
		return fmt.Errorf("copying %d bytes to byte %d of %d", bytes, offset, m.Bytes)
	}
	return s.d.check("cuMemcpyHtoDAsync", C.CopyIn(&s.d.c, m.address+C.CUdeviceptr(offset), unsafe.Pointer(&data[0]),
		C.size_t(bytes), s.s))
}

// CopyOut copies memory to data, after all work of the context's default stream;
// synchronize other streams first.
func CopyOut[T any](m Memory, offset uint64, data []T) error {
	if len(data) == 0 {
		return nil
	}
	bytes := uint64(len(data)) * uint64(unsafe.Sizeof(data[0]))
	if offset+bytes > m.Bytes {
		return fmt.Errorf("copying %d bytes from byte %d of %d", bytes, offset, m.Bytes)
	}
	return m.d.check("cuMemcpyDtoH", C.CopyOut(&m.d.c, unsafe.Pointer(&data[0]), m.address+C.CUdeviceptr(offset),
		C.size_t(bytes)))
}

// Zero sets bytes to zero.
func (s Stream) Zero(m Memory, offset, bytes uint64) error {
	if offset+bytes > m.Bytes {
		return fmt.Errorf("zeroing %d bytes from byte %d of %d", bytes, offset, m.Bytes)
	}
	return s.d.check("cuMemsetD8Async", C.Zero(&s.d.c, m.address+C.CUdeviceptr(offset), C.size_t(bytes), s.s))
}

// Launch queues a kernel with one argument, a struct that holds no pointers of
// Go.
func Launch[T any](s Stream, f Function, groups, threads int, argument *T) error {
	return s.d.check("cuLaunchKernel", C.Launch(&s.d.c, f.f, C.uint(groups), C.uint(threads), s.s,
		unsafe.Pointer(argument)))
}
