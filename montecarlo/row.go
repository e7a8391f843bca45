package montecarlo

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/code"
	"belsim/theory/matrix"
)

// rowPlan is what sampling one label needs besides random numbers: plain
// arrays, the same for every backend.
//
// Independent bits that err with probabilities e_k are a Poisson process of
// unit rate on an axis where bit k owns a stretch of its hazard −ln(1−e_k): bit
// k errs iff a point lands on its stretch, which leaves it untouched with
// probability exp(−hazard) = 1−e_k. So a sample is a Poisson number of points
// and a place for each. A bit with e > ½ is toggled beforehand and errs with
// 1−e from there, so that no hazard exceeds ln 2 and e = 1 is exact.
type rowPlan struct {
	row   int
	base  []uint64 // the likeliest output: the code word, bits with e > ½ toggled
	any   bool     // some bit can err
	total float64  // sum of the hazards: mean number of points of a sample
	point pointCounts
	alias aliasTable

	e, hazard []float64
	scratch   aliasScratch
}

// prepare makes p the plan of row i. The error names an entry that is no
// probability.
func (p *rowPlan) prepare(c *code.Code, errors mat.Matrix, i int) error {
	p.row = i
	p.e = matrix.Row(p.e, i, errors)
	if p.hazard == nil {
		p.hazard = make([]float64, len(p.e))
		p.base = make([]uint64, len(c.Word(i)))
	}
	copy(p.base, c.Word(i))
	p.total = 0
	for k, e := range p.e {
		if e == 0 {
			p.hazard[k] = 0
			continue
		}
		if !(e > 0 && e <= 1) {
			return fmt.Errorf("e[%d,%d] = %v is no probability; want a number from 0 to 1", i+1, k+1, e)
		}
		if e > 0.5 {
			p.base[k/64] ^= 1 << (k % 64)
			e = 1 - e // exact for e in [½, 1]
		}
		p.hazard[k] = -math.Log1p(-e)
		p.total += p.hazard[k]
	}
	if p.any = p.total > 0; p.any {
		p.point = newPointCounts(p.total)
		newAliasTable(&p.alias, p.hazard, &p.scratch)
	}
	return nil
}
