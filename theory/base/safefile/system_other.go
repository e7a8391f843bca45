//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package safefile

import "os"

// likeOld does nothing: this system has no such permissions.
func likeOld(*os.File, os.FileInfo) {}

// syncFolder does nothing: this system may not sync folders.
func syncFolder(string) error { return nil }
