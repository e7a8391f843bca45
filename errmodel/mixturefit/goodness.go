package mixturefit

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Goodness says how well fitted error probabilities describe counts of wrong outputs.
//
// Most cells (level, bit) are far from a transition and expect no error. A deviance over
// cells would hardly notice an error of their sum. So the levels of a bit are pooled in
// the order of their e, the largest first, until a pool expects five wrong and five right
// outputs, or more where there are very many. The other levels of the bit are one more pool.
type Goodness struct {
	// Deviance is 2·Σ [x·ln(x/(N·e)) + (N−x)·ln((N−x)/(N·(1−e)))] over the pools,
	// where e is the mean of a pool.
	Deviance float64
	// DoF is the number of pools minus the number of fitted parameters.
	DoF int
	// Expected and SD are the mean and the standard deviation of the deviance if the table is right, and P
	// is the probability of a deviance at least this large then: see Joint.Goodness.
	Expected, SD, P float64
	// Null is the deviance of a model with one error rate for all cells.
	Null float64
	// Worst are the cells that contribute most, the largest first.
	Worst []Departure
}

// pool is some levels of a bit together.
type pool struct {
	n, wrong, expected float64
	variance           float64 // Σ e·(1−e) over its outputs
	slope              float64 // derivative of expected by ln s; that by ln r is expected
}

// rate is the mean of e.
func (p *pool) rate() float64 { return min(p.expected/p.n, 1) }

// narrower is the variance of the number of wrong outputs over the variance of a binomial one
// with the mean of e: below 1 where e varies within the pool.
func (p *pool) narrower() float64 {
	v := p.n * p.rate() * (1 - p.rate())
	if !(v > 0) {
		return 1
	}
	return min(1, p.variance/v)
}

// A pool expects enough wrong and enough right outputs, and more where there are so many errors
// that there would be more than about mostPools pools.
const (
	enough    = 5
	mostPools = 1 << 14
)

// Departure is a cell in which counts and table disagree.
type Departure struct {
	Level, Bit     int // from 1
	Samples, Wrong uint64
	Fitted         float64 // e[n,k]
	Deviance       float64
}

// Explained is the share of the null deviance that the table removes. Chance is not
// counted: the share is 1 where only chance remains.
func (g Goodness) Explained() float64 {
	if !(g.Null > g.Expected) {
		return math.NaN()
	}
	return 1 - max(0, g.Deviance-g.Expected)/(g.Null-g.Expected)
}

// worstCells is the largest number of departures in Worst.
const worstCells = 5

// makePools finds the pools of all bits, and the departures.
func (j *Joint) makePools(ctx context.Context) error {
	j.pool = slices.Repeat([]int32{-1}, len(j.counts.Wrong))
	_, wrong := j.counts.Total()
	j.enough = max(enough, float64(wrong)/mostPools)
	for k, at := range j.local.positions {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(at) > 0 {
			j.poolBit(k)
		}
	}
	j.worst = worst(j.worst)
	return nil
}

// poolBit adds the pools of bit k.
func (j *Joint) poolBit(k int) {
	var levels []int
	each := make([]pool, j.counts.Levels)
	for i, samples := range j.counts.Samples {
		if samples == 0 {
			continue
		}
		p := j.level(i, k)
		levels, each[i] = append(levels, i), p
		j.worst = append(j.worst, Departure{Level: i + 1, Bit: k + 1, Samples: samples, Wrong: uint64(p.wrong), Fitted: p.rate(), Deviance: binomialDeviance(p.n, p.wrong, max(p.rate(), math.SmallestNonzeroFloat64))})
	}
	if len(j.worst) > 64*worstCells {
		j.worst = worst(j.worst)
	}
	slices.SortStableFunc(levels, func(a, b int) int { return cmp.Compare(each[b].rate(), each[a].rate()) })
	var p pool
	for at, i := range levels {
		j.pool[i*j.counts.Bits+k] = int32(len(j.pools))
		o := &each[i]
		p = pool{p.n + o.n, p.wrong + o.wrong, p.expected + o.expected, p.variance + o.variance, p.slope + o.slope}
		if p.expected >= j.enough && p.n-p.expected >= j.enough || at == len(levels)-1 {
			j.pools, p = append(j.pools, p), pool{}
		}
	}
}

// level is a level of a bit, both from 0, as a pool.
func (j *Joint) level(i, k int) pool {
	parts := j.counts.Parts()
	p := pool{n: float64(j.counts.Samples[i]), wrong: float64(j.counts.Row(i)[k])}
	for cell := i * parts; cell < (i+1)*parts; cell++ {
		if n, _ := j.counts.At(cell); n > 0 {
			e, q := j.local.rate(cell, k)
			p.expected += float64(n) * e
			p.variance += float64(n) * e * (1 - e)
			p.slope += float64(n) * e * q
		}
	}
	// A probability that underflowed to zero is tiny, not impossible.
	p.expected = max(p.expected, math.SmallestNonzeroFloat64)
	return p
}

