//go:build !purego

package processor

import "golang.org/x/sys/cpu"

var (
	Vectors = cpu.X86.HasAVX2
	// Wide asks for all parts of AVX-512 that the routines for it use.
	Wide = Vectors && cpu.X86.HasAVX512F && cpu.X86.HasAVX512CD && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW
)
