//go:build !linux

package memory

// addressSpace returns how much address space the process may still take: not known here.
func addressSpace() (bytes int64, limited bool) { return 0, false }
