package montecarlo

import (
	"belsim/montecarlo/tables"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// kernel turns places of points into errors for one code and decoder. A kernel
// holds scratch memory and belongs to one worker.
type kernel interface {
	// prepare starts the samples of one row.
	prepare(p *tables.Bits)
	// undisturbed returns decoded − label of a sample without points.
	undisturbed() int
	// single returns decoded − label of a sample whose points are all on bit k.
	single(k int) int
	// add decodes len(places)/points samples, points at a time.
	add(s *Sums, within int, places []uint16, points int)
}

// kernels are the fast paths, the faster ones of a decoder first, each constructor
// beside its kernel. Kernels of the same decoder differ in speed alone;
// TestKernelsAgree holds them together.
var kernels = []func(c *code.Code, d decode.Decoder) (kernel, bool){
	pairBelUOf, pairBelJOf, memoGenOf, sparseBelUOf, sparseBelJOf, sparseGenOf,
}

// newKernel chooses the fastest kernel for a code and its decoder. A decoder without
// one of its own is asked about every sample.
func newKernel(c *code.Code, d decode.Decoder) kernel {
	for _, of := range kernels {
		if k, ok := of(c, d); ok {
			return k
		}
	}
	return newAnyKernel(c.Bits(), d)
}
