package montecarlo

import (
	"belsim/montecarlo/tables"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// pointDecoder turns places of points into errors for one code and decoder. It
// holds scratch memory and belongs to one worker.
type pointDecoder interface {
	// prepare starts the samples of one row.
	prepare(p *tables.Bits)
	// undisturbed returns decoded − label of a sample without points.
	undisturbed() int
	// single returns decoded − label of a sample whose points are all on bit k.
	single(k int) int
	// add decodes len(places)/points samples, points at a time.
	add(t *tally, places []uint16, points int)
}

// pointDecoders are the fast paths, the faster ones of a decoder first, each
// constructor beside its type. Those of one decoder differ in speed alone;
// TestPointDecodersAgree holds them together.
var pointDecoders = []func(c *code.Code, d decode.Decoder) (pointDecoder, bool){
	pairBelJOf, memoOf, sparseBelUOf,
}

// newPointDecoder chooses the fastest one for a code and its decoder.
func newPointDecoder(c *code.Code, d decode.Decoder) pointDecoder {
	for _, of := range pointDecoders {
		if k, ok := of(c, d); ok {
			return k
		}
	}
	return newFlipPoints(c, flipDecoderOf(c, d))
}
