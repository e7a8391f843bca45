package montecarlo

import (
	"context"
	"math/bits"

	"belsim/montecarlo/tables"
	"belsim/theory/base/philox"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// wordsChunk is the number of bits whose words are made at a time: they stay in the nearest cache.
const wordsChunk = 64

// hardBlock is block for hard outputs: a group is tables.FlipLanes samples in a row.
func (s *latentSampler) hardBlock(ctx context.Context, st stream, n int, t *tally) error {
	s.wrong = sized(s.wrong, len(s.tables.Bits))
	s.words = sized(s.words, wordsChunk*tables.Digits)
	var labels [tables.FlipLanes]float64
	for g, sinceLook := 0, 0; g*tables.FlipLanes < n; g++ {
		if sinceLook += tables.FlipLanes * (len(s.wrong) + 1); sinceLook >= latentChunk {
			sinceLook = 0
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		s.flips(st, g)
		wanted := ^uint64(0)
		if count := n - g*tables.FlipLanes; count < tables.FlipLanes {
			wanted = 1<<count - 1
		}
		s.hard.labels(&labels, s.wrong, wanted)
		for ; wanted != 0; wanted &= wanted - 1 {
			j := bits.TrailingZeros64(wanted)
			t.real(labels[j])
		}
	}
	return nil
}

// flips decides which bits of group g are wrong: see tables.Flips. The words of drawn bit a begin
// at word Digits·(g·A + a) of their stream, and lane j continues with call FlipLanes·(g·A + a) + j
// of another, if it does: at most 2³² calls, as a block has 2¹⁰ groups.
func (s *latentSampler) flips(st stream, g int) {
	planes, drawn := s.tables.Planes, len(s.wrong)
	for first := 0; first < drawn; first += wordsChunk {
		n := min(wordsChunk, drawn-first)
		at := g*drawn + first
		words := s.words[:tables.Digits*n]
		philox.Fill(words, s.keys, st.at(streamDigits, 0, uint32(at*tables.Digits/2)))
		for i := range n {
			open, wrong := below((*[tables.Digits]uint64)(words[tables.Digits*i:]), &planes[first+i])
			for ; open != 0; open &= open - 1 {
				lane := bits.TrailingZeros64(open)
				x := philox.Call(s.keys, st.at(streamUndecided, 0, uint32((at+i)*tables.FlipLanes+lane)))
				rest := s.tables.Wrong[first+i] << tables.Digits
				if uint64(x[0])|uint64(x[1])<<32 < rest {
					wrong |= 1 << lane
				}
			}
			s.wrong[first+i] = wrong
		}
	}
}

// below compares the first digits of numbers with those of p: it returns the lanes in which they
// are equal, and those in which the number is smaller.
func below(w, p *[tables.Digits]uint64) (open, smaller uint64) {
	open = ^uint64(0)
	for d := 0; d < tables.Digits; d += 2 {
		differ := open & (w[d] ^ p[d])
		smaller |= differ & p[d]
		open ^= differ
		differ = open & (w[d+1] ^ p[d+1])
		smaller |= differ & p[d+1]
		open ^= differ
	}
	return open, smaller
}

// hardDecoder decodes hard outputs, of which bit Bits[a] is wrong in the lanes of wrong[a]. It
// holds scratch memory and belongs to one worker.
type hardDecoder interface {
	prepare(p *tables.Logits)
	// labels decodes the wanted samples of a group, one for each bit.
	labels(dst *[tables.FlipLanes]float64, wrong []uint64, wanted uint64)
}

// newHardDecoder chooses the decoder of a problem's hard outputs.
func newHardDecoder(p *Problem) hardDecoder {
	if _, ok := p.correlated(); ok {
		return newCorrelator(p)
	}
	return &wordDecoder{decoder: p.Decoder, code: p.Code, word: make([]uint64, len(p.Code.Word(0)))}
}

// wordDecoder asks the decoder for every sample: right for any decoder, and slow.
type wordDecoder struct {
	decoder decode.Decoder
	code    *code.Code
	row     int
	bits    []uint16
	word    []uint64
}

func (h *wordDecoder) prepare(p *tables.Logits) { h.row, h.bits = p.Row, p.Bits }

func (h *wordDecoder) labels(dst *[tables.FlipLanes]float64, wrong []uint64, wanted uint64) {
	for ; wanted != 0; wanted &= wanted - 1 {
		i := bits.TrailingZeros64(wanted)
		copy(h.word, h.code.Word(h.row))
		for a, w := range wrong {
			k := h.bits[a]
			h.word[k/64] ^= w >> i & 1 << (k % 64)
		}
		dst[i] = decode.Value(h.decoder, h.word)
	}
}

// errsOften reports whether gen's independent bits are sampled one by one, and not by the few that
// err: whether, on a few rows, three times the mean number of wrong bits reach a quarter of all
// code words, among which gen would have to search. It is part of the numeric contract.
func (p *Problem) errsOften() bool {
	if !decode.Is[decode.Gen](p.Decoder) || p.Code.Bits() <= memoBits {
		return false
	}
	levels, wrong := p.Code.Levels(), 0.
	rows := []int{levels / 8, 3 * levels / 8, 5 * levels / 8, 7 * levels / 8}
	for _, row := range rows {
		e, err := p.Row(nil, row)
		if err != nil {
			return false // whoever makes the tables says so
		}
		for _, e := range e {
			wrong += min(e, 1-e) / float64(len(rows))
		}
	}
	near, distances := 0, make([]int32, levels)
	for _, row := range rows {
		p.Code.Distances(distances, row)
		for _, d := range distances {
			if float64(d) <= 3*wrong {
				near++
			}
		}
	}
	return wrong >= 0.5 && 4*near >= len(rows)*levels
}
