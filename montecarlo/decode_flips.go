package montecarlo

import (
	"belsim/montecarlo/tables"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// flipDecoder decodes outputs that differ from a likely one by few bits. It holds scratch memory
// and belongs to one worker.
type flipDecoder interface {
	// start takes a likely output of a row.
	start(row int, likely []uint64)
	// label decodes the likely output with some bits, all different, changed.
	label(flipped []uint16) int
}

// flipDecoderOf chooses the flip decoder of a code and its decoder on hard decisions.
func flipDecoderOf(c *code.Code, d decode.Decoder) flipDecoder {
	if decode.Is[decode.Gen](d) {
		return newSparseGen(c)
	}
	return &anyFlips{decoder: d}
}

// anyFlips asks the decoder: right for any decoder, and slow, at one Decode a sample.
type anyFlips struct {
	decoder decode.Decoder
	word    []uint64 // the likely output, but for the sample that is decoded
}

func (k *anyFlips) start(_ int, likely []uint64) {
	k.word = append(k.word[:0], likely...)
}

func (k *anyFlips) label(flipped []uint16) int {
	toggle(k.word, flipped)
	defer toggle(k.word, flipped)
	return k.decoder.Decode(k.word)
}

// toggle inverts bits, all different, of a packed word.
func toggle(word []uint64, flipped []uint16) {
	for _, k := range flipped {
		word[k/64] ^= 1 << (k % 64)
	}
}

// flipPoints is the point decoder of a flip decoder: points on the same bit flip it once.
type flipPoints struct {
	flips   flipDecoder
	marks   marks
	row     int
	flipped []uint16
}

func newFlipPoints(c *code.Code, flips flipDecoder) *flipPoints {
	return &flipPoints{flips: flips, marks: newMarks(c.Bits())}
}

func (k *flipPoints) prepare(p *tables.Bits) {
	k.row = p.Row
	k.flips.start(p.Row, p.Base)
}

func (k *flipPoints) error() int { return k.flips.label(k.flipped) - (k.row + 1) }

func (k *flipPoints) undisturbed() int {
	k.flipped = k.flipped[:0]
	return k.error()
}

func (k *flipPoints) single(bit int) int {
	k.flipped = append(k.flipped[:0], uint16(bit))
	return k.error()
}

func (k *flipPoints) add(t *tally, places []uint16, points int) {
	for ; len(places) > 0; places = places[points:] {
		k.flipped = k.marks.distinct(k.flipped[:0], places[:points])
		t.add(k.error(), 1)
	}
}
