//go:build !(linux && cgo)

// Package dl opens shared libraries at run time; not in this build.
package dl
