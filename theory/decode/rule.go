package decode

import (
	"math"
	"slices"

	"belsim/theory/code"
)

// Rule says which label stands for a posterior over the levels.
type Rule string

// The rules.
const (
	MAP    Rule = "map"    // the most probable level
	Median Rule = "median" // the smallest level that is not below half of the probability: the Bayes risk of |error|
	Mean   Rule = "mean"   // the expected label, a real number: the Bayes risk of the squared error
	Least  Rule = "least"  // the level of the smallest mean cost; only a Posterior knows costs
)

// On a circle, the median is the level of the smallest mean distance along it, and the mean is the
// direction of the mean of unit vectors.

const (
	// equalScores is how far two scores may differ by rounding: a lower level wins then.
	equalScores = 1e-9
	// lightScore is a score relative to the largest whose weight, below 10⁻¹⁴ for 65,536 levels
	// together, changes no label.
	lightScore = -45
)

// Label returns the label for the scores of L levels, the logarithms of their posterior
// probabilities up to a constant; −Inf is impossible. values are the labels of the levels, of
// length L and ascending; nil stands for 1 … L. Scores within 10⁻⁹ are equal, and of equal ones the
// lowest level counts. Where no score is finite, the label is that of the lowest level. It changes
// scores. on is the circle of the levels, of which values are even; nil for levels on a line.
func (r Rule) Label(scores, values []float64, on *code.Circle) float64 {
	most := slices.Max(scores)
	if math.IsInf(most, 0) || math.IsNaN(most) {
		return labelOf(0, values)
	}
	if r == MAP {
		return labelOf(slices.IndexFunc(scores, func(s float64) bool { return s >= most-equalScores }), values)
	}
	median, mean := MedianAndMean(scores, values, on)
	if r == Mean {
		return mean
	}
	return median
}

// Weigh makes finite scores weights, the probabilities of the levels times total.
func Weigh(scores []float64) (total float64) {
	most := slices.Max(scores)
	for i, s := range scores {
		w := 0.0
		if s -= most; s > lightScore {
			w = Exp(s)
		}
		scores[i] = w
		total += w
	}
	return total
}

// MedianAndMean returns the labels of the rules Median and Mean for finite scores, as Rule.Label
// does. Scores become weights: see Weigh.
func MedianAndMean(scores, values []float64, on *code.Circle) (median, mean float64) {
	total, sum := Weigh(scores), 0.0
	for i, w := range scores {
		if w > 0 {
			sum += w * labelOf(i, values)
		}
	}
	if on != nil {
		return labelOf(on.Median(scores, equalScores), values), LabelAt(on.Mean(scores), values)
	}
	half, below, at := total*(0.5-equalScores), 0.0, 0
	for at < len(scores)-1 {
		if below += scores[at]; below >= half {
			break
		}
		at++
	}
	return labelOf(at, values), sum / total
}

// labelOf is the label of row i, from 0.
func labelOf(i int, values []float64) float64 {
	if values == nil {
		return float64(i + 1)
	}
	return values[i]
}

// LabelAt is the label of a place on a circle whose levels have even values; nil stands for 1 … L.
func LabelAt(place float64, values []float64) float64 {
	if values == nil {
		return place
	}
	return values[0] + (place-1)*(values[1]-values[0])
}
