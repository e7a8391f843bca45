package montecarlo

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"belsim/theory/code"
	"belsim/theory/decode"
	"belsim/theory/matrix"
)

// Latent is the latent-Gaussian model of logits that has exactly the error
// probabilities of a problem:
//
//	Z_k = s_k·Φ⁻¹(1 − e[n,k]) + ε_k,  ε_k ~ N(0, 1),
//
// with s_k = ±1 the true bit and e clamped to [1e−12, 1 − 1e−12]. (A temperature
// that multiplies logits is gen-ex's own affair: other decoders do not see it.)
type Latent struct {
	// Hard makes the outputs the signs of the logits. Bits with e ≤ 1e−12 never
	// err then.
	Hard bool
	// Shared is ρ, from 0 to 1: the part of the noise's variance that is one
	// displacement of the perceived label, common to all bits,
	//
	//	ε_k = √ρ·d_k·ξ + √(1−ρ)·η_k,
	//
	// where d_k = ±1 is the direction in which bit k changes at its nearest
	// transition (code.Slopes). Every ε_k keeps the law N(0, 1), so every marginal
	// probability e[n,k] is what it was. Bits with d_k = 0 keep their own noise.
	Shared float64
	// Continuous, when set, makes labels real: those of level n are uniform on
	// [n−½, n+½], and the bits err with the probabilities at the label itself. The
	// labels are the middles of Sublevels equal parts of the level.
	Continuous Profile
}

// Profile gives error probabilities for real labels.
type Profile interface {
	// AtLabel sets dst, of length M, to the probabilities at a label y in
	// [½, L+½], levels.
	AtLabel(dst []float64, y float64)
}

// Sublevels is the number of labels in a level when labels are continuous. It is
// part of the numeric contract.
const Sublevels = 64

// Limits of a logit's mean, Φ⁻¹(1 − 1e−12), and of what a candidate may be left
// out for: see LatentPlan.
const (
	clampedError  = 1e-12
	sureDeviation = 7 // exceeded with probability 1.3·10⁻¹²
	// logWeight is −ln of the largest softmax weight, beside that of the true
	// level, of one that is left out, L levels sharing it.
	logWeight = 30 * math.Ln2
)

// realFraction is the number of binary digits of a level in which real errors are
// counted: those of decoders that answer with real numbers, and of any decoder when labels are
// continuous.
const realFraction = 16

// Fraction returns the number of binary digits of a level in which the problem's
// errors are counted: that of its Sums.
func (p *Problem) Fraction() uint8 {
	if decode.Real(p.Decoder) || p.Latent != nil && p.Latent.Continuous != nil {
		return realFraction
	}
	return 0
}

func (p *Problem) validateLatent() error {
	l := p.Latent
	if l == nil {
		if decode.Real(p.Decoder) || p.Code.Real() {
			return fmt.Errorf("sampling %s with decoder %s needs the model of its logits", p.Code.Name(), p.Decoder.Name())
		}
		return nil
	}
	if !l.Hard && !decode.ReadsLogits(p.Decoder) {
		return fmt.Errorf("decoder %s reads bits, not logits", p.Decoder.Name())
	}
	if !(l.Shared >= 0 && l.Shared <= 1) {
		return fmt.Errorf("shared noise ρ = %v: want a number from 0 to 1", l.Shared)
	}
	if p.Code.Bits() >= 1<<16 {
		return fmt.Errorf("%s has %d bits; logits are sampled for at most %d", p.Code.Name(), p.Code.Bits(), 1<<16-1)
	}
	if p.Code.Real() && p.Code.Bits() > 1<<15 {
		return fmt.Errorf("%s has %d columns; logits of codes of real numbers are sampled for at most %d", p.Code.Name(), p.Code.Bits(), 1<<15)
	}
	return nil
}

