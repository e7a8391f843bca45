// Package processor is the one place that asks what the processor can do. Vectors reports whether
// belsim's routines in assembly run on it, and Wide whether those for AVX-512 do. Where a build
// knows the answer, both are constants, and the compiler leaves out the routines that are never
// called.
package processor
