package montecarlo

import "slices"

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
func (p *rowPlan) prepare(problem *Problem, i int) error {
	var err error
	if p.e, err = problem.Row(p.e, i); err != nil {
		return err
	}
	p.row = i
	word := problem.Code.Word(i)
	if p.hazard == nil {
		p.hazard = make([]float64, len(p.e))
		p.base = make([]uint64, len(word))
	}
	copy(p.base, word)
	p.total = 0
	for k, e := range p.e {
		if e > 0.5 {
			p.base[k/64] ^= 1 << (k % 64)
			e = 1 - e // exact for e in [½, 1]
		}
		p.hazard[k] = hazard(e)
		p.total += p.hazard[k]
	}
	if p.any = p.total > 0; p.any {
		p.point.prepare(p.total)
		newAliasTable(&p.alias, p.hazard, &p.scratch)
	}
	return nil
}

// hazard returns −ln(1−e) for e in [0, ½].
//
// It is 2·artanh(s) with s = e/(2−e) ≤ ⅓, a series of odd powers of s. What is
// left out after s³⁵/35 is below s³⁷/37/(1−s²) < 2⁻⁶³·s. Not math.Log1p,
// because every processor and device must give the same bits: the operations
// are those of IEEE 754, in this order, and the conversions keep a compiler
// from fusing a product with a sum.
func hazard(e float64) float64 {
	if e == 0 {
		return 0
	}
	s := e / (2 - e)
	x := float64(s * s)
	sum := 0.0
	for n := hazardTerms - 1; n > 0; n-- {
		sum = float64(x * (sum + hazardSeries[n]))
	}
	return 2 * (s + float64(s*sum))
}

const hazardTerms = 18

// hazardSeries[n] is 1/(2n+1), the coefficient of s²ⁿ⁺¹.
var hazardSeries = [hazardTerms]float64{
	1, 1. / 3, 1. / 5, 1. / 7, 1. / 9, 1. / 11, 1. / 13, 1. / 15, 1. / 17,
	1. / 19, 1. / 21, 1. / 23, 1. / 25, 1. / 27, 1. / 29, 1. / 31, 1. / 33, 1. / 35,
}

// Plan is what sampling one label takes besides random numbers. It is plain
// data, made for backends that make the same on a device: their tables must
// equal these to the last bit.
type Plan struct {
	Base    []uint64     // the likeliest output: the code word, bits with e > ½ toggled
	Hazard  float64      // mean number of points of a sample
	Classes []PointClass // none when no bit can err
	Columns []Column     // a power of two of them; none when no bit can err
}

// PointClass is one number of points that a sample may have.
type PointClass struct {
	Points int
	Share  uint64 // P(this class | none before it) · 2⁶⁴; the last class takes what is left
}

// Column is one of equally likely columns of an alias table.
type Column struct {
	Share      uint64 // P(own | this column) · 2⁶⁴
	Own, Alias uint16 // bits of the code, from 0
}

// Plan returns the plan of row i.
func (p *Problem) Plan(i int) (*Plan, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	var r rowPlan
	if err := r.prepare(p, i); err != nil {
		return nil, err
	}
	plan := &Plan{Base: r.base, Hazard: r.total}
	if r.any {
		for j, points := range r.point.points {
			plan.Classes = append(plan.Classes, PointClass{points, r.point.share[j]})
		}
		plan.Columns = slices.Clone(r.alias.columns)
	}
	return plan, nil
}

// MaxClasses is the largest number of classes, and of likely numbers of points
// before they are chosen from, that any row of the given number of bits has.
func MaxClasses(bits int) int {
	// No hazard exceeds ln 2, and a larger mean has a wider law.
	below, above := likelyPoints(nil, nil, float64(bits)*hazard(0.5))
	return len(below) + len(above) + 2
}
