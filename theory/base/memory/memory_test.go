package memory

import (
	"belsim/theory/base/must"
	"fmt"
	"math"
	"runtime/debug"
	"testing"
	"testing/fstest"
)

// TestCheck: what cannot fit is refused, with its size.
func TestCheck(t *testing.T) {
	if _, ok := Available(); !ok {
		t.Skip("this system does not say how much memory is free")
	}
	must.Refused(t, Check("a thing", math.MaxInt64), "a thing needs 8589934592.0 GiB of memory")
	if err := Check("a thing", 1); err != nil {
		t.Error(err)
	}
}

// TestLimits: the smallest limit holds, of the system and of every control group above the
// process.
func TestLimits(t *testing.T) {
	const gib = 1 << 30
	for name, tt := range map[string]struct {
		files map[string]string
		want  int64 // 0: not known
	}{
		"nothing": {nil, 0},
		"system":  {map[string]string{"proc/meminfo": "MemTotal: 9 kB\nMemAvailable:    2097152 kB\n"}, 2 * gib},
		"version 2": {map[string]string{
			"proc/meminfo": "MemAvailable: 8388608 kB\n", "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/b/memory.current": "0\n",
			"sys/fs/cgroup/a/memory.max": fmt.Sprint(3 * gib), "sys/fs/cgroup/a/memory.current": fmt.Sprint(2 * gib),
			"sys/fs/cgroup/a/memory.stat": fmt.Sprintf("anon 1\ninactive_file %d\n", gib/2),
		}, gib + gib/2},
		"a container's own group": {map[string]string{
			"proc/self/cgroup": "0::/seen/from/outside\n", "sys/fs/cgroup/memory.max": fmt.Sprint(gib),
			"sys/fs/cgroup/memory.current": "0",
		}, gib},
		"version 1": {map[string]string{
			"proc/self/cgroup":                                  "3:cpu:/job\n4:memory:/job\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":        "9223372036854771712\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes":        "5\n",
			"sys/fs/cgroup/memory/job/memory.limit_in_bytes":    fmt.Sprint(2 * gib),
			"sys/fs/cgroup/memory/job/memory.usage_in_bytes":    fmt.Sprint(gib),
			"sys/fs/cgroup/memory/job/memory.stat":              "total_inactive_file 4096\n",
			"sys/fs/cgroup/memory/job/memory.kmem.usage_in_byt": "7",
		}, gib + 4096},
		"address space": {map[string]string{
			"proc/meminfo": "MemAvailable: 8388608 kB\n", "proc/self/status": "VmPeak: 9 kB\nVmSize:\t 1048576 kB\n",
			"proc/self/limits": "Limit  Soft Limit  Hard Limit  Units \nMax address space  3221225472  unlimited  bytes \n",
		}, 2 * gib},
		"no limit of the address space": {map[string]string{
			"proc/meminfo": "MemAvailable: 8388608 kB\n", "proc/self/status": "VmSize:\t 1048576 kB\n",
			"proc/self/limits": "Limit Soft Limit Hard Limit Units\nMax address space  unlimited  unlimited  bytes \n",
		}, 8 * gib},
		"more used than allowed": {map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "10", "sys/fs/cgroup/memory.current": "20",
		}, 0},
	} {
		root := fstest.MapFS{}
		for path, text := range tt.files {
			root[path] = &fstest.MapFile{Data: []byte(text)}
		}
		got, ok := available(root)
		if ok != (name != "nothing") || ok && got != tt.want {
			t.Errorf("%s: %d, %v; want %d", name, got, ok, tt.want)
		}
	}
}

// TestMemoryLimit: what GOMEMLIMIT leaves is the most that is free.
func TestMemoryLimit(t *testing.T) {
	const limit = 1 << 30
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))
	if n, ok := Available(); !ok || n <= 0 || n > limit {
		t.Errorf("%d, %v; want at most %d", n, ok, limit)
	}
}