// Goodness compares the counts with the fit. It is called after the last sample. The error is the
// context's.
//
// The distribution of the deviance under the fit is a gamma distribution with three moments:
//
//   - Each pool has one output of a sample. Its own deviance is therefore that of a binomial count,
//     whose mean and variance are exact. Expected is the sum of these means, less what fitting r and σ
//     takes away: in the bootstrap, the mean by which Σ (x−e)²/variance falls when both are fitted again.
//   - The bits of a sample err together, so that pools vary together. The bootstrap's variance of
//     Σ (x−e)²/variance has this. It takes 2, the variance of χ²₁, for each pool by itself; the
//     binomial variance takes its place.
//   - The skewness is the bootstrap's.
func (j *Joint) Goodness(ctx context.Context) (*Goodness, error) {
	const parameters = 2
	g := &Goodness{DoF: len(j.pools) - parameters, Worst: j.worst, P: 1}
	var n, wrong float64
	for _, p := range j.pools {
		n += p.n
		wrong += p.wrong
	}
	variance := 0.0
	for i := range j.pools {
		p := &j.pools[i]
		mean, v := devianceMoments(p.n, p.rate())
		narrow := p.narrower()
		g.Deviance += binomialDeviance(p.n, p.wrong, p.rate())
		g.Expected += narrow * mean
		g.Null += binomialDeviance(p.n, p.wrong, wrong/n)
		variance += narrow * narrow * (v - 2)
	}
	whole, rest, err := j.resampled(ctx)
	if err != nil {
		return nil, err
	}
	second, third := 0.0, 0.0
	if _, sd := stat.MeanStdDev(rest, nil); sd > 0 {
		second, third = sd*sd, stat.Skew(rest, nil)
	}
	for i, v := range whole {
		g.Expected += (rest[i] - v) / float64(len(whole))
	}
	g.Expected = max(0, g.Expected)
	g.SD = math.Sqrt(max(0, variance+second))
	if !(g.SD > 0) || g.DoF <= 0 {
		return g, nil
	}
	skewness := min(max(third, math.Sqrt(8/float64(g.DoF))), math.Sqrt(8))
	shape := 4 / (skewness * skewness)
	g.P = distuv.Gamma{Alpha: shape, Beta: 1}.Survival(max(0, shape+(g.Deviance-g.Expected)/g.SD*math.Sqrt(shape)))
	return g, nil
}

// resampled returns Σ (x−e)²/variance over the pools for every replicate: whole with the parameters as
// they are, and rest with both fitted again.
func (j *Joint) resampled(ctx context.Context) (whole, rest []float64, err error) {
	b, m, parts := j.replicates, j.counts.Bits, j.counts.Parts()
	for cell := range j.right {
		if n, _ := j.counts.At(cell); n == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		signs := replicatesOf(j.cells, cell, b)
		for k, at := range j.pool[cell/parts*m : (cell/parts+1)*m] {
			e, q := j.local.rate(cell, k)
			if at < 0 || e == 0 {
				continue
			}
			floats.AddScaled(replicatesOf(j.sums, int(at), b), -e, signs)
			if e < 1 {
				j.addScores(-e/(1-e), -e/(1-e)*q, signs)
			}
		}
	}
	whole, rest = make([]float64, b), make([]float64, b)
	r := j.inverse
	for i, p := range j.pools {
		v := p.n * p.rate() * (1 - p.rate())
		if !(v > 0) {
			continue
		}
		// The fitted parameters move by I⁻¹·score, and the mean with them.
		ca, cb := p.expected*r[0]+p.slope*r[1], p.expected*r[1]+p.slope*r[2]
		for t, x := range replicatesOf(j.sums, i, b) {
			y := x - ca*j.scores[0][t] - cb*j.scores[1][t]
			whole[t] += x * x / v
			rest[t] += y * y / v
		}
	}
	return whole, rest, nil
}

// worst keeps the largest departures.
func worst(cells []Departure) []Departure {
	slices.SortStableFunc(cells, func(a, b Departure) int { return cmp.Compare(b.Deviance, a.Deviance) })
	return cells[:min(len(cells), worstCells)]
}

// binomialDeviance is twice the log-likelihood ratio of x of n, against e.
func binomialDeviance(n, x, e float64) float64 {
	d := 0.0
	if x > 0 {
		d += x * (math.Log(x/n) - math.Log(e))
	}
	if x < n {
		d += (n - x) * (math.Log1p(-x/n) - math.Log1p(-e))
	}
	return max(0, 2*d)
}

// manyErrors is the number of expected errors, and of expected right outputs, from which
// on the moments of a deviance come from an expansion. The next term of the expansion is
// of the order of the square of its first, 1/(6·30)² ≈ 3·10⁻⁵.
const manyErrors = 30

// devianceMoments returns the mean and the variance of binomialDeviance(n, X, e) for
// a binomial X: by summation where few errors are expected, by the expansion of
// the likelihood ratio's cumulants (χ²₁'s, times 1 + (1−pq)/(6·n·pq)) elsewhere.
func devianceMoments(n, e float64) (mean, variance float64) {
	if e > 0.5 {
		e = 1 - e // x of n against e is n−x of n against 1−e
	}
	if e == 0 {
		return 0, 0
	}
	pq := e * (1 - e)
	if n*e > manyErrors {
		scale := 1 + (1-pq)/(6*n*pq) // Bartlett's factor
		return scale, 2 * scale * scale
	}
	// P(X=x+1)/P(X=x) = (n−x)/(x+1)·e/(1−e).
	p := math.Exp(n * math.Log1p(-e))
	if p == 0 {
		return 1, 2 // not reached: n·e ≤ 30 makes p above e⁻⁴⁵
	}
	var m1, m2 float64
	for x := 0.0; x <= n; x++ {
		d := binomialDeviance(n, x, e)
		m1 += p * d
		m2 += p * d * d
		if x > n*e+2 && p*d*d < 1e-18*m2 { // beyond the mean, where d is zero
			break
		}
		p *= (n - x) / (x + 1) * e / (1 - e)
	}
	return m1, max(0, m2-m1*m1)
}
