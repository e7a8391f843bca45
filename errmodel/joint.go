package errmodel

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/code"
)

// Joint is what a second reading of the samples tells, when a fit is known: how far the
// estimates of r and σ are from the truth (Spread), how the bits of a sample err together
// (SharedNoise), and how far the counts may be from a model by chance (Goodness). Its memory does
// not grow with the number of samples. Use it on one goroutine.
type Joint struct {
	Spread Spread
	Erring uint64 // samples with a wrong bit; bits without a transition do not count

	code    *code.Code
	counts  *Counts
	fit     *Fit
	local   *local
	inverse [3]float64 // of the information: rr, rσ, σσ
	scores  [3]float64 // Σ of the products of the scores: rr, rσ, σσ
	bits    []int      // those with transitions
	slopes  [][]int8   // of every row: those of the wrong bit, ±1 and 0

	misfit *mat.Dense   // observed less fitted rate of a level, where it has many samples; else 0
	cells  []cellBase   // of a sample without an error
	excess []excessSums // by coarse cell
	coarse int          // coarse cells of a level

	chance *chance
}

// cellBase are the sums of a sample of a cell without a wrong bit.
type cellBase struct {
	a, b    float64 // scores
	r, q    float64 // Σ g·(x−h) and Σ (x−h)², with h the rate of a bit
	factor  float64 // n/(n−1) where h is the observed rate of the level
	samples float64
}

// excessSums are sums over the samples of a coarse cell.
type excessSums struct{ n, v, vv, va, vb, a, b float64 }

// FewestErring is the number of samples with a wrong bit from which on intervals hold the truth as
// often as they say, and FewestTested from which on the test of the model has as many false alarms as it
// says: see testdata/coverage. With fewer, the estimates are all there is.
const (
	FewestErring = 30
	FewestTested = 100
)

// manySamples is the number of samples of a level from which on its observed rates are taken for
// the excess, instead of the fitted ones, so that a misfit of the model is not taken for
// dependence. The mean of so many samples uses up one of them, and hardly more of the
// information.
const manySamples = 20

// A level is cut in coarse cells for the excess: so many in the width σ that the error
// probabilities hardly differ within one. coarseNumbers is about the largest number of cells times
// bits.
const (
	coarseInSigma = 6
	coarseNumbers = 1 << 22
)

// NewJoint prepares the second reading. f is the fit to the counts. seed is for the signs of the
// resampling (see Goodness). aside are the bits, from 0, that are left out as bits without transitions
// are; f is the fit of the others. The error is about the sizes, or the context's.
func NewJoint(ctx context.Context, c *code.Code, counts *Counts, f *Fit, seed uint64, aside ...int) (*Joint, error) {
	if err := counts.check(); err != nil {
		return nil, err
	}
	if counts.Levels != c.Levels() || counts.Bits != c.Bits() {
		return nil, fmt.Errorf("counts of %d levels and %d bits for a code of %d and %d", counts.Levels, counts.Bits, c.Levels(), c.Bits())
	}
	levels, m, parts := counts.Levels, counts.Bits, counts.Parts()
	j := &Joint{code: c, counts: counts, fit: f, coarse: 1}
	positions := slices.Clone(c.Transitions())
	for _, k := range aside {
		positions[k] = nil
	}
	j.local = f.local(positions, newGrid(counts), levels)
	j.inverse[0], j.inverse[1], j.inverse[2], _ = f.inverse()
	for j.coarse < parts && float64(j.coarse)*f.Sigma.Value < coarseInSigma && levels*m*j.coarse*2 <= coarseNumbers {
		j.coarse *= 2
	}
	for k, at := range positions {
		if len(at) > 0 {
			j.bits = append(j.bits, k)
		}
	}
	slopes := c.Slopes()
	j.slopes = make([][]int8, levels)
	for i := range j.slopes {
		row := make([]int8, m)
		slopes.Row(row, i)
		for k, d := range row {
			if c.Bit(i, k) { // a one that errs becomes a zero
				row[k] = -d
			}
		}
		j.slopes[i] = row
	}
	j.misfit = mat.NewDense(levels, m, nil)
	j.cells = make([]cellBase, levels*parts)
	j.excess = make([]excessSums, levels*j.coarse)
	for i := range levels {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		j.setMisfit(i)
		for at := i * parts; at < (i+1)*parts; at++ {
			j.setBase(i, at)
		}
	}
	var err error
	j.chance, err = newChance(ctx, counts, j.local, j.inverse, seed)
	return j, err
}

