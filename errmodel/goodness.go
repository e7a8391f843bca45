package errmodel

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Goodness says how well a table e[n,k] describes counts of wrong outputs.
//
// Most cells (level, bit) are far from a transition and expect no error. A deviance over
// cells would hardly notice an error of their sum. So the levels of a bit are pooled in
// the order of their e, the largest first, until a pool expects five wrong and five right
// outputs. The remaining levels of a bit, far from its transitions, are one more pool.
type Goodness struct {
	// Deviance is 2·Σ [x·ln(x/(N·e)) + (N−x)·ln((N−x)/(N·(1−e)))] over the pools,
	// where e is the mean of a pool.
	Deviance float64
	// DoF is the number of pools minus the number of fitted parameters.
	DoF int
	// Expected and SD are the mean and the standard deviation of the deviance if the table is
	// right and the outputs err independently. For pools of few errors they differ a little
	// from the values of χ².
	Expected, SD float64
	// P is the probability of a deviance at least this large, if the table is right. It
	// uses the normal distribution, because the deviance is a sum over many pools.
	P float64
	// Null is the deviance of a model with one error rate for all cells.
	Null float64
	// Worst are the cells that contribute most, the largest first.
	Worst []Departure
}

// pool is some levels of a bit together.
type pool struct{ n, wrong, expected float64 }

// enough is the number of wrong, and of right, outputs that a pool expects.
const enough = 5

// poolLevels adds the pools of bit k, whose levels are given by falling e.
func poolLevels(pools []pool, c *Counts, levels []int, e []float64, k int) []pool {
	var p pool
	for _, i := range levels {
		n := float64(c.Samples[i])
		p.n += n
		p.wrong += float64(c.Row(i)[k])
		p.expected += n * e[i]
		if p.expected >= enough && p.n-p.expected >= enough {
			pools = append(pools, p)
			p = pool{}
		}
	}
	if p.n > 0 {
		pools = append(pools, p)
	}
	return pools
}

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

// NewGoodness compares counts with a table e, L × M. parameters is the number of
// parameters that were fitted to the counts. Bits without transitions are left out.
func NewGoodness(c *Counts, positions [][]int, e mat.Matrix, parameters int) (*Goodness, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if rows, columns := e.Dims(); rows != c.Levels || columns != c.Bits || len(positions) != c.Bits {
		return nil, fmt.Errorf("counts of %d levels and %d bits, a table of %d × %d and transitions of %d bits", c.Levels, c.Bits, rows, columns, len(positions))
	}
	g := &Goodness{DoF: -parameters, Expected: -float64(parameters)}
	var n, wrong float64
	var pools []pool
	column := make([]int, 0, c.Levels)
	values := make([]float64, c.Levels)
	for k, at := range positions {
		if len(at) == 0 {
			continue
		}
		column = column[:0]
		for i, samples := range c.Samples {
			if samples == 0 {
				continue
			}
			column = append(column, i)
			// A probability that underflowed to zero is tiny, not impossible.
			values[i] = min(max(e.At(i, k), math.SmallestNonzeroFloat64), 1)
			x := c.Row(i)[k]
			n += float64(samples)
			wrong += float64(x)
			d := binomialDeviance(float64(samples), float64(x), values[i])
			g.Worst = append(g.Worst, Departure{Level: i + 1, Bit: k + 1, Samples: samples, Wrong: x, Fitted: values[i], Deviance: d})
		}
		slices.SortStableFunc(column, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
		pools = poolLevels(pools, c, column, values, k)
		if len(g.Worst) > 64*worstCells {
			g.Worst = worst(g.Worst)
		}
	}
	variance := 0.0
	for _, p := range pools {
		rate := min(p.expected/p.n, 1)
		mean, v := devianceMoments(p.n, rate)
		g.Deviance += binomialDeviance(p.n, p.wrong, rate)
		g.Expected += mean
		variance += v
		g.Null += binomialDeviance(p.n, p.wrong, wrong/n)
		g.DoF++
	}
	g.Worst = worst(g.Worst)
	g.Expected = max(0, g.Expected)
	g.SD = math.Sqrt(variance)
	g.P = 1
	if g.SD > 0 {
		g.P = distuv.UnitNormal.Survival((g.Deviance - g.Expected) / g.SD)
	}
	return g, nil
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
