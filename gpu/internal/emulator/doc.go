//go:build !(linux && cgo)

// Package emulator is a CUDA driver without a device, for tests; not in this
// build.
package emulator
