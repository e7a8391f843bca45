// Package latent is the Gaussian model of one classifier's logit. The logit of a bit is normal
// with variance 1, and its sign is wrong with the error probability e.
package latent

import "gonum.org/v1/gonum/stat/distuv"

// Clamp is the smallest error probability that the model distinguishes from 0; 1 − Clamp is
// the largest that it distinguishes from 1.
const Clamp = 1e-12

// Mean returns Φ⁻¹(1 − e), with e clamped to [Clamp, 1 − Clamp]: the mean of the logit,
// times the true sign of the bit.
func Mean(e float64) float64 {
	return -distuv.UnitNormal.Quantile(min(max(e, Clamp), 1-Clamp))
}
