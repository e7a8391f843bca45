package mixturefit

import (
	"context"
	"fmt"

	"belsim/errmodel"
)

// Joint is what a second reading of the samples tells, when a fit is known: how far the
// estimates of r and σ are from the truth (Spread), and how far the counts may be from a model by
// chance (Goodness), however the bits of a sample depend on each other. Its memory does not grow with
// the number of samples. Use it on one goroutine.
type Joint struct {
	Spread Spread
	Erring uint64 // samples with a wrong bit; bits without a transition do not count

	counts  *errmodel.Counts
	fit     *Fit
	local   *local
	inverse [3]float64   // of the information: rr, rσ, σσ
	right   [][2]float64 // by cell: the scores of r and s of a sample without a wrong bit

	chance *chance
}

// FewestErring is the number of samples with a wrong bit from which on intervals hold the truth as
// often as they say, and FewestTested from which on the test of the model has as many false alarms as it
// says: see testdata/coverage. With fewer, the estimates are all there is.
const (
	FewestErring = 30
	FewestTested = 100
)

// NewJoint prepares the second reading. f is the fit of all bits to the counts, and positions are the
// transitions of each bit; a bit without transitions is left out. seed is for the signs of the
// resampling (see Goodness). The error is about the sizes, or the context's.
func NewJoint(ctx context.Context, positions [][]int, counts *errmodel.Counts, f *Fit, seed uint64) (*Joint, error) {
	if err := counts.Check(); err != nil {
		return nil, err
	}
	if counts.Bits != len(positions) {
		return nil, fmt.Errorf("counts of %d bits for the transitions of %d", counts.Bits, len(positions))
	}
	j := &Joint{counts: counts, fit: f}
	j.local = f.local(positions, newGrid(counts), counts.Levels)
	j.inverse[0], j.inverse[1], j.inverse[2], _ = f.inverse()
	j.right = make([][2]float64, counts.Levels*counts.Parts())
	for at := range j.right {
		if at%counts.Parts() == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		j.right[at] = j.rightScores(at)
	}
	var err error
	j.chance, err = newChance(ctx, counts, j.local, j.inverse, seed)
	return j, err
}

// rightScores are the scores of a sample of a cell without a wrong bit.
func (j *Joint) rightScores(at int) (s [2]float64) {
	if samples, _ := j.counts.At(at); samples == 0 {
		return s
	}
	for k, ns := range j.local.positions {
		if len(ns) == 0 || j.local.far(at, k) {
			continue
		}
		if e, q := j.local.bit(at, k); e < 1 {
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
		j.chance.wrong(i, k)
	}
	j.Erring += erring
	j.chance.score(a-right[0], b-right[1])
	u := [2]float64{j.inverse[0]*a + j.inverse[1]*b, j.inverse[1]*a + j.inverse[2]*b}
	if g := j.local.grid; g.spread > 0 { // from ln s to ln σ
		u[1] *= (j.fit.s() / j.fit.Sigma.Value) * (j.fit.s() / j.fit.Sigma.Value)
	}
	for p, u := range u {
		j.Spread.Square[p] += u * u
		j.Spread.Fourth[p] += u * u * u * u
	}
}
