// Package errmodel gives the error probabilities e[n,k] of the binary
// classifiers: Gaussian mixtures around the bit transitions of a code (Eq. 3
// and 4 of Shah, Xue and Aamodt, ICLR 2022), tables from files, and fits of the
// mixture to the outputs of trained classifiers (package observed reads these).
package errmodel

import (
	"fmt"
	"math"
)

// Transition is one Gaussian of a classifier's error profile: a bit transition
// at Mu, in levels (n+½ lies between levels n and n+1), of weight R and width
// Sigma, in levels.
type Transition struct{ Mu, R, Sigma float64 }

// At returns R/(Sigma·√(2π)) · exp(−(y−Mu)²/(2·Sigma²)) for a label y, a level
// or any real number.
func (t Transition) At(y float64) float64 {
	z := (y - t.Mu) / t.Sigma
	return t.R / (t.Sigma * math.Sqrt(2*math.Pi)) * math.Exp(-z*z/2)
}

// Transitions returns the Gaussians of a bit with transitions at positions[i]+½, with
// one weight and one width.
func Transitions(positions []int, r, sigma float64) []Transition {
	t := make([]Transition, len(positions))
	for i, n := range positions {
		t[i] = Transition{Mu: float64(n) + 0.5, R: r, Sigma: sigma}
	}
	return t
}

// InvalidError says that a mixture is no table of probabilities: the sum of
// Gaussians exceeds 1 somewhere.
type InvalidError struct {
	R, Sigma   float64 // zero where each transition has its own
	Level, Bit int     // of the largest value, or the first above 1; from 1
	Value      float64
}

// Error implements error.
func (e *InvalidError) Error() string {
	model := "error model"
	if e.Sigma > 0 {
		model = fmt.Sprintf("r = %v with σ = %v", e.R, e.Sigma)
	}
	return fmt.Sprintf("%s is invalid: e[n,k] = %.4g at level %d, bit %d, and a probability is at most 1; take a smaller r or a larger σ",
		model, e.Value, e.Level, e.Bit)
}