// LatentPlan is what sampling the logits of one label takes besides random
// numbers: plain arrays, the same for every backend. All are integers, so that
// correlations are exact and no order of summation matters.
//
// Only some levels can be decoded, or weigh anything in a softmax: level m is a
// candidate unless its correlation stays below the true level's (by the exponent
// whose weight is 2⁻³⁰/L, for gen-ex) with all but the probability of 7 standard
// deviations, 1.3·10⁻¹². What is left out moves a label of gen-ex by less than L·2⁻³⁰
// levels. Only the bits in which candidates differ are drawn: near a label
// these are few, however many bits the code has. Hard outputs have all levels as
// candidates, and draw the bits that can err. Decoders of logits other than gen and
// gen-ex have no candidates, and all bits are drawn.
type LatentPlan struct {
	Row     int
	Bits    []uint16  // A drawn bits, from 0, ascending
	Slopes  []int8    // A: d_k where noise is shared, else 0
	Centers [][]int32 // J × A: means of the logits, in units of 2⁻²⁴; J = 1 or Sublevels

	// For gen and gen-ex. Correlations are taken relative to the first
	// candidate's: each is its predecessor's plus some logits, less others.
	Levels []uint16 // candidates, rows from 0, ascending
	RunPlan

	// For gen-ex on a code whose words are all pairs of a prefix and a suffix, as
	// hexj's are of digits, where that is less work: instead of steps. All levels are
	// candidates. Weights are
	// products then, and only those of prefixes and suffixes take an exponential.
	Product *ProductPlan

	// For codes of real numbers, instead of steps: candidate × A, in units of
	// the largest magnitude of the code / 2¹⁶.
	Values []int32

	// For gen-ex: a candidate whose correlation is d below the largest weighs
	// 2^(−d·Scale), and nothing when d is above Limit.
	Scale float32
	Limit int64
}

// RunPlan is a running sum over words: each is its predecessor's plus some logits,
// less others, relative to the first.
type RunPlan struct {
	Starts []uint32 // Steps[Starts[i]:Starts[i+1]] lead from word i−1 to i
	Steps  []uint32 // index of a drawn bit << 1 | 1 where its logit is taken away
	Fixed  []int64  // what the bits that are not drawn add to the step
}

// ProductPlan are the parts of a code of P prefixes and Q suffixes, whose level p·Q +
// j + 1, p and j from 0, has prefix p and, by the pattern of that prefix, one of the
// suffixes: forwards or, in a reflected code, backwards. With weights F of prefixes
// and G of suffixes,
//
//	Σ weights         = Σ_p F_p · Σ_s G_s,
//	Σ weights·offsets = Σ_p F_p·((p·Q − Row)·Σ_s G_s + Σ_j j·G_{pattern(p), j}),
//
// where the last sum is one for each pattern: O(P + Q·patterns) for P·Q levels.
type ProductPlan struct {
	Prefixes, Suffixes RunPlan
	Offsets            []float32 // P: p·Q − Row
	PatternOf          []uint16  // P
	Patterns           []uint16  // patterns × Q: suffixes in the order of their levels
}

// product is a code cut in two.
type product struct {
	cut                 int      // columns of a prefix
	prefixes, suffixes  []uint16 // a row with each, in the order in which they appear
	patternOf, patterns []uint16
}

// Limits of codes that are searched for products, which a short search finds.
const (
	productBits   = 64
	productLevels = 1 << 12
)

// newProduct cuts a code where prefixes and suffixes are fewest; nil where it is
// no product of two, or there is little to gain.
func newProduct(c *code.Code) *product {
	if c.Real() || c.Bits() > productBits || c.Levels() > productLevels {
		return nil
	}
	var best *product
	for cut := 1; cut < c.Bits(); cut++ {
		if p := cutAt(c, cut); p != nil && (best == nil || p.work() < best.work()) {
			best = p
		}
	}
	if best == nil || 2*best.work() > c.Levels() {
		return nil
	}
	return best
}

// work is about the number of weights and sums that a product takes.
func (p *product) work() int { return len(p.prefixes) + len(p.suffixes) + len(p.patterns)/4 }

