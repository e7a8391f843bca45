package errmodel

import (
	"context"
	"errors"
	"fmt"
	"math"

	"belsim/theory/code"
)

// ErrNoNoise is wrapped by the errors for errors of labels that no label noise gives.
var ErrNoNoise = errors.New("no label noise gives this error")

// The label noise is sought between these limits: smallestNoise levels, and the range of labels.
const smallestNoise = 0.02

// NoiseOf returns the label noise s, in levels, for which a network of the model p (whose Noise
// does not matter) has a given mean error, in levels or in the unit of meanError. meanError
// returns the error of what such a network learns: of a decoder, or any other number that
// grows with s.
//
// It encloses ln s by steps, and then by false position (Illinois) until s is known to 10⁻⁴ of
// itself. Where the error steps, as a sampled error may, s is at the step. Between five and ten
// calls of Learn and of meanError are usual.
//
// The error wraps ErrNoNoise where the smallest s has a larger error already, or where the
// largest s, as wide as the range of labels, has a smaller one. Other errors are about the
// parameters, of meanError, or the context's.
func NoiseOf(ctx context.Context, workers int, c *code.Code, prior []float64, p Perceived, target float64, meanError func(*Learned) (float64, error)) (float64, error) {
	if err := checkPositive("mean error", target); err != nil {
		return 0, err
	}
	difference := func(x float64) (float64, error) {
		p.Noise = math.Exp(x)
		l, err := p.Learn(ctx, workers, c, prior)
		if err != nil {
			return 0, err
		}
		v, err := meanError(l)
		if err != nil {
			return 0, err
		}
		if !(v >= 0) || math.IsInf(v, 1) {
			return 0, fmt.Errorf("mean error of %s at a label noise of %.4g levels is %v", c.Name(), p.Noise, v)
		}
		// Far from the root only the sign matters; an error may be zero.
		const far = 3
		return min(max(math.Log(v/target), -far), far), nil
	}
	lo, hi := math.Log(smallestNoise), math.Log(float64(c.Levels()))
	// E|ε| = √(2/π) is the error that s = 1 gives to codes that are easy to learn.
	x := min(max(math.Log(target*math.Sqrt(math.Pi/2)), lo), hi)
	f, err := difference(x)
	if err != nil {
		return 0, err
	}
	b := bracket{below: math.NaN(), above: math.NaN()}
	// The error grows about as s does: a step of 1.2 times the difference is beyond the root.
	for step := 1.2 * f; ; step = 2 * (step + math.Copysign(0.02, step)) {
		if f <= 0 {
			b.below, b.fBelow = x, f
		} else {
			b.above, b.fAbove = x, f
		}
		if f == 0 {
			return math.Exp(x), nil
		}
		if !math.IsNaN(b.below) && !math.IsNaN(b.above) {
			break
		}
		if x == lo && f > 0 || x == hi && f < 0 {
			return 0, noNoise(c, p, x, f, target)
		}
		x = min(max(x-math.Copysign(min(max(math.Abs(step), 0.02), 1.5), f), lo), hi)
		if f, err = difference(x); err != nil {
			return 0, err
		}
	}
	const tolerance, most = 1e-4, 60
	for i := 0; i < most && math.Abs(b.above-b.below) > tolerance; i++ {
		x = b.below - b.fBelow*(b.above-b.below)/(b.fAbove-b.fBelow)
		// Not closer to an end than the tolerance, so that the ends meet.
		margin := math.Copysign(min(tolerance, math.Abs(b.above-b.below)/2)*0.5, b.above-b.below)
		if (x-b.below)*margin < margin*margin {
			x = b.below + margin
		}
		if (b.above-x)*margin < margin*margin {
			x = b.above - margin
		}
		if f, err = difference(x); err != nil {
			return 0, err
		}
		if math.Abs(f) < tolerance/10 {
			return math.Exp(x), nil
		}
		b.narrow(x, f)
	}
	return math.Exp((b.below + b.above) / 2), nil
}

// noNoise says why no noise has an error: at the end x of the range it is larger or smaller, by
// the sign of f.
func noNoise(c *code.Code, p Perceived, x, f, target float64) error {
	than := "larger"
	if f < 0 {
		than = "smaller"
	}
	return fmt.Errorf("%w: %.4g for %s (training %q, misfit %.4g); at a label noise of %.4g levels, the end of the range that is tried, the error is still %s",
		ErrNoNoise, target, c.Name(), p.Training, p.Misfit, math.Exp(x), than)
}
