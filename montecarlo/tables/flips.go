package tables

import (
	"context"
	"math"

	"belsim/theory/decode"
)

// Digits is the number of binary digits that the words of a hard output are compared in: see Flips.
const Digits = 10

// FlipLanes is the number of samples whose hard outputs are drawn side by side, one in each bit of
// a word.
const FlipLanes = 64

// Flips holds the numbers that turn random words into hard outputs. Each of the A drawn bits is
// wrong with a probability p of its own, in each of J parts of a level, J = 1 or decode.Strata.
//
// A group is FlipLanes samples in a row, so that lane j of every group has part j mod J. Bit a is
// wrong in a lane where a random number of [0, 2⁶⁴) is below p·2⁶⁴. The numbers of all lanes are
// compared at once, digit by digit from the top: word d has digit d of all of them. A lane is
// decided by the first digit in which its number differs from p·2⁶⁴: it is below where that digit
// of p is one. Digits words always are drawn, so that the place of every word in its stream is
// known. One lane in 2¹⁰ is still undecided then, and 64 bits of a stream of their own decide each.
type Flips struct {
	Wrong  [][]uint64       // J × A: p in units of 2⁻⁶⁴
	Planes [][Digits]uint64 // A: bit j of word d is digit d of p in lane j
	Mean   float64          // mean number of wrong bits of a sample
}

// hardRow is Row for hard outputs. Bits whose p never exceeds decode.SmallestError are not drawn,
// and never wrong.
func (l *LogitMaker) hardRow(ctx context.Context, i int) (*Logits, error) {
	p := l.model
	t := &Logits{Row: i, Flips: &Flips{Wrong: make([][]uint64, p.Kind.Parts())}}
	clear(l.drawn)
	wrong := make([][]float64, len(t.Wrong))
	err := l.eachPart(ctx, i, len(wrong), func(j int, e []float64) {
		wrong[j] = append([]float64(nil), e...)
		for k, e := range e {
			l.drawn[k] = l.drawn[k] || e > decode.SmallestError
		}
	})
	if err != nil {
		return nil, err
	}
	if p.Correlates {
		t.Levels = l.allLevels()
	}
	l.finish(t, nil, nil)
	t.Planes = make([][Digits]uint64, len(t.Bits))
	for j := range t.Wrong {
		t.Wrong[j] = make([]uint64, len(t.Bits))
		for a, k := range t.Bits {
			t.Wrong[j][a] = fixed64(wrong[j][k])
			t.Mean += wrong[j][k] / float64(len(wrong))
		}
	}
	for j, wrong := range t.Wrong {
		lanes := uint64(1) << j
		if len(t.Wrong) == 1 {
			lanes = math.MaxUint64
		}
		for a, p := range wrong {
			for d := range Digits {
				t.Planes[a][d] |= -(p >> (63 - d) & 1) & lanes
			}
		}
	}
	return t, nil
}
