//go:build linux && cgo

package gpu

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"belsim/gpu/internal/dl"
	"belsim/theory/base/must"
)

// emulator is a CUDA driver without a device: the kernels, compiled for the host, run thread by
// thread on the host's memory. Any call of the driver can be made to fail, and what is not released
// is counted. All tests share one.
type emulator struct {
	*dl.Library
	*control
}

// control is the struct Control of emulator.cc.
type control struct {
	machine
	calls                            int64 // since reset or fail
	failAt, failWith, failEver, lost int64
	wrong                            int64 // the kernel, from 1, that answers wrongly; 0: none
	live                             int64 // contexts, modules, streams and allocations that were made and not released
}

// machine describes the devices that the driver finds.
type machine struct {
	devices int64 // −1: cuInit fails
	major   int64 // compute capability
	memory  int64
}

// usual is a machine that everything works on.
var usual = machine{devices: 1, major: 9, memory: 1 << 34}

// reset makes a machine whose calls succeed.
func (e *emulator) reset(m machine) { *e.control = control{machine: m, live: e.live} }

// fail makes call number at from now on, counted from 1, fail with an error code, and all later
// ones too if ever is set.
func (e *emulator) fail(at, code int, ever bool) {
	e.calls, e.failAt, e.failWith, e.failEver, e.lost = 0, int64(at), int64(code), 0, 0
	if ever {
		e.failEver = 1
	}
}

// errNoCompiler says that there is no C++ compiler that works.
var errNoCompiler = errors.New("no C++ compiler works here (the variable CXX names one, c++ is looked for without it)")

// openEmulator compiles the emulator, which takes a few seconds, and loads it.
var openEmulator = sync.OnceValues(func() (*emulator, error) {
	const source = "testdata/emulator"
	// go test keeps the results of a test until a file changes that the test
	// has read. It does not see what a compiler reads.
	for _, name := range []string{source + "/emulator.cc", source + "/build.sh", "kernel.cu", "kernel.h",
		"internal/driver/driver.h"} {
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
	path := filepath.Join(folder, library)
	out, err := exec.Command("sh", source+"/build.sh", path).CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 77 {
		return nil, errNoCompiler
	}
	if err != nil {
		return nil, errors.Join(err, errors.New(string(out)))
	}
	l, err := dl.Open(path)
	if err != nil {
		return nil, err
	}
	state, err := l.Lookup("emulator_state")
	return &emulator{l, (*control)(state)}, err
})

// emulate returns the emulator. Without a C++ compiler the test is skipped, but in CI
// it fails.
func emulate(tb testing.TB) *emulator {
	tb.Helper()
	e, err := openEmulator()
	if errors.Is(err, errNoCompiler) && os.Getenv("BELSIM_LONG") == "" {
		tb.Skipf("the kernels are not tested: %v", err)
	}
	must.Succeed(tb, err)
	return e
}
