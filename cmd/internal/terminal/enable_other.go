//go:build !windows

package terminal

import "io"

// enable prepares a terminal for escape sequences, and reports whether it obeys them.
func enable(io.Writer) bool { return true }
