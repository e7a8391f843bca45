package tables

import (
	"belsim/theory/base/matrix"
	"belsim/theory/decode"
)

// Digits is the number of binary digits that the words of a hard output are compared in: see Flips.
const Digits = 10

// FlipLanes is the number of samples whose hard outputs are drawn side by side, one in each bit of
// a word.
const FlipLanes = 64

// Flips holds the numbers that turn random words into hard outputs. Each of the A drawn bits is
// wrong with a probability p of its own.
//
// A group is FlipLanes samples in a row, each a lane. Bit a is wrong in a lane where a random number
// of [0, 2⁶⁴) is below p·2⁶⁴. The numbers of all lanes are compared at once, digit by digit from the top: word d has digit d of all of them. A lane is
// decided by the first digit in which its number differs from p·2⁶⁴: it is below where that digit
// of p is one. Digits words always are drawn, so that the place of every word in its stream is
// known. One lane in 2¹⁰ is still undecided then, and 64 bits of a stream of their own decide each.
type Flips struct {
	Wrong  []uint64         // A: p in units of 2⁻⁶⁴
	Planes [][Digits]uint64 // A: word d is digit d of p, in all of its bits
}

// hardRow is Row for hard outputs. Bits whose p never exceeds decode.SmallestError are not drawn,
// and never wrong.
func (l *LogitMaker) hardRow(i int) (*Logits, error) {
	var err error
	if l.e, err = matrix.Probabilities(l.e, i, l.model.Errors); err != nil {
		return nil, err
	}
	t := &Logits{Row: i, Flips: new(Flips)}
	for k, e := range l.e {
		l.drawn[k] = e > decode.SmallestError
	}
	if l.model.Correlates {
		t.Levels = l.allLevels()
	}
	l.finish(t)
	t.Wrong, t.Planes = make([]uint64, len(t.Bits)), make([][Digits]uint64, len(t.Bits))
	for a, k := range t.Bits {
		p := fixed64(l.e[k])
		t.Wrong[a] = p
		for d := range Digits {
			t.Planes[a][d] = -(p >> (63 - d) & 1)
		}
	}
	return t, nil
}
