//go:build !purego

package lanes

import "testing"

// vectors calls f with the routines for NEON.
func vectors(_ *testing.T, f func(set string)) { f("NEON") }
