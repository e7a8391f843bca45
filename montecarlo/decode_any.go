package montecarlo

import (
	"belsim/montecarlo/tables"
	"belsim/theory/decode"
)

// anyDecoder packs the output of every sample with points into a word and asks the
// decoder: right for any decoder, and slow, at one Decode a sample.
type anyDecoder struct {
	decoder decode.Decoder
	marks   marks
	row     int
	word    []uint64 // the base word, but for the sample that is decoded
	flipped []uint16
}

func newAnyDecoder(bits int, d decode.Decoder) *anyDecoder {
	return &anyDecoder{decoder: d, marks: newMarks(bits)}
}

func (k *anyDecoder) prepare(p *tables.Bits) {
	k.row = p.Row
	k.word = append(k.word[:0], p.Base...)
}

func (k *anyDecoder) undisturbed() int { return k.decoder.Decode(k.word) - (k.row + 1) }

func (k *anyDecoder) single(bit int) int { return toggledOne(k.decoder, k.word, k.row, bit) }

func (k *anyDecoder) add(s *Sums, within int, places []uint16, points int) {
	for ; len(places) > 0; places = places[points:] {
		k.flipped = k.marks.distinct(k.flipped[:0], places[:points])
		toggle(k.word, k.flipped)
		s.tally(k.undisturbed(), within, 1)
		toggle(k.word, k.flipped)
	}
}

// toggle inverts bits, all different, of a packed word.
func toggle(word []uint64, flipped []uint16) {
	for _, k := range flipped {
		word[k/64] ^= 1 << (k % 64)
	}
}
