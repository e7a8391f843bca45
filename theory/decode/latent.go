package decode

import (
	"gonum.org/v1/gonum/stat/distuv"
)

// In the Gaussian model of logits the logit of a bit is normal with variance 1, and its sign is
// wrong with the error probability e.

// SmallestError is the smallest error probability that the model distinguishes from 0; 1 −
// SmallestError is the largest that it distinguishes from 1.
const SmallestError = 1e-12

// MeanLogit returns Φ⁻¹(1 − e), with e clamped to [SmallestError, 1 − SmallestError]: the mean of
// the logit, times the true sign of the bit.
func MeanLogit(e float64) float64 {
	return -distuv.UnitNormal.Quantile(min(max(e, SmallestError), 1-SmallestError))
}
