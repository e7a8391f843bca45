// Package limit bounds the mean error of label encodings from below: no code of a number of bits, of which
// each has at most a number of transitions, and no decoder has less. theory/README.md has the proofs.
package limit

import (
	"context"
	"errors"
	"fmt"
	"math"

	"belsim/theory/cost"
)

// Problem are the codes of which one is asked for, and the cost of answers. Labels occur equally often.
type Problem struct {
	Levels, Bits int
	Transitions  int // most transitions of a bit; 0 for any number
	// Kernel are the error probabilities that one transition adds to its bit at levels ½, 1½, 2½ …
	// away from it; 0 further away. Those of several transitions of a bit add up.
	Kernel []float64
	Cost   cost.Cost
	Quick  bool // a third of the time, for a limit that is up to 3 % smaller
}

// ErrNone is wrapped by the error for problems that have no limit here.
var ErrNone = errors.New("no limit")

// roundings bounds those of sums of fewer than 10⁵ numbers of about 1, relatively and absolutely.
const roundings = 1e-10

// Of returns a lower bound of the mean cost, the larger of two: by windows (see columns) and by sequences of
// transitions (see sequence). It takes about 0.3 s of a processor for
// 64 levels, and 1 s for 256. The error wraps ErrNone for costs that are
// no function of the distance of even levels on a line, or is the context's.
func Of(ctx context.Context, p Problem) (float64, error) {
	if p.Levels < 2 || p.Bits < 1 || p.Transitions < 0 {
		return 0, fmt.Errorf("%w: %d levels, %d bits, %d transitions", ErrNone, p.Levels, p.Bits, p.Transitions)
	}
	for d, u := range p.Kernel {
		if !(u >= 0) || d > 0 && u > p.Kernel[d-1] {
			return 0, fmt.Errorf("%w: the kernel is %v at distance %d½; want numbers that do not ascend", ErrNone, u, d)
		}
	}
	if !p.Cost.Even() || p.Cost.OnCircle() {
		return 0, fmt.Errorf("%w for the %s cost: want a distance of even levels on a line", ErrNone, p.Cost.Name())
	}
	if p.Transitions == 0 || p.Transitions > p.Levels-1 {
		p.Transitions = p.Levels - 1
	}
	least := 0.0
	for _, by := range []func(context.Context, Problem) (float64, error){byWindows, bySequences} {
		v, err := by(ctx, p)
		if err != nil {
			return 0, err
		}
		least = max(least, v)
	}
	return max(0, least*(1-roundings)-roundings), nil
}

// at is the error probability that a transition adds d½ levels away.
func (p Problem) at(d int) float64 {
	if d < len(p.Kernel) {
		return p.Kernel[d]
	}
	return 0
}

// weight is the part of the cost that a wrong test between two levels at an odd distance d causes:
//
//	E cost ≥ Σ_d weight(d)·(2/L)·Σ_n Pmin(n, n+d).
//
// The distances are 1 and 3: see the README.
func (p Problem) weight(d int) float64 {
	if p.Cost.Absolute() {
		return 1
	}
	w := p.Cost.Of(1, 1+float64(d)/2)
	if d > 1 {
		w -= p.Cost.Of(1, float64(d)/2) // 1 + (d−2)/2
	}
	return w
}

// logZ is the logarithm of the largest sum over the levels of exp(−β·cost), over all answers, and
// its derivative by β.
func (p Problem) logZ(beta float64) (v, slope float64) {
	if p.Cost.Name() == (cost.Cost{}).Squared().Name() {
		// Between levels the sum over all integers is not larger, by Poisson's formula.
		sum, by := 1.0, 0.0
		for n := 1.0; n < 40/math.Sqrt(beta) && sum < float64(p.Levels); n++ {
			e := 2 * math.Exp(-beta*n*n)
			sum, by = sum+e, by-n*n*e
		}
		if sum >= float64(p.Levels) {
			return math.Log(float64(p.Levels)), 0
		}
		return math.Log(sum), by / sum
	}
	v = math.Inf(-1)
	for _, half := range []float64{0, 0.5} {
		sum, by := 0.0, 0.0
		for n := 1; n <= p.Levels; n++ {
			c := p.Cost.Of(n, float64((p.Levels+1)/2)+half)
			e := math.Exp(-beta * c)
			sum, by = sum+e, by-c*e
		}
		if l := math.Log(sum); l > v {
			v, slope = l, by/sum
		}
	}
	return v, slope
}

// Text says that no code of some bits, with at most so many transitions each, is below a limit, in
// three digits that are rounded down. transitions is 0 for any number.
func Text(bits, transitions int, limit float64) string {
	most := ""
	if transitions > 0 {
		most = fmt.Sprintf(" with at most %d transitions each", transitions)
	}
	if transitions == 1 {
		most = " with at most one transition each"
	}
	unit := math.Pow(10, math.Floor(math.Log10(max(limit, 1e-9)))-2)
	return fmt.Sprintf("no code of %d bits%s has less than %.3g", bits, most, math.Floor(limit/unit)*unit)
}
