package mixturefit

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel"
)

// Joint is what a second reading of the samples tells, when a fit is known: how far the
// estimates of r and σ are from the truth (Spread), and how far the counts may be from a model by
// chance (Goodness), however the bits of a sample depend on each other. Its memory does not grow with
// the number of samples. Use it on one goroutine.
//
// For the goodness it resamples by the wild bootstrap (Wu, Annals of Statistics 14, 1261, 1986): in each
// of many replicates, every sample gets a random sign ±1. The sums over the samples of sign × (x − e)
// then vary as the sums of x − e would if the samples were drawn again, together with everything
// that they have in common.
type Joint struct {
	Spread Spread
	Erring uint64 // samples with a wrong bit; bits without a transition do not count

	counts  *errmodel.Counts
	fit     *Fit
	local   *local
	inverse [3]float64   // of the information about ln r and ln s: rr, rs, ss
	regular bool         // there is such an inverse
	slopes  [2]float64   // of ln r and ln σ, by ln r and ln s
	right   [][2]float64 // by cell: the scores of r and s of a sample without a wrong bit

	enough float64 // see pool
	pools  []pool
	pool   []int32 // of every level and bit, L × M; −1 where none
	worst  []Departure

	replicates int
	random     *rand.PCG
	signs      []float64
	cells      []float64    // Σ sign by cell, times replicates
	sums       []float64    // Σ sign·x by pool
	scores     [2][]float64 // Σ sign·score of the wrong outputs, of ln r and ln s
}

// Spread says how far chance takes the estimates of ln r and ln σ, from the samples themselves:
// the sums over the samples of the second and of the fourth powers of their influences. The
// influence of a sample is I⁻¹·s, where s is its score, the sum of the scores of its bits.
type Spread struct {
	Square, Fourth [2]float64
}

// Samples is the number of samples that the estimate of each variance rests on: the number of
// equal influences whose squares would vary as much. It is small where a few samples hold most
// of the errors.
func (s Spread) Samples() [2]float64 {
	var out [2]float64
	for i := range out {
		if s.Fourth[i] > 0 {
			out[i] = s.Square[i] * s.Square[i] / s.Fourth[i]
		}
	}
	return out
}

// Intervals returns the confidence intervals of r and σ, and the factors by which the variances of ln r and
// ln σ are larger than if bits erred independently, as the likelihood takes them to do. It is called after the
// last sample.
//
// The logarithms are taken as normal. Their variances are those of the sandwich estimator, I⁻¹·J·I⁻¹, where J
// is the sum of the squares of the scores of the samples. A variance is an estimate from so many samples as
// Spread says, so the quantile is Student's. All numbers are NaN where the estimate is at a limit and has no
// such variance.
func (j *Joint) Intervals() (intervals [2][2]float64, effect [2]float64) {
	n := j.Spread.Samples()
	for i, value := range [2]float64{j.fit.R, j.fit.Sigma} {
		half := math.NaN()
		effect[i] = math.NaN()
		if j.regular {
			effect[i] = j.Spread.Square[i] / (j.inverse[2*i] * j.slopes[i] * j.slopes[i])
			half = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: max(n[i], 1)}.Quantile((1+errmodel.Confidence)/2) * math.Sqrt(j.Spread.Square[i])
		}
		intervals[i] = [2]float64{value * math.Exp(-half), value * math.Exp(half)}
	}
	return intervals, effect
}

// FewestErring is the number of samples with a wrong bit from which on intervals hold the truth as
// often as they say, and FewestTested from which on the test of the model has as many false alarms as it
// says: see testdata/coverage. With fewer, the estimates are all there is.
const (
	FewestErring = 30
	FewestTested = 100
)

// Replicates of the bootstrap: mostReplicates, but fewer where there are many pools, for the sake
// of memory, yet not below leastReplicates.
const (
	mostReplicates  = 448
	leastReplicates = 128
	resamplingSize  = 1 << 22
)

