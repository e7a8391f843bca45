package memory

import (
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// addressSpace returns how much address space the process may still take, where it is limited.
func addressSpace() (bytes int64, limited bool) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err != nil || limit.Cur > math.MaxInt64/2 {
		return 0, false
	}
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text) + " 0")[0], 10, 64)
	if err != nil {
		return 0, false
	}
	return max(int64(limit.Cur)-pages*int64(os.Getpagesize()), 0), true
}
