// Package tables makes the tables that turn random numbers into samples of one label: plain
// numbers, the same for every backend. Package montecarlo samples with them on the CPU. A
// backend on a device copies them, or makes tables that are equal to the last bit.
//
// Together with package philox it is the numeric contract: a change of a constant or of a
// result in this package changes samples, and raises montecarlo.NumericVersion.
package tables

// BlockSize is the number of samples in a block, the unit that workers, shards and
// devices share.
const BlockSize = 1 << 16

// Lanes is the number of samples of logits that are sampled side by side: a group.
// Every array of a group has the lanes next to each other, so that one instruction
// serves several.
const Lanes = 16

// LogitOne is a logit of one. Logits are rounded to this unit, 2⁻¹⁶, after the noise
// is added, so that 32 bits hold correlations of a thousand of them.
const (
	LogitFraction = 16
	LogitOne      = 1 << LogitFraction
)
