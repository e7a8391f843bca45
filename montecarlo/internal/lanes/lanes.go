// Package lanes has the SIMD kernels of the samplers. A group of samples is computed side by side, a
// lane for each: the noise of their logits, correlations with candidates, and softmax weights.
//
// Each routine has a file with the loop in Go, and one in assembly for amd64 with AVX2 and, where it
// is worth it, with AVX-512, which gives the same bits. Floating-point operations are in single precision and rounded one by one, so that
// every processor and device gives the same.
package lanes

import "belsim/montecarlo/tables"

// Width is the number of samples in a group.
const Width = tables.Lanes

// Ints are one number of each sample of a group, Wide one that 32 bits may not hold, Floats one
// weight of each.
type (
	Ints   = [Width]int32
	Wide   = [Width]int64
	Floats = [Width]float32
)

// rowBytes is the size of a row of numbers, one of each sample of a group.
const rowBytes = 4 * Width
