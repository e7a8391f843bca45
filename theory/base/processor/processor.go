// Package processor says what the processor can do: the one place that asks it. Vectors tells
// whether routines in assembly run on it, and Wide whether those for AVX-512 do. Both are constants
// where the answer is known, and what is not called then need not exist.
package processor
