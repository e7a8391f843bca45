package perceived

import "belsim/theory/code"

// The constants of the perceived-label model. They are the same for all data: of a network, only
// its noise s is fitted, and κ and sd₀ where two networks or a code like gray show them.
//
// A coarse search on networks of 13 codes chose them: the data sets diamonds, flights (air time)
// and weather (temperature) with 64 levels, and diamonds with 32 and 128. The optimum is flat: a
// cutoffScale from 0.7 to 1.2 changes the median error of a forecast by one to three percent. Then
// cutoffScale was raised from 0.95 to 1.2, because networks whose learning rate validation chose
// (chosen.csv of testdata/forecast) learn codes of many transitions better and want 1.3 to 1.5. The
// two sets of networks together score the same, within 2 %, from 0.95 to 1.3. cutoffScale,
// cutoffPower, sharePower, lostResidual and DefaultFloor were taken with a look at the tables of
// Shah, Xue and Aamodt (HPE2, HPE3, AE1) too, lostResidual with hadamard of diamonds with 256
// levels, and deadWeight and the treatment of rare bits with a look at networks of rotated digits.
// These are therefore no independent checks of these constants. Networks of random codes, and of
// digits that were trained longer, chose nothing.
const (
	// DefaultMisfit is η: the misfit of a bit, in levels.
	DefaultMisfit = 0.25
	// DefaultFloor is sd₀: the residual of every bit, in logits, to which η's adds.
	DefaultFloor = 0.2
	// decoderFloor is the part of sd₀ that is left after a training for the decoder, which sees the
	// outputs together. It was chosen with the 64 levels of diamonds, weather, digits and pose of
	// testdata/forecast/chosen.csv, and checked with flights, bikes, horizon and texture: on both
	// halves 0.3 to 0.7 are as good.
	decoderFloor = 0.5
	// lostResidual is the largest floor of a bit, in standard deviations of its logit. Without it
	// the lost bits of hadamard are independent noise, and forecasts of its hard decisions are
	// twice the error with 128 and 256 columns. From 1.25 to 2.5 they are right within 30 % on each
	// table of data.
	lostResidual = 1.75
	// leastShare is the smallest probability of a level in a training for the decoder, in mean
	// shares. The scores of levels that never occur only fall: the minimum is where the penalty of
	// the constant, 10⁻⁶, holds them, which the optimizer does not reach with onehot, and where
	// steep scores give all levels a misfit. With 0.05 errors of gen-ex of onehot with 17 to 64
	// levels differ by 2 % at most.
	leastShare = 1e-2
	// tiny is added to the variance of a logit, so that no bit is without a residual.
	tiny = 1e-12

	// The default cutoff is cutoffScale·(L/s)^cutoffPower cycles over the range of labels.
	cutoffScale = 1.2
	cutoffPower = 0.75

	// waves is the number J of cosines in the basis of a bit's logit.
	waves = 44
	// penaltyPower is the power of (cycles/κ) in the penalty.
	penaltyPower = 4
	// sharePower is the power of the columns' energy in the penalty. 1 makes hadamard, which wants
	// every frequency in few columns, too good (by 15 % on hard decisions, and in the published
	// tables), and hexj, where half of the columns want the same, too bad; 1.5 is too much.
	sharePower = 1.25
	// shareWidth is the width, in cosines, over which the columns' energy is smoothed.
	shareWidth = 2
	// smallestShare is the smallest share of a column's energy that one cosine has.
	smallestShare = 1e-9
	// deadWeight is the additional weight of a column without transitions, in columns.
	deadWeight = 3
	// rarest is the smallest 4·p·(1−p) that counts, for a bit that is one with probability p.
	rarest = 1e-4
)

// The ranges in which the model was tried: Model.Check refuses parameters outside of them. At the
// ends, the errors of 5 codes with 2 to 200 levels after both trainings lie between those of their
// neighbours, or equal them where the neighbours are a thousand times further in.
const (
	// leastNoise is the smallest standard deviation of the perceived label around its level, in
	// levels. Below, errors no longer fall with it.
	leastNoise = 0.02
	// coarsest is the largest number of levels for each level of noise. With more of them a step of
	// the grid is nine times the noise: the error of unary with 256 to 16,384 levels differs by up
	// to 10 %, or 0.05 levels, from that on ten times as many points, and at three times as many
	// levels it is several times too large.
	coarsest = 5000
	// mostNoise is the largest noise, in numbers of levels: from 8 to 16 the error of gen-ex
	// changes by less than 0.5 %, to that of a guess. Above, the decoder's training ends before gen
	// on logits has learnt it.
	mostNoise = 16
	// leastCutoff and mostCutoff limit κ: below it only the line is left of a function, and above
	// it no penalty is.
	leastCutoff, mostCutoff = 1e-6, 1e9
	// leastFloor and mostFloor limit sd₀: the residual is that of the misfit alone, or as large as
	// a lost bit's.
	leastFloor, mostFloor = 1e-6, 1e6
	// mostMisfit limits η, in levels: every error probability is ½, within 0.0005.
	mostMisfit = code.MaxLevels
)
