package decode

import (
	"math/bits"

	"belsim/theory/code"
)

// Gen is the generic decoder (Eq. 5) on hard decisions: the label whose ±1 code
// word correlates best with the ±1 outputs. The correlation of two words is
// M − 2·(their Hamming distance), so the nearest code word wins; of several
// equally near ones the lowest level, as argmax takes it.
type Gen struct{ code *code.Code }

func newGen(c *code.Code) Gen { return Gen{c} }

// Name implements Decoder.
func (Gen) Name() string { return "gen" }

// Code returns the code whose words Gen compares with.
func (d Gen) Code() *code.Code { return d.code }

// Decode implements Decoder in O(L·M/64).
func (d Gen) Decode(word []uint64) int {
	best, least := 0, d.code.Bits()+1
	for i := range d.code.Levels() {
		distance := 0
		for j, w := range d.code.Word(i) {
			distance += bits.OnesCount64(w ^ word[j])
		}
		if distance < least {
			best, least = i, distance
		}
	}
	return best + 1
}

// Range implements Decoder.
func (d Gen) Range() (lo, hi int) { return 1, d.code.Levels() }
