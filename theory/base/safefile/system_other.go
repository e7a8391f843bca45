//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package safefile

import (
	"errors"
	"os"
)

// tryLock returns an error: this system has no locks that end with their process.
func tryLock(*os.File) (locked bool, err error) { return false, errors.ErrUnsupported }

// syncFolder does nothing: this system may not sync folders.
func syncFolder(string) error { return nil }
