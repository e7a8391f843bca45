package forecast

import (
	"math"

	"belsim/errmodel"
)

// The constants of the intervals. They are the same for all data.
//
// Networks of 13 codes on the data sets diamonds, flights and weather (64 levels, both trainings)
// chose them: spread is such that 95 % of the networks lie inside, of codes other than the one that
// set s. There 0.05 is enough for spreadEasy; 0.08 was taken because unary and johnson differ by
// up to 10 % in the tables of Shah, Xue and Aamodt, and easy codes by 10 to 15 % on rotated digits.
// Of networks that did not choose them, these intervals hold 92 to 98 % with 32, 128 and 256
// levels and with a wider network on diamonds, but 68 to 90 % on rotated digits, where the noise itself
// depends on the code.
const (
	// confidence is the number of standard deviations of a 95 % interval.
	confidence = 1.96

	// spreadEasy is the standard deviation of ln(observed/forecast) of codes whose bits have few
	// transitions: networks of different codes and seeds perceive a label as differently.
	spreadEasy = 0.08
	// spreadTransitions is what each unit of ln(1+T) adds, T being the most transitions of a bit.
	spreadTransitions = 0.06
	// spreadBits is what bits of more than easyTransitions add in networks trained bit by bit.
	spreadBits      = 0.05
	easyTransitions = 4
	// above is how much longer the upper half of an interval is than the lower one: networks
	// fail to learn a code more often than they do better than the model.
	above = 1.5

	// cutoffStep is the change of ln κ by which the sensitivity to κ is measured.
	cutoffStep = 0.4
	// spreadCutoff is the standard deviation of ln κ over networks, around errmodel.DefaultCutoff.
	spreadCutoff = 0.24
	// observedRate is the standard deviation of what the model does not describe of a rate of
	// wrong bits, and relativeRate the same as a share of the rate.
	observedRate, relativeRate = 0.03, 0.15
)

// decoderFactor was chosen on the same networks, and holds on those of the other sizes. The tables of
// Shah, Xue and Aamodt do not show it.
//
// It is the error of networks trained for their decoder, over the error of the
// model's: they do a little better where the words of neighbours are close compared with all
// pairs of words (unary, johnson). neighbours and all are the mean distances of such words.
func decoderFactor(neighbours, all float64) float64 {
	return 0.955 + 0.05*min(1, 5*neighbours/all)
}

// spread is the standard deviation of ln(observed/forecast) for a code whose bits have
// transitions transitions at most. cutoff is the standard deviation of the forecast's logarithm
// that the uncertainty of κ causes, noise the same of s.
func spread(transitions int, t errmodel.Training, cutoff, noise float64) float64 {
	s := spreadEasy*spreadEasy + cutoff*cutoff + noise*noise
	v := spreadTransitions * math.Log1p(float64(transitions))
	s += v * v
	if t == errmodel.BitByBit && transitions > easyTransitions {
		s += spreadBits * spreadBits
	}
	return math.Sqrt(s)
}