// cutAt cuts a code after some columns; nil where the levels of a prefix are not
// neighbours, or do not have every suffix once.
func cutAt(c *code.Code, cut int) *product {
	p := &product{cut: cut}
	suffixes := map[uint64]uint16{}
	prefix := func(i int) uint64 { return c.Word(i)[0] & (1<<cut - 1) }
	suffix := func(i int) uint64 { return c.Word(i)[0] >> cut }
	q := 1 // levels of the first prefix
	for q < c.Levels() && prefix(q) == prefix(0) {
		q++
	}
	if c.Levels()%q != 0 {
		return nil
	}
	for j := range q { // words differ, so these do
		suffixes[suffix(j)] = uint16(j)
		p.suffixes = append(p.suffixes, uint16(j))
	}
	for first := 0; first < c.Levels(); first += q {
		p.prefixes = append(p.prefixes, uint16(first))
		pattern := make([]uint16, q)
		for j := range pattern {
			s, ok := suffixes[suffix(first+j)]
			if !ok || prefix(first+j) != prefix(first) {
				return nil
			}
			pattern[j] = s
		}
		n := 0
		for n < len(p.patterns)/q && !slices.Equal(p.patterns[n*q:(n+1)*q], pattern) {
			n++
		}
		if n == len(p.patterns)/q {
			p.patterns = append(p.patterns, pattern...)
		}
		p.patternOf = append(p.patternOf, uint16(n))
	}
	return p
}

// LatentPlanner makes the plans of a problem's rows. It belongs to one goroutine.
type LatentPlanner struct {
	problem *Problem
	slopes  *code.Slopes
	unit    float64 // of a real code's values
	e       []float64
	mean    []float64 // smallest mean of s_k·Z_k
	slope   []int8
	drawn   []bool
	index   []int32
	product *product
}

// NewLatentPlanner prepares to make plans for a problem that has logits.
func NewLatentPlanner(p *Problem) *LatentPlanner {
	l := &LatentPlanner{problem: p}
	m := p.Code.Bits()
	l.mean, l.slope, l.drawn, l.index = make([]float64, m), make([]int8, m), make([]bool, m), make([]int32, m)
	l.e = make([]float64, m)
	if p.Latent.Shared > 0 {
		l.slopes = p.Code.Slopes()
	}
	if temperature, _ := correlated(p.Decoder); temperature > 0 {
		l.product = newProduct(p.Code)
	}
	if p.Code.Real() {
		for i := range p.Code.Levels() {
			for k := range m {
				l.unit = max(l.unit, math.Abs(p.Code.Value(i, k)))
			}
		}
		l.unit *= 0x1p-16
	}
	return l
}

// center is s·Φ⁻¹(1−e) for a bit whose target is one (s = 1) or zero.
func center(e float64, one bool) float64 {
	q := exceededWith(min(max(e, clampedError), 1-clampedError))
	if !one {
		q = -q
	}
	return q
}

