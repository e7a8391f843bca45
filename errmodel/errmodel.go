// Package errmodel gives the error probabilities e[n,k] of the binary
// classifiers: Gaussian mixtures around the bit transitions of a code (Eq. 3
// and 4 of Shah, Xue and Aamodt, ICLR 2022), tables from files, and
// the counts of wrong outputs of trained classifiers. Package observed makes the counts, and
// package mixturefit fits the mixture to them.
package errmodel

import (
	"errors"
	"fmt"
	"math"

	"belsim/theory/base/position"
)

// The units of errors.
const (
	InLevels     = "levels"
	InLabelUnits = "label units"
)

// InvalidError says that a mixture is not a table of probabilities: the sum of Gaussians
// exceeds 1 somewhere.
type InvalidError struct {
	R, Sigma   float64
	Level, Bit int // of the largest value; from 1
	Value      float64
}

// Error implements error.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("r = %v with σ = %v is invalid: e[n,k] = %.4g at level %s, bit %s, "+
		"and a probability is at most 1; take a smaller r or a larger σ", e.R, e.Sigma, e.Value,
		position.At(e.Level), position.At(e.Bit))
}

// Invalid reports whether an error says that the error model gives a probability above 1.
func Invalid(err error) bool {
	var invalid *InvalidError
	return errors.As(err, &invalid)
}

// Check refuses a weight or a width of Gaussians with which nothing can be computed. Exact values
// and bounds are proportional to r, to 12 digits, down to the smallest Gaussians that Check takes,
// and the same for all wide σ.
func Check(r, sigma float64) error {
	for i, v := range []float64{r, sigma} {
		if !(v > 0) || math.IsInf(v, 0) {
			return fmt.Errorf("%s = %v: want a positive finite number", [2]string{"r", "σ"}[i], v)
		}
	}
	const smallest = 0x1p-1022 // the smallest number of full precision
	if peak := (Transition{R: 1, Sigma: sigma}).At(0); peak < smallest {
		return fmt.Errorf("σ = %v is too large: the Gaussian's height 1/(σ√(2π)) is below %.2g", sigma, smallest)
	}
	if peak := (Transition{R: r, Sigma: sigma}).At(0); peak < smallest {
		return fmt.Errorf("r = %v is too small for σ = %v: the Gaussian's height r/(σ√(2π)) is below %.2g", r, sigma,
			smallest)
	}
	return nil
}
