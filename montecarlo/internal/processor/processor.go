// Package processor says what the processor can do: the one place that asks it.
package processor

import "golang.org/x/sys/cpu"

// AVX2 reports whether the routines for AVX2 run on this processor.
func AVX2() bool { return cpu.X86.HasAVX2 }

// AVX512 reports whether the processor has the parts of AVX-512 that the routines for
// it use.
func AVX512() bool {
	return cpu.X86.HasAVX512F && cpu.X86.HasAVX512CD && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW
}
