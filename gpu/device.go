//go:build linux && cgo

package gpu

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"belsim/gpu/internal/dl"
	"belsim/gpu/internal/driver"
	"belsim/montecarlo"
)

// library is the driver, looked for in the loader's path.
const library = "libcuda.so.1"

// Device is a CUDA device. It implements montecarlo.Backend; one call of Sample
// runs at a time, others wait.
type Device struct {
	info    driver.Info
	workers int // goroutines that prepare launches; 0: all processors
	mu      sync.Mutex
	context *driver.Context
	module  driver.Module
	streams []driver.Stream
	kernels map[string]driver.Function
	code    codeMemory
	arenas  [2]arena
	marks   [2]driver.Memory
	logits  [2]driver.Memory
	normal  driver.Memory // tables.Normals
	pace    uint64        // samples of the next launch, about; 0 before the first
}

var _ montecarlo.Backend = (*Device)(nil)

// find opens the first CUDA device, whether it is right or not.
func find(workers int) (*Device, error) {
	l, err := dl.Open(library)
	if err != nil {
		err = fmt.Errorf("no CUDA driver: %w", err)
		if !exists("/dev/nvidia0") && !exists("/dev/dxg") { // dxg: of the Windows Subsystem for Linux
			err = marked{err, errNoDevice}
		}
		return nil, err
	}
	// The library stays open: drivers run threads of their own, and code must
	// not be unloaded under them.
	return open(l.Lookup, workers)
}

// open opens the first device of a driver whose functions lookup finds.
func open(lookup func(symbol string) (unsafe.Pointer, error), workers int) (*Device, error) {
	d, err := driver.Load(lookup)
	if err != nil {
		return nil, fmt.Errorf("the CUDA driver is too old: %w", err)
	}
	info, err := d.Init()
	if err != nil {
		err = fmt.Errorf("starting the CUDA driver: %w", err)
		if errors.Is(err, driver.ErrNoDevice) {
			err = marked{err, errNoDevice}
		}
		return nil, err
	}
	dev := &Device{workers: workers, info: info}
	if info.Major < leastMajor || info.Major == leastMajor && info.Minor < leastMinor {
		return nil, fmt.Errorf("%s has compute capability %d.%d, belsim's kernels need %d.%d or later", info.Name,
			info.Major, info.Minor, leastMajor, leastMinor)
	}
	if err := dev.start(d); err != nil {
		return nil, fmt.Errorf("starting %s: %w", info.Name, errors.Join(err, dev.Close()))
	}
	return dev, nil
}

// exists reports whether there is such a file.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// start makes what every call of Sample needs. What it made before an error is
// left to Close.
func (d *Device) start(v *driver.Driver) error {
	var err error
	if d.context, err = v.Retain(); err != nil {
		return err
	}
	leave, err := d.context.Enter()
	if err != nil {
		return err
	}
	defer leave()
	if d.module, err = d.context.LoadModule(append(ptx, 0)); err != nil {
		return err
	}
	d.kernels = map[string]driver.Function{}
	for _, name := range kernelNames() {
		if d.kernels[name], err = d.module.Function(name); err != nil {
			return err
		}
	}
	for range d.arenas {
		s, err := d.context.NewStream()
		if err != nil {
			return err
		}
		d.streams = append(d.streams, s)
	}
	return nil
}

// Name is what the driver calls the device.
func (d *Device) Name() string { return d.info.Name }

// Close releases everything on the device.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.context == nil {
		return nil
	}
	// One failure must not keep the rest from being released.
	var all []error
	leave, err := d.context.Enter()
	all = append(all, err)
	for _, s := range d.streams {
		all = append(all, s.Destroy())
	}
	for i := range d.arenas {
		all = append(all, d.arenas[i].memory.Free(), d.marks[i].Free(), d.logits[i].Free())
	}
	all = append(all, d.code.free(), d.normal.Free())
	if d.module != (driver.Module{}) {
		all = append(all, d.module.Unload())
	}
	if leave != nil {
		leave()
	}
	all = append(all, d.context.Release())
	d.context, d.module, d.streams, d.kernels = nil, driver.Module{}, nil, nil
	d.code, d.arenas, d.normal = codeMemory{}, [2]arena{}, driver.Memory{}
	d.marks, d.logits = [2]driver.Memory{}, [2]driver.Memory{}
	return errors.Join(all...)
}
