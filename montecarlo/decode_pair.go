package montecarlo

import (
	"math/bits"

	"belsim/montecarlo/tables"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// pairBits is the largest number of bits whose outputs fit in two words.
const pairBits = 128

// pair is a word of up to pairBits bits.
type pair struct{ lo, hi uint64 }

// pairDecoder is the common part of the point decoders of short codes. A sample is a pair of
// words, and points are masks. Masks are joined by OR, so a second point on the same bit
// changes nothing.
type pairDecoder struct {
	decoder decode.Decoder
	row     int
	word    pair
	masks   [256]pair // indexed by a byte, so that no bounds are checked
	buf     []pair
	scratch [2]uint64
}

func newPairDecoder(d decode.Decoder) pairDecoder {
	k := pairDecoder{decoder: d}
	for i := range 64 {
		k.masks[i].lo = 1 << i
		k.masks[64+i].hi = 1 << i
	}
	return k
}

func (k *pairDecoder) prepare(p *tables.Bits) {
	k.row = p.Row
	k.word = pair{lo: p.Base[0]}
	if len(p.Base) > 1 {
		k.word.hi = p.Base[1]
	}
}

func (k *pairDecoder) decode(w pair) int {
	k.scratch = [2]uint64{w.lo, w.hi}
	return k.decoder.Decode(k.scratch[:]) - (k.row + 1)
}

func (k *pairDecoder) undisturbed() int { return k.decode(k.word) }

func (k *pairDecoder) single(bit int) int {
	m := k.masks[uint8(bit)]
	return k.decode(pair{k.word.lo ^ m.lo, k.word.hi ^ m.hi})
}

// outputs returns the output words of len(places)/points samples.
func (k *pairDecoder) outputs(places []uint16, points int) []pair {
	k.buf = k.buf[:0]
	for ; len(places) > 0; places = places[points:] {
		var m pair
		for _, p := range places[:points] {
			a := &k.masks[uint8(p)]
			m.lo |= a.lo
			m.hi |= a.hi
		}
		k.buf = append(k.buf, pair{k.word.lo ^ m.lo, k.word.hi ^ m.hi})
	}
	return k.buf
}

// pairBelJ finds the first and the last one.
type pairBelJ struct {
	pairDecoder
	empty  int // label of the all-zero word
	corner int // At(1, 1), from which each place of the first and the last one takes 1
}

func pairBelJOf(c *code.Code, d decode.Decoder) (pointDecoder, bool) {
	j, ok := d.(decode.BelJ)
	if !ok || c.Bits() > pairBits {
		return nil, false
	}
	return &pairBelJ{newPairDecoder(j), j.Empty(), j.At(1, 1)}, true
}

func (k *pairBelJ) add(t *tally, places []uint16, points int) {
	out := k.outputs(places, points)
	answers, right := t.Answers, t.place(t.label)
	var sum, square uint64
	// At(first, last) = corner − (first−1) − (last−1); from here on first and
	// last count from 0.
	corner := k.corner - (k.row + 1)
	for _, w := range out {
		first := bits.TrailingZeros64(w.lo)
		if w.lo == 0 {
			first = 64 + bits.TrailingZeros64(w.hi)
		}
		last := 63 + bits.Len64(w.hi)
		if w.hi == 0 {
			last = bits.Len64(w.lo) - 1
		}
		err := corner - first - last
		if w.lo|w.hi == 0 {
			err = k.empty - (k.row + 1)
		}
		if answers != nil {
			answers[right+err]++
		}
		err = max(err, -err)
		sum += uint64(err)
		square += uint64(err * err)
	}
	t.Add(Sums{Samples: uint64(len(out)), Abs: sum, Square: square})
}

// memoBits is the largest number of bits for which every output's level is
// remembered: 2¹⁶ of them take a quarter of a megabyte.
const memoBits = 16

// memo remembers what a decoder of any code makes of an output, whatever the label was.
type memo struct {
	pairDecoder
	levels []uint32 // by output; 0: not yet asked
}

func memoOf(c *code.Code, d decode.Decoder) (pointDecoder, bool) {
	if !decode.Is[decode.Gen](d) && !decode.Is[decode.Informed](d) || decode.Real(d) || c.Bits() > memoBits {
		return nil, false
	}
	return &memo{newPairDecoder(d), make([]uint32, 1<<c.Bits())}, true
}

func (k *memo) add(t *tally, places []uint16, points int) {
	out := k.outputs(places, points)
	answers, right := t.Answers, t.place(t.label)
	var sum, square uint64
	for _, w := range out {
		level := k.levels[w.lo]
		if level == 0 {
			level = uint32(k.decode(w) + k.row + 1)
			k.levels[w.lo] = level
		}
		err := int(level) - (k.row + 1)
		if answers != nil {
			answers[right+err]++
		}
		err = max(err, -err)
		sum += uint64(err)
		square += uint64(err * err)
	}
	t.Add(Sums{Samples: uint64(len(out)), Abs: sum, Square: square})
}