// Plan makes the plan of row i.
func (l *LatentPlanner) Plan(i int) (*LatentPlan, error) {
	p := l.problem
	c := p.Code
	parts := 1
	if p.Latent.Continuous != nil {
		parts = Sublevels
	}
	if l.slopes != nil {
		l.slopes.Row(l.slope, i)
	}
	// Means of all bits at all labels of the level, and the smallest of each.
	means := make([][]float64, parts)
	for k := range l.mean {
		l.mean[k] = math.Inf(1)
		l.drawn[k] = false
	}
	canErr := l.index // reused: 1 where a hard bit can err
	clear(canErr)
	for j := range parts {
		if p.Latent.Continuous != nil {
			p.Latent.Continuous.AtLabel(l.e, label(i, j, true))
		} else {
			l.e = matrix.Row(l.e, i, p.Errors)
		}
		means[j] = make([]float64, c.Bits())
		for k, e := range l.e {
			if !(e >= 0 && e <= 1) {
				return nil, fmt.Errorf("e at label %v, bit %d is %v, which is no probability; want a number from 0 to 1", label(i, j, parts > 1), k+1, e)
			}
			if e > clampedError {
				canErr[k] = 1
			}
			q := center(e, true)
			l.mean[k] = min(l.mean[k], q)
			if !c.Bit(i, k) {
				q = -q
			}
			means[j][k] = q
		}
	}
	plan := &LatentPlan{Row: i}
	temperature, correlates := correlated(p.Decoder)
	isEx := temperature > 0
	switch {
	case p.Latent.Hard:
		for k := range l.drawn {
			l.drawn[k] = canErr[k] == 1
		}
		if correlates {
			for m := range c.Levels() {
				plan.Levels = append(plan.Levels, uint16(m))
			}
		}
	case !correlates:
		for k := range l.drawn {
			l.drawn[k] = true
		}
	default:
		threshold := 0.0
		if isEx {
			threshold = (logWeight + math.Log(float64(c.Levels()))) / temperature
		}
		l.candidates(plan, i, threshold)
		if q := l.product; q != nil && q.work() < len(plan.Levels) {
			l.everything(plan) // is less work by pairs
		}
	}
	for k, drawn := range l.drawn {
		if drawn {
			l.index[k] = int32(len(plan.Bits))
			plan.Bits = append(plan.Bits, uint16(k))
			plan.Slopes = append(plan.Slopes, l.slope[k])
		}
	}
	for _, mean := range means {
		row := make([]int32, len(plan.Bits))
		for a, k := range plan.Bits {
			row[a] = int32(math.Round(mean[k] * normalOne))
		}
		plan.Centers = append(plan.Centers, row)
	}
	unit := 1.0 // of a code's values
	switch {
	case correlates && c.Real():
		l.values(plan)
		unit = l.unit
	case correlates && l.product != nil && len(plan.Levels) == c.Levels():
		q := l.product
		plan.Product = &ProductPlan{
			Prefixes: l.steps(q.prefixes, 0, q.cut, i), Suffixes: l.steps(q.suffixes, q.cut, c.Bits(), i),
			PatternOf: q.patternOf, Patterns: q.patterns,
		}
		for _, first := range q.prefixes {
			plan.Product.Offsets = append(plan.Product.Offsets, float32(int(first)-i))
		}
	case correlates:
		plan.RunPlan = l.steps(plan.Levels, 0, c.Bits(), i)
	}
	if isEx {
		scale := temperature * unit / logitOne // exponent for one unit of correlation
		plan.Limit = int64(min((logWeight+math.Log(float64(c.Levels())))/scale, 1<<62))
		plan.Scale = float32(min(scale/math.Ln2, math.MaxFloat32))
	}
	return plan, nil
}

// logitOne is a logit of one. Logits are rounded to this unit, 2⁻¹⁶, after the noise
// is added, so that 32 bits hold correlations of a thousand of them.
const (
	logitFraction = 16
	logitOne      = 1 << logitFraction
)

// label is the label of row i: a level, or the middle of part j of one.
func label(i, j int, continuous bool) float64 {
	if !continuous {
		return float64(i + 1)
	}
	return float64(i) + 0.5 + (float64(j)+0.5)/Sublevels
}

// everything makes all levels candidates, and draws all bits that are not the same
// everywhere.
func (l *LatentPlanner) everything(plan *LatentPlan) {
	c := l.problem.Code
	plan.Levels = plan.Levels[:0]
	for m := range c.Levels() {
		plan.Levels = append(plan.Levels, uint16(m))
		for k := range l.drawn {
			if c.Bit(m, k) != c.Bit(0, k) {
				l.drawn[k] = true
			}
		}
	}
}

