package errmodel

import "math"

// Transition is one Gaussian of a classifier's error profile: a bit transition
// at Mu, in levels (n+½ lies between levels n and n+1), of weight R and width
// Sigma, in levels.
type Transition struct{ Mu, R, Sigma float64 }

// At returns R/(Sigma·√(2π)) · exp(−(y−Mu)²/(2·Sigma²)) for a label y, a level
// or any real number.
func (t Transition) At(y float64) float64 {
	z := (y - t.Mu) / t.Sigma
	peak, decay := t.R/(t.Sigma*math.Sqrt(2*math.Pi)), math.Exp(-z*z/2)
	if peak == 0 || math.IsInf(peak, 0) { // the product of all factors may be neither
		return math.Exp(math.Log(t.R) - math.Log(t.Sigma) - math.Log(2*math.Pi)/2 - z*z/2)
	}
	return peak * decay
}

// On is At, or where circle is not 0 the same on a circle of so many levels: the sum of the Gaussian over
// all images of the label, Σ_w At(y + w·circle).
func (t Transition) On(y float64, circle int) float64 {
	levels := float64(circle)
	if circle == 0 {
		return t.At(y)
	}
	if t.Sigma > 1.5*levels { // even, to the last digit
		return t.R / levels
	}
	d := math.Remainder(y-t.Mu, levels)
	sum := t.At(t.Mu + d)
	const far = 64 // σ is at most 1.5 ways round: beyond 39 σ a Gaussian is 0
	for w := 1.0; w < far; w++ {
		more := sum + t.At(t.Mu+d-w*levels) + t.At(t.Mu+d+w*levels)
		if more == sum {
			break
		}
		sum = more
	}
	return sum
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

// Kernel has the error probabilities that a transition adds to its bit at the distances ½, 1½, … up
// to levels − ½.
func Kernel(levels int, r, sigma float64) []float64 {
	out := make([]float64, levels)
	for d := range out {
		out[d] = Transition{R: r, Sigma: sigma}.At(float64(d) + 0.5)
	}
	return out
}
