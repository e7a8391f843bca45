package perceived

import (
	"context"
	"errors"
	"fmt"
	"math"

	"belsim/theory/code"
	"belsim/theory/decode"
)

// ErrNoNoise is wrapped by the errors for mean errors that no label noise gives.
var ErrNoNoise = errors.New("no label noise gives this error")

// noiseTolerance is the relative accuracy of a label noise.
const noiseTolerance = 1e-6

// rounded is the logarithm of a label noise, or of another number that a search found, on a grid of about
// noiseTolerance. In the training for the decoder, hadamard and onehot are not learnt to their end, and magnify last
// digits to 10⁻³. On the grid, machines whose last digits differ learn with the same numbers.
func rounded(x float64) float64 {
	const grid = 1 << 20
	return math.Round(x*grid) / grid
}

// logNoise are the logarithms of the smallest and the largest label noise that are tried.
func logNoise(levels int) (lo, hi float64) {
	return math.Log(smallestNoise(levels)), math.Log(float64(levels))
}

// NoiseOf returns the label noise s, in levels, with which networks that learnt the unary code bit by
// bit, and are read by gen on hard decisions, have a mean |error| of mae levels over the nodes.
// The model gives the other parameters; its noise and its training do not matter. s is the noise
// around the label itself, real or a level.
//
// The error is the one that Errors has, exact over the residuals: with ManyNodes it is right to about
// 0.05 %. s is found to 10⁻⁶ of itself.
//
// The error wraps ErrNoNoise where no s gives the error, from the smallest that Check takes for
// labels that are levels, to L levels. Other errors are about the parameters, or are the context's.
func (m Model) NoiseOf(ctx context.Context, workers int, nodes *Nodes, mae float64) (float64, error) {
	levels := len(nodes.prior)
	c, err := code.New("unary", levels)
	if err != nil {
		return 0, err
	}
	m.Training = BCE
	s, err := solveNoise(levels, mae, noiseTolerance, func(s float64) (float64, error) {
		m.Noise = s
		n, err := m.Learn(ctx, workers, c, nodes.prior)
		if err != nil {
			return 0, err
		}
		return nodes.unaryError(ctx, workers, n)
	})
	if err != nil {
		return 0, fmt.Errorf("unary of %d levels: %w", levels, err)
	}
	return s, nil
}

// solveNoise returns the s at which a mean error, which grows with s, has the value target.
// It encloses ln s by steps, and then to the tolerance by false position. Where the error steps, s is at the step.
// Between five and ten calls of meanError are usual.
func solveNoise(levels int, target, tolerance float64, meanError func(s float64) (float64, error)) (float64, error) {
	if !(target > 0) || math.IsInf(target, 0) {
		return 0, fmt.Errorf("mean error = %v: want a positive finite number", target)
	}
	difference := func(x float64) (float64, error) {
		v, err := meanError(decode.Exp(x))
		if err != nil {
			return 0, err
		}
		if !(v >= 0) || math.IsInf(v, 1) {
			return 0, fmt.Errorf("the mean error at a label noise of %.4g levels is %v", math.Exp(x), v)
		}
		// Far from the root only the sign matters; an error may be zero.
		const far = 3
		return min(max(math.Log(v/target), -far), far), nil
	}
	// Steps from the noise of an easy code enclose the root: E|ε| = √(2/π) is the error that s = 1 gives
	// to codes that are easy to learn. The error grows about as s does, so that a step of 1.2 times the
	// difference is beyond the root.
	lo, hi := logNoise(levels)
	noise := func(x float64) float64 { return decode.Exp(min(max(rounded(x), lo), hi)) }
	b, step := bracket{below: math.NaN(), above: math.NaN()}, math.NaN()
	for x := min(max(math.Log(target*math.Sqrt(math.Pi/2)), lo), hi); math.IsNaN(b.below) || math.IsNaN(b.above); {
		f, err := difference(x)
		switch {
		case err != nil:
			return 0, err
		case f == 0:
			return noise(x), nil
		case f < 0:
			b.below, b.fBelow = x, f
		default:
			b.above, b.fAbove = x, f
		}
		if x == lo && f > 0 || x == hi && f < 0 {
			return 0, fmt.Errorf("%w: %.4g; at the last label noise that is tried, %.4g levels, it is still %s", ErrNoNoise,
				target, math.Exp(x), map[bool]string{true: "larger", false: "smaller"}[f > 0])
		}
		if step = 2 * (step + math.Copysign(0.02, step)); math.IsNaN(step) {
			step = 1.2 * f
		}
		x = min(max(x-math.Copysign(min(max(math.Abs(step), 0.02), 1.5), f), lo), hi)
	}
	const most = 60
	for i := 0; i < most && math.Abs(b.above-b.below) > tolerance; i++ {
		x := b.below - b.fBelow*(b.above-b.below)/(b.fAbove-b.fBelow)
		// Not closer to an end than the tolerance, so that the ends meet.
		margin := math.Copysign(min(tolerance, math.Abs(b.above-b.below)/2)*0.5, b.above-b.below)
		if (x-b.below)*margin < margin*margin {
			x = b.below + margin
		}
		if (b.above-x)*margin < margin*margin {
			x = b.above - margin
		}
		f, err := difference(x)
		if err != nil {
			return 0, err
		}
		if math.Abs(f) < tolerance/10 {
			return noise(x), nil
		}
		b.narrow(x, f)
	}
	return noise((b.below + b.above) / 2), nil
}

// bracket encloses the zero of a function, which is negative at one end and positive at the other.
type bracket struct {
	below, fBelow float64 // an end, and the function there: negative or zero
	above, fAbove float64 // the other end, and the function there: positive
	moved         int     // −1 where the last step moved below, 1 where it moved above
}

// narrow puts x, where the function is v, in the place of one end. Where the same end has moved
// twice, the value at the other end counts half, so that this end moves soon, too (false position,
// in the Illinois variant).
func (b *bracket) narrow(x, v float64) {
	if v <= 0 {
		if b.below, b.fBelow = x, v; b.moved < 0 {
			b.fAbove /= 2
		}
		b.moved = -1
	} else {
		if b.above, b.fAbove = x, v; b.moved > 0 {
			b.fBelow /= 2
		}
		b.moved = 1
	}
}
