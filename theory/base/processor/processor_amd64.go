//go:build !purego

// Package processor is the one place that asks what the processor can do. Vectors reports whether
// belsim's routines in assembly run on it, and Wide whether those for AVX-512 do. In a build without
// assembly both are constants, and the compiler leaves out the calls of routines that do not exist.
package processor

import "golang.org/x/sys/cpu"

var (
	Vectors = cpu.X86.HasAVX2
	// Wide asks for all parts of AVX-512 that the routines for it use.
	Wide = Vectors && cpu.X86.HasAVX512F && cpu.X86.HasAVX512CD && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW
)
