// Package memory refuses work that would not fit in memory, before anything is allocated.
package memory

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
)

// Error says that something does not fit in memory.
type Error struct {
	What       string // the thing that needs it
	Need, Free int64  // bytes
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("%s needs %s of memory, and %s are free", e.What, size(e.Need), size(e.Free))
}

// size writes a number of bytes for people.
func size(bytes int64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}

// small needs are not checked: asking the system takes longer than to make them, and a process
// that has not even this much ends for other reasons.
const small = 1 << 20

// Check returns an *Error when bytes exceed the memory that is free. what names the thing
// that needs them. Where the system does not say how much is free, nothing is refused.
func Check(what string, bytes int64) error {
	if bytes < small {
		return nil
	}
	free, ok := Available()
	if !ok || bytes <= free {
		return nil
	}
	// Garbage counts as used until it is collected.
	debug.FreeOSMemory()
	if free, _ = Available(); bytes <= free {
		return nil
	}
	return &Error{what, bytes, free}
}

// Product multiplies the sizes of something, such as rows, columns and the bytes of an entry.
// Where the product is too large for an int64 it is the largest one.
func Product(sizes ...int) int64 {
	total := int64(1)
	for _, n := range sizes {
		if n > 0 && total > math.MaxInt64/int64(n) {
			return math.MaxInt64
		}
		total *= int64(n)
	}
	return total
}

// Available returns how much memory the process can allocate: the smallest of the memory that the
// system has without swapping, the limits of the control groups that the process is in, as a
// container or a batch system sets them, and what GOMEMLIMIT and 'ulimit -v' leave. Memory that the
// Go runtime holds and does not use counts as free. ok is false on systems that do not say, without
// GOMEMLIMIT.
func Available() (bytes int64, ok bool) {
	if bytes, ok = available(os.DirFS("/")); ok {
		bytes += held("/memory/classes/heap/free:bytes")
	}
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		left := max(limit-held("/memory/classes/heap/objects:bytes"), 0)
		if !ok || left < bytes {
			return left, true
		}
	}
	return bytes, ok
}

// CheckStart returns an *Error where 'ulimit -v' leaves too little for the threads and the heap of
// any work: the runtime would crash.
func CheckStart() error {
	need := int64(96+8*runtime.GOMAXPROCS(0)) << 20 // a piece of heap, and stacks
	if left, limited := addressSpace(os.DirFS("/")); limited && left < need {
		return &Error{"a start under 'ulimit -v'", need, max(left, 0)}
	}
	return nil
}

// LimitCollector makes the garbage collector work harder before memory runs out, where a
// control group limits it: garbage then never takes what results need.
// GOMEMLIMIT wins over it.
func LimitCollector() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if free, ok := Available(); ok {
		var used runtime.MemStats
		runtime.ReadMemStats(&used)
		debug.SetMemoryLimit(free + int64(used.Sys-used.HeapReleased))
	}
}

// held is one of the runtime's counts of memory.
func held(name string) int64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// available reads the files of Linux below root.
func available(root fs.FS) (bytes int64, ok bool) {
	bytes = math.MaxInt64
	take := func(n int64) { bytes, ok = min(bytes, max(n, 0)), true }
	if kib, found := field(root, "proc/meminfo", "MemAvailable:"); found {
		take(kib << 10)
	}
	if left, limited := addressSpace(root); limited {
		take(left)
	}
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return bytes, ok
	}
	for _, line := range strings.Split(string(text), "\n") {
		parts := strings.SplitN(line, ":", 3) // hierarchy, controllers, folder
		if len(parts) != 3 {
			continue
		}
		base, limit, usage, idle := "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"
		if parts[1] != "" { // version 1
			if !strings.Contains(","+parts[1]+",", ",memory,") {
				continue
			}
			base, idle = "sys/fs/cgroup/memory", "total_inactive_file"
			limit, usage = "memory.limit_in_bytes", "memory.usage_in_bytes"
		}
		// The limits of a group hold for all groups below it. In a container the folder may be
		// seen from outside; the group at the root is its own then.
		for folder := path.Clean("/" + parts[2]); ; folder = path.Dir(folder) {
			at := base + strings.TrimSuffix(folder, "/")
			most, limited := number(root, at+"/"+limit)
			used, known := number(root, at+"/"+usage)
			if limited && known && most < math.MaxInt64/2 { // more stands for no limit
				cached, _ := field(root, at+"/memory.stat", idle) // given back when memory is short
				take(most - used + cached)
			}
			if folder == "/" {
				break
			}
		}
	}
	return bytes, ok
}

// addressSpace is what 'ulimit -v' leaves; limited is false where it limits nothing.
func addressSpace(root fs.FS) (left int64, limited bool) {
	text, err := fs.ReadFile(root, "proc/self/limits")
	if err != nil {
		return 0, false
	}
	_, line, _ := strings.Cut(string(text), "\nMax address space ")
	most := strings.Fields(line)
	used, known := field(root, "proc/self/status", "VmSize:")
	if len(most) == 0 || !known {
		return 0, false
	}
	n, err := strconv.ParseInt(most[0], 10, 64) // or "unlimited"
	return n - used<<10, err == nil
}

// number reads a file with one number; ok is false for "max" and where there is no such file.
func number(root fs.FS, name string) (n int64, ok bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	n, err = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}

// field reads the number after a name in a file with a name and a number on each line.
func field(root fs.FS, file, name string) (n int64, ok bool) {
	text, err := fs.ReadFile(root, file)
	if err != nil {
		return 0, false
	}
	for _, line := range strings.Split(string(text), "\n") {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == name {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