// NewJoint prepares the second reading of the samples that the fit's counts are of. seed is for the
// signs of the bootstrap. The error is the context's.
func NewJoint(ctx context.Context, f *Fit, seed uint64) (*Joint, error) {
	c := f.counts
	cells := c.Levels * c.Parts()
	j := &Joint{counts: c, fit: f, local: newLocal(f.R, f.Sigma, c.Levels, f.positions, f.l.grid),
		right: make([][2]float64, cells), random: rand.NewPCG(seed, 0x5ca1ab1e)}
	j.inverse, j.regular = f.inverse()
	j.slopes = [2]float64{1, 1}
	if f.l.grid.spread > 0 { // s² − σ² is the same for all σ
		j.slopes[1] = (f.s() / f.Sigma) * (f.s() / f.Sigma)
	}
	for at := range j.right {
		if at%c.Parts() == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		j.right[at] = j.rightScores(at)
	}
	if err := j.makePools(ctx); err != nil {
		return nil, err
	}
	j.replicates = min(max(resamplingSize/max(len(j.pools), cells), leastReplicates), mostReplicates) / 64 * 64
	j.signs = make([]float64, j.replicates)
	j.cells = make([]float64, cells*j.replicates)
	j.sums = make([]float64, len(j.pools)*j.replicates)
	j.scores = [2][]float64{make([]float64, j.replicates), make([]float64, j.replicates)}
	return j, nil
}

// rightScores are the scores of a sample of a cell without a wrong bit.
func (j *Joint) rightScores(at int) (s [2]float64) {
	if samples, _ := j.counts.At(at); samples == 0 {
		return s
	}
	for k := range j.counts.Bits {
		if e, q := j.local.rate(at, k); e < 1 {
			o := -e / (1 - e)
			s[0] += o
			s[1] += o * q
		}
	}
	return s
}

// Add takes a sample of row i, from 0, with the label y, in levels, and the given wrong bits, from
// 0: samples in the same order give the same results.
func (j *Joint) Add(i int, y float64, wrong []int) {
	at := j.counts.Cell(i, y)
	right := j.right[at]
	a, b := right[0], right[1]
	j.drawSigns()
	floats.Add(replicatesOf(j.cells, at, j.replicates), j.signs)
	erring := uint64(0)
	for _, k := range wrong {
		if len(j.local.positions[k]) == 0 {
			continue
		}
		erring = 1
		e, slope := j.local.rate(at, k)
		over := 1 - e
		if over == 0 {
			over = 1
		}
		a += 1 / over
		b += slope / over
		floats.Add(replicatesOf(j.sums, int(j.pool[i*j.counts.Bits+k]), j.replicates), j.signs)
	}
	j.Erring += erring
	j.addScores(a-right[0], b-right[1], j.signs)
	u := [2]float64{j.inverse[0]*a + j.inverse[1]*b, j.inverse[1]*a + j.inverse[2]*b}
	for p, u := range u {
		u *= j.slopes[p]
		j.Spread.Square[p] += u * u
		j.Spread.Fourth[p] += u * u * u * u
	}
}

// drawSigns draws the signs of a sample.
func (j *Joint) drawSigns() {
	const one = 0x3ff0000000000000
	for i := 0; i < len(j.signs); i += 64 {
		word := j.random.Uint64()
		for bit := range 64 {
			j.signs[i+bit] = math.Float64frombits(one | word<<63)
			word >>= 1
		}
	}
}

// addScores adds scores times signs.
func (j *Joint) addScores(a, b float64, signs []float64) {
	if a != 0 {
		floats.AddScaled(j.scores[0], a, signs)
		floats.AddScaled(j.scores[1], b, signs)
	}
}

// replicatesOf are the numbers of row at of a table with a column for each replicate.
func replicatesOf(table []float64, at, replicates int) []float64 {
	return table[at*replicates : (at+1)*replicates]
}