// candidates finds the levels that can be decoded, or weigh something, and draws
// the bits in which they differ. The difference of the correlations of the true
// row and row m is normal; its mean is a sum over the bits in which they differ.
func (l *LatentPlanner) candidates(plan *LatentPlan, i int, threshold float64) {
	c, rho := l.problem.Code, l.problem.Latent.Shared
	negative := 0.0 // the most that bits with e > ½ can take from a sum
	for _, q := range l.mean {
		negative += min(q, 0)
	}
	word := c.Word(i)
	for m := range c.Levels() {
		if m != i && !c.Real() {
			distance := float64(c.Distance(i, m))
			widest := sureDeviation * math.Sqrt(distance*(1-rho)+distance*distance*rho)
			sum := 0.0
			out := false
		bits:
			for j, w := range c.Word(m) {
				for d := w ^ word[j]; d != 0; d &= d - 1 {
					sum += l.mean[64*j+bits.TrailingZeros64(d)]
					// Even if all further bits took their worst, it stays out.
					if sum+negative > threshold+widest {
						out = true
						break bits
					}
				}
			}
			if out || sum > threshold+widest {
				continue
			}
		}
		if m != i && c.Real() && l.realOut(i, m, threshold) {
			continue
		}
		plan.Levels = append(plan.Levels, uint16(m))
	}
	for a := 1; a < len(plan.Levels); a++ {
		m, before := int(plan.Levels[a]), int(plan.Levels[a-1])
		for k := range l.drawn {
			if !l.drawn[k] && c.Value(m, k) != c.Value(before, k) {
				l.drawn[k] = true
			}
		}
	}
}

// realOut reports whether row m of a code of real numbers is no candidate.
func (l *LatentPlanner) realOut(i, m int, threshold float64) bool {
	c, rho := l.problem.Code, l.problem.Latent.Shared
	var mean, own, common, size float64
	for k, q := range l.mean {
		w := c.Value(i, k) - c.Value(m, k)
		if w == 0 {
			continue
		}
		// A wrong sign of the weight makes a sure bit speak against the true
		// row: then the largest mean is the worst, which e at its clamp bounds.
		switch {
		case c.Bit(i, k) && w < 0:
			q = -exceededWith(clampedError)
		case !c.Bit(i, k) && w > 0:
			q = -exceededWith(clampedError)
		}
		mean += math.Abs(w) * q
		own += w * w
		common += math.Abs(w)
		size += math.Abs(w)
	}
	rounding := size * 0x1p-15 * 10 // of values and logits to 2⁻¹⁶
	return mean-rounding > threshold+sureDeviation*math.Sqrt((1-rho)*own+rho*common*common)
}

// steps makes the differences of the columns lo ≤ k < hi between neighbours among
// rows, when the label is row i+1's.
func (l *LatentPlanner) steps(rows []uint16, lo, hi, i int) RunPlan {
	c := l.problem.Code
	r := RunPlan{Starts: []uint32{0}}
	for a := range rows {
		var fixed int64
		if a > 0 {
			word, before := c.Word(int(rows[a])), c.Word(int(rows[a-1]))
			for j, w := range word {
				for d := w ^ before[j]; d != 0; d &= d - 1 {
					k := 64*j + bits.TrailingZeros64(d)
					if k < lo || k >= hi {
						continue
					}
					rises := w>>(k%64)&1 == 1
					switch {
					case l.drawn[k] && rises:
						r.Steps = append(r.Steps, uint32(l.index[k])<<1)
					case l.drawn[k]:
						r.Steps = append(r.Steps, uint32(l.index[k])<<1|1)
					case c.Bit(i, k) == rises: // a hard output that is surely right
						fixed += logitOne
					default:
						fixed -= logitOne
					}
				}
			}
		}
		r.Fixed = append(r.Fixed, fixed)
		r.Starts = append(r.Starts, uint32(len(r.Steps)))
	}
	return r
}

// values makes the weights of a code of real numbers.
func (l *LatentPlanner) values(plan *LatentPlan) {
	c := l.problem.Code
	for _, m := range plan.Levels {
		fixed := 0.0
		for k := range l.drawn {
			v := math.Round(c.Value(int(m), k) / l.unit)
			if l.drawn[k] {
				plan.Values = append(plan.Values, int32(v))
			} else if l.problem.Latent.Hard {
				if c.Bit(plan.Row, k) {
					fixed += v
				} else {
					fixed -= v
				}
			}
		}
		plan.Fixed = append(plan.Fixed, int64(fixed)*logitOne)
	}
}