// setMisfit sets the misfit of row i.
func (j *Joint) setMisfit(i int) {
	n, parts := float64(j.counts.Samples[i]), j.counts.Parts()
	if n < manySamples {
		return
	}
	row := j.misfit.RawRowView(i)
	for k, x := range j.counts.Row(i) {
		row[k] = float64(x) / n
	}
	for at := i * parts; at < (i+1)*parts; at++ {
		samples, _ := j.counts.cell(at)
		if samples == 0 {
			continue
		}
		for _, k := range j.bits {
			if !j.local.far(at, k) {
				e, _ := j.local.bit(at, k)
				row[k] -= e * float64(samples) / n
			}
		}
	}
}

// setBase sets the sums of a cell of row i.
func (j *Joint) setBase(i, at int) {
	samples, _ := j.counts.cell(at)
	b := cellBase{factor: 1, samples: float64(samples)}
	if samples == 0 {
		return
	}
	if n := float64(j.counts.Samples[i]); n >= manySamples {
		b.factor = n / (n - 1)
	}
	for _, k := range j.bits {
		var e, q float64
		if !j.local.far(at, k) {
			e, q = j.local.bit(at, k)
			if e < 1 {
				o := -e / (1 - e)
				b.a += o
				b.b += o * q
			}
		}
		if g := float64(j.slopes[i][k]); g != 0 {
			h := e + j.misfit.At(i, k)
			b.r -= g * h
			b.q += h * h
		}
	}
	j.cells[at] = b
}

// Add takes a sample of row i, from 0, with the label y, in levels, and the given wrong bits, from
// 0: samples in the same order give the same results.
func (j *Joint) Add(i int, y float64, wrong []int) {
	at := j.counts.Cell(i, y)
	base := &j.cells[at]
	a, b, r, q := base.a, base.b, base.r, base.q
	j.chance.sample(at)
	erring := uint64(0)
	for _, k := range wrong {
		if len(j.local.positions[k]) == 0 {
			continue
		}
		erring = 1
		e, slope := j.local.bit(at, k)
		if e < 1 {
			a += 1 / (1 - e)
			b += slope / (1 - e)
		} else {
			a++
			b += slope
		}
		if g := float64(j.slopes[i][k]); g != 0 {
			h := e + j.misfit.At(i, k)
			r += g
			q += 1 - 2*h
		}
		j.chance.wrong(i, k)
	}
	j.Erring += erring
	j.chance.score(a-base.a, b-base.b)
	u := [2]float64{j.inverse[0]*a + j.inverse[1]*b, j.inverse[1]*a + j.inverse[2]*b}
	if g := j.local.grid; g.spread > 0 { // from ln s to ln σ
		u[1] *= (j.fit.s() / j.fit.Sigma.Value) * (j.fit.s() / j.fit.Sigma.Value)
	}
	for p, u := range u {
		j.Spread.Square[p] += u * u
		j.Spread.Fourth[p] += u * u * u * u
	}
	v := (r*r - q) * base.factor
	sums := &j.excess[j.coarseOf(i, at)]
	sums.n++
	sums.v += v
	sums.vv += v * v
	sums.a += a
	sums.b += b
	j.scores[0] += a * a
	j.scores[1] += a * b
	j.scores[2] += b * b
	sums.va += v * a
	sums.vb += v * b
}

// coarseOf is the coarse cell of a cell of row i.
func (j *Joint) coarseOf(i, at int) int {
	parts := j.counts.Parts()
	return i*j.coarse + (at-i*parts)*j.coarse/parts
}

// Excess is the mean over the samples of the variance of the displacement
//
//	D = Σ_k d_k·(b_k − C[n,k])
//
// minus the variance that independent errors would give. d_k = ±1 is the direction in
// which bit k changes at its nearest transition (code.Slopes). For unary, D is the
// error of the decoded level.
func (j *Joint) Excess() float64 {
	var n, v float64
	for _, s := range j.excess {
		n += s.n
		v += s.v
	}
	if n == 0 {
		return math.NaN()
	}
	return v / n
}
