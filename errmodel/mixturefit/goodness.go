package mixturefit

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel"
)

// Goodness says how well fitted error probabilities describe counts of wrong outputs.
//
// Most cells (level, bit) are far from a transition and expect no error. A deviance over
// cells would hardly notice an error of their sum. So the levels of a bit are pooled in
// the order of their e, the largest first, until a pool expects five wrong and five right
// outputs, or more where there are very many. The remaining levels of a bit, far from its transitions, are one more pool.
type Goodness struct {
	// Deviance is 2·Σ [x·ln(x/(N·e)) + (N−x)·ln((N−x)/(N·(1−e)))] over the pools,
	// where e is the mean of a pool.
	Deviance float64
	// DoF is the number of pools minus the number of fitted parameters.
	DoF int
	// Expected and SD are the mean and the standard deviation of the deviance if the
	// table is right. A pool has one output of a sample, so its own deviance is a binomial one,
	// with exact moments. How the pools vary together, because the bits of a sample err together
	// and because r and σ were fitted to them, comes from the samples: see Joint.Goodness.
	Expected, SD float64
	// Skewness is the skewness of the deviance if the table is right.
	Skewness float64
	// P is the probability of a deviance at least this large, if the table is right, by the gamma
	// distribution of these three moments.
	P float64
	// Null is the deviance of a model with one error rate for all cells.
	Null float64
	// Worst are the cells that contribute most, the largest first.
	Worst []Departure
}

// pool is some levels of a bit together.
type pool struct {
	n, wrong, expected float64
	variance           float64 // Σ e·(1−e) over its outputs
	da, db             float64 // derivatives of expected by ln r and ln s
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

// enough is the number of wrong, and of right, outputs that a pool expects: more where there are so
// many errors that there would be more than about mostPools pools.
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

// chance holds the fit's pools, and resamples how far chance takes them from the counts. For
// each of many replicates, every sample gets a random sign ±1. The sums over the samples of
// sign × (x − e) then vary as the sums of x − e would if the samples were drawn again, together with
// everything that they have in common (Wu, Annals of Statistics 14, 1261, 1986): however the bits of a
// sample depend on each other.
type chance struct {
	counts  *errmodel.Counts
	local   *local
	inverse [3]float64 // of the information: rr, rσ, σσ
	enough  float64
	pools   []pool
	pool    []int32 // of every level and bit, L × M; −1 where none
	worst   []Departure

	replicates int
	random     *rand.PCG
	signs      []float64
	cells      []float64    // Σ sign by cell, times replicates
	sums       []float64    // Σ sign·x by pool
	scores     [2][]float64 // Σ sign·score of the wrong outputs, of ln r and ln s
}

// Replicates of the resampling: mostReplicates, but fewer where there are many pools, for the sake
// of memory, yet not below leastReplicates.
const (
	mostReplicates  = 448
	leastReplicates = 128
	resamplingSize  = 1 << 22
)

// newChance finds the pools of a fit.
func newChance(ctx context.Context, counts *errmodel.Counts, l *local, inverse [3]float64, seed uint64) (*chance, error) {
	levels, m := counts.Levels, counts.Bits
	h := &chance{counts: counts, local: l, inverse: inverse, pool: make([]int32, levels*m), random: rand.NewPCG(seed, 0x5ca1ab1e)}
	for i := range h.pool {
		h.pool[i] = -1
	}
	_, wrong := counts.Total()
	h.enough = max(enough, float64(wrong)/mostPools)
	for k, at := range l.positions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(at) > 0 {
			h.poolBit(k)
		}
	}
	h.worst = worst(h.worst)
	h.replicates = min(max(resamplingSize/max(len(h.pools), levels*counts.Parts()), leastReplicates), mostReplicates) / 64 * 64
	h.signs = make([]float64, h.replicates)
	h.cells = make([]float64, levels*counts.Parts()*h.replicates)
	h.sums = make([]float64, len(h.pools)*h.replicates)
	h.scores = [2][]float64{make([]float64, h.replicates), make([]float64, h.replicates)}
	return h, nil
}

// at returns e and ∂ln e/∂ln s of a bit at a cell.
func (h *chance) at(cell, k int) (e, q float64) {
	if h.local.far(cell, k) {
		return 0, 0
	}
	return h.local.bit(cell, k)
}

// poolBit adds the pools of bit k.
func (h *chance) poolBit(k int) {
	parts := h.counts.Parts()
	var levels []int
	each := make([]pool, h.counts.Levels)
	for i, samples := range h.counts.Samples {
		if samples == 0 {
			continue
		}
		p := pool{n: float64(samples), wrong: float64(h.counts.Row(i)[k])}
		for cell := i * parts; cell < (i+1)*parts; cell++ {
			n, _ := h.counts.At(cell)
			if n == 0 {
				continue
			}
			e, q := h.at(cell, k)
			p.expected += float64(n) * e
			p.variance += float64(n) * e * (1 - e)
			p.da += float64(n) * e
			p.db += float64(n) * e * q
		}
		// A probability that underflowed to zero is tiny, not impossible.
		p.expected = max(p.expected, math.SmallestNonzeroFloat64)
		levels = append(levels, i)
		each[i] = p
		h.worst = append(h.worst, Departure{Level: i + 1, Bit: k + 1, Samples: samples, Wrong: uint64(p.wrong), Fitted: p.rate(), Deviance: binomialDeviance(p.n, p.wrong, max(p.rate(), math.SmallestNonzeroFloat64))})
	}
	if len(h.worst) > 64*worstCells {
		h.worst = worst(h.worst)
	}
	slices.SortStableFunc(levels, func(a, b int) int { return cmp.Compare(each[b].rate(), each[a].rate()) })
	var p pool
	members := 0
	end := func() {
		h.pools = append(h.pools, p)
		p, members = pool{}, 0
	}
	for _, i := range levels {
		o := &each[i]
		h.pool[i*h.counts.Bits+k] = int32(len(h.pools))
		p.n += o.n
		p.wrong += o.wrong
		p.expected += o.expected
		p.variance += o.variance
		p.da += o.da
		p.db += o.db
		members++
		if p.expected >= h.enough && p.n-p.expected >= h.enough {
			end()
		}
	}
	if members > 0 {
		end()
	}
}

