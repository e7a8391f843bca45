//go:build !(linux && cgo)

// Package driver is the part of the CUDA driver's interface that belsim uses; not
// in this build.
package driver
