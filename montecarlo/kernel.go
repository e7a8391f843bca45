package montecarlo

import (
	"fmt"

	"belsim/theory/code"
	"belsim/theory/decode"
)

// kernel turns places of points into errors for one code and decoder. A kernel
// holds scratch memory and belongs to one worker.
type kernel interface {
	// prepare starts the samples of one row.
	prepare(p *rowPlan)
	// undisturbed returns decoded − label of a sample without points.
	undisturbed() int
	// single returns decoded − label of a sample whose points are all on bit k.
	single(k int) int
	// add decodes len(places)/points samples, points at a time.
	add(s *Sums, within int, places []uint16, points int)
}

// newKernel chooses the fastest kernel for a code and its decoder. Kernels of
// the same decoder differ in speed alone; TestKernelsAgree holds them together.
func newKernel(c *code.Code, d decode.Decoder) (kernel, error) {
	switch d := d.(type) {
	case decode.BelU:
		if c.Bits() <= pairBits {
			return &pairBelU{pairKernel: newPairKernel(d)}, nil
		}
		return &sparseBelU{marks: newMarks(c.Bits()), decoder: d}, nil
	case decode.BelJ:
		if c.Bits() <= pairBits {
			return &pairBelJ{pairKernel: newPairKernel(d), empty: d.Empty(), corner: d.At(1, 1)}, nil
		}
		return &sparseBelJ{marks: newMarks(c.Bits()), decoder: d}, nil
	case decode.Gen:
		if c.Bits() <= memoBits {
			return &memoGen{pairKernel: newPairKernel(d), levels: make([]uint32, 1<<c.Bits())}, nil
		}
		return newSparseGen(c), nil
	}
	return nil, fmt.Errorf("sampling with decoder %s is not supported", d.Name())
}
