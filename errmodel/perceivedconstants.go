package errmodel

import "math"

// The constants of the perceived-label model. They are the same for all data: of a network, only
// its noise s is fitted, and κ and sd₀ where two networks or a code like gray show them.
//
// A coarse search on networks of 13 codes chose them: the data sets diamonds, flights (air
// time) and weather (temperature) with 64 levels, and diamonds with 32 and 128. The optimum is
// flat: a cutoffScale from 0.6 to 1 changes the median error of a forecast by one to three
// percent. 0.8, cutoffPower and DefaultFloor were taken with a look at the tables of Shah, Xue
// and Aamodt (HPE2, HPE3), and deadWeight and the treatment of rare bits with a look at
// networks of rotated digits. These are therefore no independent checks of these four. Networks
// of diamonds with 256 levels, of other digits, and of random codes chose nothing.
const (
	// DefaultMisfit is η: the misfit of a bit, in levels.
	DefaultMisfit = 0.25
	// DefaultFloor is sd₀: the misfit of every bit, in logits, to which η's adds.
	DefaultFloor = 0.2

	// The default cutoff is cutoffScale·(L/s)^cutoffPower cycles over the range of labels.
	cutoffScale = 0.8
	cutoffPower = 0.75

	// waves is the number J of cosines in the basis of a bit's logit.
	waves = 44
	// penaltyPower is the power of (cycles/κ) in the penalty.
	penaltyPower = 4
	// shareWidth is the width, in cosines, over which the columns' energy is smoothed.
	shareWidth = 2
	// smallestShare is the smallest share of a column's energy that one cosine has.
	smallestShare = 1e-9
	// deadWeight is the additional weight of a column without transitions, in columns.
	deadWeight = 3
	// rarest is the smallest 4·p·(1−p) that counts, for a bit that is one with probability p.
	rarest = 1e-4
)

// DefaultCutoff returns the cutoff κ, in cycles over the range of labels, that networks of
// L levels have whose noise is s levels: 0.8·(L/s)^¾. Networks of other data have between half
// and twice as much.
func DefaultCutoff(levels int, s float64) float64 {
	return cutoffScale * math.Pow(float64(levels)/s, cutoffPower)
}
