package errmodel

import "math"

// The constants of the perceived-label model. They were chosen once, on networks trained on
// three data sets of tables (diamonds, flights, weather; 64 levels, 13 codes), and were
// checked on networks and published tables that did not choose them. None is fitted to a
// network that a user brings: only the noise s is, and the cutoff κ where networks of two codes
// are given.
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
