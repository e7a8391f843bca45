// Package tables makes the tables that turn random numbers into samples of one label: plain
// numbers, the same for every backend. Package montecarlo samples with them on the CPU. A
// backend on a device copies them, or makes tables that are equal to the last bit.
//
// Together with package philox it is the numeric contract: a change of a constant or of a
// result in this package changes samples, and raises montecarlo.NumericVersion.
package tables

import "belsim/theory/decode"

// BlockSize is the number of samples in a block, the unit that workers, shards and
// devices share.
const BlockSize = 1 << 16

// Lanes is the number of samples of logits that are sampled side by side: a group.
// Every array of a group has the lanes next to each other, so that one instruction
// serves several.
const Lanes = 16

// Kind says what the outputs of the classifiers are, and so how they are sampled.
type Kind uint8

// The kinds. Outputs are independent given a label, or given the perceived label where there is
// one. montecarlo.Problem gives the equations.
const (
	IndependentBits   Kind = iota // sampled by the few bits that err
	DenseBits                     // bits of the same law, sampled one by one: see Flips
	IndependentLogits             // logits whose signs are these bits
	PerceivedBits
	PerceivedLogits
)

// Hard reports whether outputs are bits.
func (k Kind) Hard() bool { return k != IndependentLogits && k != PerceivedLogits }

// Perceived reports whether outputs depend on a perceived label.
func (k Kind) Perceived() bool { return k == PerceivedBits || k == PerceivedLogits }

// Parts returns the number of parts of a level, which samples take in turn.
func (k Kind) Parts() int {
	if k.Perceived() {
		return decode.Strata
	}
	return 1
}

// LogitOne is a logit of one. Logits are rounded to this unit, 2⁻¹⁶, after the noise
// is added, so that 32 bits hold correlations of a thousand of them.
const (
	LogitFraction = 16
	LogitOne      = 1 << LogitFraction
)

// Rest returns the parts that n < decode.Strata samples of a level are of, one each, as bits of a
// word. The word of random bits that it is given decides where, for each half of the parts, for
// each half of this half, and so on, the next sample goes first: the order of a bit reversal, with
// nested scrambling (Owen 1995). Any number of samples is spread over all parts; a part has a
// sample as often as any other, over the random words; and the mean of the samples, which has no
// bias, varies little more than with parts drawn at random.
func Rest(n int, random uint64) (parts uint64) {
	for i := range n {
		node := 1
		for d := 0; node < decode.Strata; d++ {
			node = node<<1 | int((uint64(i)>>d^random>>node)&1)
		}
		parts |= 1 << (node - decode.Strata)
	}
	return parts
}
