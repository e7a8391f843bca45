package observed

import (
	"math"
	"slices"

	"belsim/theory/code"
	"belsim/theory/decode"
)

// BitTemperature is the number by which the logits are to be divided for the smallest cross-entropy of the bits (Guo et al. 2017). Above 1 a
// network is overconfident: it knows its training samples better than these. Some bits, from 1, are left out. The temperature is NaN where
// none from e⁻² to e² is the best one.
func (s *Samples) BitTemperature(c *code.Code, without []int) float64 {
	return temperature(func(tau float64) (first, second float64) { return s.slopeOfBits(c, without, tau) })
}

// LevelTemperature is BitTemperature for the cross-entropy of the levels, whose scores are the correlations with the code words times τ.
func (s *Samples) LevelTemperature(c *code.Code, tau float64) float64 {
	return temperature(func(more float64) (first, second float64) {
		first, second = s.slopeOfLevels(c, tau*more)
		return tau * first, tau * tau * second
	})
}

// temperature is 1/τ at the minimum of a cross-entropy, by its first two derivatives with respect to τ.
func temperature(slope func(tau float64) (first, second float64)) float64 {
	// The cross-entropy is convex in τ, so Newton's steps in ln τ, where they are bounded, find the minimum.
	log := 0.0
	for range 50 {
		tau := math.Exp(log)
		first, second := slope(tau)
		step := -first / (tau*second + math.Abs(first))
		if math.IsNaN(step) || math.Abs(log) > 2 {
			return math.NaN()
		}
		if log += step; math.Abs(step) < 1e-4 {
			return math.Exp(-log)
		}
	}
	return math.NaN()
}

// slopeOfBits are the first two derivatives of the cross-entropy of the bits with respect to τ, by which logits are multiplied.
func (s *Samples) slopeOfBits(c *code.Code, without []int, tau float64) (first, second float64) {
	for i, level := range s.Level {
		for k, z := range s.Row(i) {
			if slices.Contains(without, k+1) {
				continue
			}
			if !c.Bit(level-1, k) {
				z = -z
			}
			p := 1 / (1 + math.Exp(tau*z)) // of the wrong answer
			first -= z * p
			second += z * z * p * (1 - p)
		}
	}
	return first, second
}

// slopeOfLevels are those of the cross-entropy of the levels: their scores less that of the level, on average over the levels' probabilities,
// and the scores' variance.
func (s *Samples) slopeOfLevels(c *code.Code, tau float64) (first, second float64) {
	to, scores := decode.NewCorrelations(c), make([]float64, c.Levels())
	for i, level := range s.Level {
		to.To(scores, s.Row(i))
		own, most := scores[level-1], slices.Max(scores)
		var sum, mean, square float64
		for _, v := range scores {
			w := math.Exp(tau * (v - most))
			sum += w
			mean += w * (v - own)
			square += w * (v - own) * (v - own)
		}
		mean /= sum
		first += mean
		second += square/sum - mean*mean
	}
	return first, second
}
