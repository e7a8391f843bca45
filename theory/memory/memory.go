// Package memory refuses work that would not fit in memory, before anything is allocated.
package memory

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// Check returns an error when bytes exceed the memory that is free. what names the thing
// that needs them. Where the system does not say how much is free, nothing is refused.
func Check(what string, bytes int64) error {
	available, ok := Available()
	if !ok || bytes <= available {
		return nil
	}
	return fmt.Errorf("%s needs %.1f GiB of memory, and %.1f GiB are free", what, float64(bytes)/(1<<30), float64(available)/(1<<30))
}

// Available returns how much memory the process can allocate: the smallest of the memory that
// the system has without swapping, the limits of the control groups that the process is in, as
// a container or a batch system sets them, and the limit of its address space (ulimit -v). ok
// is false on systems that do not say.
func Available() (bytes int64, ok bool) {
	bytes, ok = available(os.DirFS("/"))
	if space, limited := addressSpace(); limited && (!ok || space < bytes) {
		return space, true
	}
	return bytes, ok
}

// available reads the files of Linux below root.
func available(root fs.FS) (bytes int64, ok bool) {
	bytes = math.MaxInt64
	take := func(n int64) { bytes, ok = min(bytes, max(n, 0)), true }
	if kib, found := field(root, "proc/meminfo", "MemAvailable:"); found {
		take(kib << 10)
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
			base, limit, usage, idle = "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
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
