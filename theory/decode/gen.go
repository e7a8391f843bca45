package decode

import (
	"belsim/theory/code"
)

// Gen is the generic decoder (Eq. 5) on hard decisions: the label whose ±1 code word
// correlates best with the ±1 outputs. The correlation of two words is M − 2·(their Hamming
// distance), so the nearest code word wins; of several equally near words, the word of the
// lowest level wins, as with argmax.
type Gen struct{ code *code.Code }

var _ Correlator = Gen{}

var genEntry = Entry{
	Name:      Gen{}.Name(),
	Logits:    true,
	RealCodes: true,
	Auto:      func(*code.Code) int { return rankAny },
	New:       func(c *code.Code, _ Options) (Decoder, error) { return newGen(c), nil },
}

func newGen(c *code.Code) Gen { return Gen{c} }

// Name implements Decoder.
func (Gen) Name() string { return "gen" }

// Decode implements Decoder in O(L·M/64); in O(L·M) for a code of real numbers.
func (d Gen) Decode(word []uint64) int {
	if d.code.Real() {
		return round(d.DecodeLogits(signs(word, d.code.Bits())))
	}
	best, least := 0, d.code.Bits()+1
	for i := range d.code.Levels() {
		if distance := code.Apart(d.code.Word(i), word); distance < least {
			best, least = i, distance
		}
	}
	return best + 1
}

// Rows returns the row of the answer to each of the 2^M outputs of a binary code.
func (d Gen) Rows() []uint32 {
	words := make([]uint64, d.code.Levels())
	for i := range words {
		words[i] = d.code.Word(i)[0]
	}
	return code.NearestRows(words, d.code.Bits())
}

// DecodeLogits implements LogitDecoder: the level whose code word has the largest
// exact correlation Σ_k z_k·C[n,k] with M logits, the lowest of several. Code words of 0
// and 1 give the same level as words of ±1, whose correlations are twice these minus
// a number that is the same for all. O(L·M).
func (d Gen) DecodeLogits(z []float64) float64 {
	return d.FromCorrelations(correlations(d.code, z))
}

// FromCorrelations implements Correlator: the level with the largest of L
// correlations, the lowest of several. Those of Correlations are in the exact order.
func (Gen) FromCorrelations(correlations []float64) float64 {
	return float64(place(correlations) + 1)
}
