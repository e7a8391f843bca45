// Package decode turns the outputs of the binary classifiers back into a label:
// the decoding functions of Shah, Xue and Aamodt, "Label Encoding for
// Regression Networks" (ICLR 2022), Section 3.
//
// A Decoder reads hard decisions: a word of M bits, packed as code.Code.Word packs a code word.
// That is all a decoder must do. A decoder that can do more has further methods: RealDecoder,
// LogitDecoder, Correlator, Tempered and Informed list them, and one whose levels can lie outside
// 1..L has a method Range. A Registry holds decoders by name.
package decode

import (
	"math"

	"belsim/theory/code"
)

// Decoder maps a word of M bits to a level, counted from 1. A Decoder is immutable
// and safe for concurrent use.
type Decoder interface {
	// Name is the decoder's name on the command line.
	Name() string
	// Decode returns the level of a packed word. The level lies in 1..L, where L is the number
	// of levels of the code, unless the decoder has a method Range.
	Decode(word []uint64) int
}

// ranger is a decoder whose levels can lie outside 1..L.
type ranger interface {
	Decoder
	// Range returns the smallest and the largest level that Decode can return.
	Range() (lo, hi int)
}

// RealDecoder is a decoder that answers with a real number.
type RealDecoder interface {
	Decoder
	// Value returns the label of a packed word, in levels: between the places of the levels (code.Places) where they
	// are uneven. Decode returns it rounded.
	Value(word []uint64) float64
}

// LogitDecoder is a decoder that also reads soft decisions.
type LogitDecoder interface {
	Decoder
	// DecodeLogits returns the label for M logits, in levels: a whole number
	// unless the decoder is a RealDecoder. Outputs of ±1 give the same label as
	// the packed word of their signs. It does not keep or change z.
	DecodeLogits(z []float64) float64
}

// Correlator is a decoder that uses only the correlations of the logits with the code words.
// Several decoders can share these.
type Correlator interface {
	LogitDecoder
	// FromCorrelations returns the label for the L correlations of M logits with
	// the code words (see Correlations). It does not keep or change them.
	FromCorrelations(correlations []float64) float64
}

// Tempered is a decoder that multiplies logits by a temperature τ.
type Tempered interface {
	LogitDecoder
	// Temperature returns τ.
	Temperature() float64
	// AtTemperature returns the same decoder with another temperature. The error
	// says that τ is no positive finite number.
	AtTemperature(tau float64) (Decoder, error)
}

// Range returns the smallest and the largest level that a decoder of a code can
// return: those of its method Range() (lo, hi int), or 1 and L. Real numbers on a circle go on to
// L+1, which is level 1 again.
func Range(c *code.Code, d Decoder) (lo, hi int) {
	if r, ok := d.(ranger); ok {
		return r.Range()
	}
	if c.Circular() && Real(d) {
		return 1, c.Levels() + 1
	}
	return 1, c.Levels()
}

// Is reports whether a decoder is of a type, as Is[Gen](d).
func Is[D Decoder](d Decoder) bool {
	_, ok := d.(D)
	return ok
}

// Real reports whether a decoder answers with real numbers.
func Real(d Decoder) bool { return Is[RealDecoder](d) }

// ReadsLogits reports whether a decoder also reads logits.
func ReadsLogits(d Decoder) bool { return Is[LogitDecoder](d) }

// PrefersLogits reports whether a decoder of a code reads logits by default: it reads them,
// and it answers with real numbers or the code is of real numbers. An Informed decoder reads bits.
func PrefersLogits(c *code.Code, d Decoder) bool {
	return ReadsLogits(d) && (Real(d) && !Is[Informed](d) || c.Real())
}

// Value returns the label of a packed word, in levels: the Value of a RealDecoder, or else the
// result of Decode.
func Value(d Decoder, word []uint64) float64 {
	if r, ok := d.(RealDecoder); ok {
		return r.Value(word)
	}
	return float64(d.Decode(word))
}

// Equal is how much an answer between levels may be off by rounding, in levels.
const Equal = 1e-6

// Nearest is the level nearest to an answer, the higher one of two that are as near, up to Equal.
func Nearest(answer float64) int { return int(math.Floor(answer + (0.5 + Equal))) }

// round returns the level next to a label.
func round(label float64) int { return int(math.Round(label)) }
