package mixturefit

import (
	"context"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel"
)

// Joint is what a second reading of the samples tells, when a fit is known: how far the estimates
// of r and σ are from the truth, however the bits of a sample depend on each other. Its memory does
// not grow with the number of samples. Use it on one goroutine.
type Joint struct {
	Erring uint64 // samples with a wrong bit; bits without a transition do not count

	fit     *Fit
	rates   []float64    // of the groups of the likelihood
	inverse [3]float64   // of the information about ln r and ln σ: rr, rσ, σσ
	regular bool         // there is such an inverse
	right   [][2]float64 // by row: the scores of r and σ of a sample without a wrong bit

	// square and fourth are the sums over the samples of the second and of the fourth powers of
	// their influences on the estimates of ln r and ln σ. The influence of a sample is I⁻¹·s, where
	// s is its score, the sum of the scores of its bits.
	square, fourth [2]float64
}

// samples is the number of samples that the estimate of each variance rests on: the number of equal
// influences whose squares would vary as much. It is small where a few samples hold most of the
// errors.
func (j *Joint) samples() (out [2]float64) {
	for i := range out {
		if j.fourth[i] > 0 {
			out[i] = j.square[i] * j.square[i] / j.fourth[i]
		}
	}
	return out
}

// Intervals returns the confidence intervals of r and σ. It is called after the last sample.
//
// The logarithms are taken as normal. Their variances are those of the sandwich estimator,
// I⁻¹·J·I⁻¹, where J is the sum of the squares of the scores of the samples. A variance is an
// estimate from some number of samples, so the quantile is Student's. All numbers are NaN where
// there are too few samples with a wrong bit (FewestErring), and where the estimate is at a limit
// and has no such variance.
func (j *Joint) Intervals() (intervals [2][2]float64) {
	n := j.samples()
	for i, value := range [2]float64{j.fit.R, j.fit.Sigma} {
		half := math.NaN()
		if j.regular && j.Erring >= FewestErring {
			half = distuv.StudentsT{Mu: 0, Sigma: 1,
				Nu: max(n[i], 1)}.Quantile((1+errmodel.Confidence)/2) * math.Sqrt(j.square[i])
		}
		intervals[i] = [2]float64{value * math.Exp(-half), value * math.Exp(half)}
	}
	return intervals
}

// FewestErring is the number of samples with a wrong bit from which on intervals hold the truth as
// often as they say: see testdata/coverage. With fewer, the estimates are all there is.
const FewestErring = 30

// NewJoint prepares the second reading of the samples that the fit's counts are of. The error is
// the context's.
func NewJoint(ctx context.Context, f *Fit) (*Joint, error) {
	c := f.counts
	j := &Joint{fit: f, rates: make([]float64, len(f.l.n)), right: make([][2]float64, c.Levels)}
	j.inverse, j.regular = f.inverse() // sets the likelihood to σ
	for g, logU := range f.l.logU {
		if logE := math.Log(f.R) + logU; logE >= -46 { // 10⁻²⁰; below 0: see maximize
			j.rates[g] = math.Exp(logE)
		}
	}
	for i := range j.right {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		j.right[i] = j.rightScores(i)
	}
	return j, nil
}

// rightScores are the scores of a sample of row i without a wrong bit.
func (j *Joint) rightScores(i int) (s [2]float64) {
	if j.fit.counts.Samples[i] == 0 {
		return s
	}
	for k := range j.fit.counts.Bits {
		e, q := j.rate(i, k)
		o := -e / (1 - e)
		s[0] += o
		s[1] += o * q
	}
	return s
}

// rate returns e of a bit at row i, from 0; 0 where it is so small that no sum notices it, and q =
// ∂ln e/∂ln σ. Both are 0 for a bit without transitions.
func (j *Joint) rate(i, k int) (e, q float64) {
	if len(j.fit.positions[k]) == 0 {
		return 0, 0
	}
	g := *j.fit.l.places[k].at(i)
	return j.rates[g], j.fit.l.q1[g]
}

// Add takes a sample of row i, from 0, with the given wrong bits, from 0: samples in the same order
// give the same results.
func (j *Joint) Add(i int, wrong []int) {
	a, b := j.right[i][0], j.right[i][1]
	erring := uint64(0)
	for _, k := range wrong {
		if len(j.fit.positions[k]) == 0 {
			continue
		}
		erring = 1
		e, slope := j.rate(i, k)
		a += 1 / (1 - e)
		b += slope / (1 - e)
	}
	j.Erring += erring
	u := [2]float64{j.inverse[0]*a + j.inverse[1]*b, j.inverse[1]*a + j.inverse[2]*b}
	for p, u := range u {
		j.square[p] += u * u
		j.fourth[p] += u * u * u * u
	}
}
