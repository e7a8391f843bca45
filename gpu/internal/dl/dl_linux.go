//go:build linux && cgo

// Package dl opens shared libraries at run time.
package dl

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"
)

// Library is an open shared library.
type Library struct {
	name   string
	handle unsafe.Pointer
}

// Open opens a shared library by its name, looked for in the loader's path, or
// by its path.
func Open(name string) (*Library, error) {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	runtime.LockOSThread() // dlerror speaks of the thread's last call
	defer runtime.UnlockOSThread()
	handle := C.dlopen(c, C.RTLD_NOW|C.RTLD_LOCAL)
	if handle == nil {
		return nil, errors.New(C.GoString(C.dlerror()))
	}
	return &Library{name, handle}, nil
}

// Lookup returns the address of a function.
func (l *Library) Lookup(symbol string) (unsafe.Pointer, error) {
	c := C.CString(symbol)
	defer C.free(unsafe.Pointer(c))
	address := C.dlsym(l.handle, c)
	if address == nil {
		return nil, fmt.Errorf("%s has no function %s", l.name, symbol)
	}
	return address, nil
}