// sample takes the signs of a sample of a cell.
func (h *chance) sample(cell int) {
	const one = 0x3ff0000000000000
	for i := 0; i < len(h.signs); i += 64 {
		word := h.random.Uint64()
		for j := range 64 {
			h.signs[i+j] = math.Float64frombits(one | word<<63)
			word >>= 1
		}
	}
	floats.Add(h.cells[cell*h.replicates:(cell+1)*h.replicates], h.signs)
}

// wrong takes a wrong bit k of the sample, of row i.
func (h *chance) wrong(i, k int) {
	b := h.replicates
	at := int(h.pool[i*h.counts.Bits+k])
	floats.Add(h.sums[at*b:(at+1)*b], h.signs)
}

// score takes the scores of the wrong bits of the sample, less those of right ones.
func (h *chance) score(a, b float64) {
	if a != 0 {
		floats.AddScaled(h.scores[0], a, h.signs)
		floats.AddScaled(h.scores[1], b, h.signs)
	}
}

// Goodness compares the counts with the models. It is called after the last sample. The error is the
// context's.
//
// The law of the deviance comes from three moments. The mean is the sum of the exact means of the
// pools, less that part of the mean of the resampled Σ (x−e)²/variance that the fitted parameters
// take away. The variance is the resampled one, with the exact variances of the
// pools in the place of 2, the variance for a normal distribution: random signs leave out the terms
// of single samples, so that they estimate 2·Σ cov² without a bias. The skewness is the resampled one.
func (j *Joint) Goodness(ctx context.Context) (*Goodness, error) {
	h := j.chance
	const parameters = 2
	g := &Goodness{DoF: len(h.pools) - parameters, Worst: h.worst, P: 1}
	var n, wrong float64
	for _, p := range h.pools {
		n += p.n
		wrong += p.wrong
	}
	variance := 0.0
	for i := range h.pools {
		p := &h.pools[i]
		mean, v := devianceMoments(p.n, p.rate())
		narrow := p.narrower()
		g.Deviance += binomialDeviance(p.n, p.wrong, p.rate())
		g.Expected += narrow * mean
		g.Null += binomialDeviance(p.n, p.wrong, wrong/n)
		variance += narrow * narrow * (v - 2)
	}
	whole, rest, err := h.resampled(ctx)
	if err != nil {
		return nil, err
	}
	_, second, third := moments(rest)
	for i, v := range whole {
		g.Expected += (rest[i] - v) / float64(len(whole))
	}
	g.Expected = max(0, g.Expected)
	g.SD = math.Sqrt(max(0, variance+second))
	if !(g.SD > 0) || g.DoF <= 0 {
		return g, nil
	}
	g.Skewness = min(max(third, math.Sqrt(8/float64(g.DoF))), math.Sqrt(8))
	shape := 4 / (g.Skewness * g.Skewness)
	g.P = distuv.Gamma{Alpha: shape, Beta: 1}.Survival(max(0, shape+(g.Deviance-g.Expected)/g.SD*math.Sqrt(shape)))
	return g, nil
}

// moments are the mean, the variance and the skewness of numbers.
func moments(x []float64) (mean, variance, skewness float64) {
	mean, sd := stat.MeanStdDev(x, nil)
	if !(sd > 0) {
		return mean, 0, 0
	}
	return mean, sd * sd, stat.Skew(x, nil)
}

// resampled returns Σ (x−e)²/variance over the pools for every replicate, with the parameters as
// they are and fitted again.
func (h *chance) resampled(ctx context.Context) (whole, rest []float64, err error) {
	b, m, parts := h.replicates, h.counts.Bits, h.counts.Parts()
	for cell := range h.counts.Levels * parts {
		if n, _ := h.counts.At(cell); n == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		signs := h.cells[cell*b : (cell+1)*b]
		level := h.pool[cell/parts*m : (cell/parts+1)*m]
		for k, at := range level {
			if at < 0 {
				continue
			}
			e, q := h.at(cell, k)
			if e == 0 {
				continue
			}
			floats.AddScaled(h.sums[int(at)*b:(int(at)+1)*b], -e, signs)
			if e < 1 {
				floats.AddScaled(h.scores[0], -e/(1-e), signs)
				floats.AddScaled(h.scores[1], -e/(1-e)*q, signs)
			}
		}
	}
	whole, rest = make([]float64, b), make([]float64, b)
	r := h.inverse
	for i := range h.pools {
		p := &h.pools[i]
		v := p.n * p.rate() * (1 - p.rate())
		if !(v > 0) {
			continue
		}
		// The fitted parameters move by I⁻¹·score, and the mean with them.
		ca, cb := p.da*r[0]+p.db*r[1], p.da*r[1]+p.db*r[2]
		for t, x := range h.sums[i*b : (i+1)*b] {
			y := x - ca*h.scores[0][t] - cb*h.scores[1][t]
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
