package montecarlo

import (
	"belsim/montecarlo/tables"
	"belsim/theory/base/philox"
)

// The random numbers of a sample are a function of the seed (Philox's key) and
// of where the sample stands (Philox's counter), so that any worker, shard or
// device can make any part of them. A counter reads
//
//	word 0: index of the call in the stream
//	word 1: kind of stream (high 8 bits) and number of points (low 24 bits)
//	word 2: row of the code matrix
//	word 3: block of samples
const (
	streamCounts     = iota << 24 // how many samples of a block have how many points
	streamPoints                  // where the points of a group fall
	streamRefine                  // the low bits of a placement, when the high ones do not decide
	streamLatent                  // the noise of logits
	streamTail                    // what continues a draw of noise in the far tail
	streamDigits                  // the first digits of the numbers that decide which hard outputs are wrong
	streamUndecided               // what continues them where they do not decide
	streamOffsets                 // how many samples of a block have which offset of shared noise
	streamOffsetSeed              // the seeds of the samples of an offset, in word 0; words 2 and 3 are 0
)

// BlockSize is the number of samples in a block, the unit that workers, shards
// and devices share. It is part of the numeric contract: another value gives
// other samples.
const BlockSize = tables.BlockSize

// stream is the place of a stream: everything of a counter but the call.
type stream struct {
	keys       *philox.Keys
	row, block uint32
}

func (s stream) at(kind, points int, call uint32) philox.Counter {
	return philox.Counter{call, uint32(kind | points), s.row, s.block}
}

// bitReader hands out the words of a stream in order.
type bitReader struct {
	s    stream
	kind int
	next uint32 // first call that is not in buf yet
	rest []uint64
	buf  [256]uint64
}

func (r *bitReader) reset(s stream, kind int) {
	r.s, r.kind, r.next, r.rest = s, kind, 0, nil
}

func (r *bitReader) word() uint64 {
	if len(r.rest) == 0 {
		philox.Fill(r.buf[:], r.s.keys, r.s.at(r.kind, 0, r.next))
		r.next += uint32(len(r.buf) / 2)
		r.rest = r.buf[:]
	}
	w := r.rest[0]
	r.rest = r.rest[1:]
	return w
}
