package enclose

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"belsim/theory/code"
	"belsim/theory/decode"
)

// candidates are the words that gen can find nearest to the outputs of a level.
type candidates struct {
	code  *code.Code
	truth int       // the true row
	e     []float64 // its probabilities

	reference int       // the row nearest to the most likely output
	p         []float64 // by bit: the probability that the output differs from the reference's word
	most      float64   // the largest error of a row that can be nearest
	lambda    float64   // Σp
	union     float64   // Σ wins·error over the rivals: a bound of the error, but for the reference's

	rivals []rival // by weight, the smallest first
	chosen []int   // rows, ascending; the reference is among them

	likely, canErr, differ   []uint64
	laws                     [4]countLaw
	distances, order, within []int32
	logFactorial             []float64
}

// rival is a row that can be nearer to the output than the reference is.
type rival struct {
	row    int
	wins   float64 // at least the probability that it is
	weight float64 // wins·max(error, 1)
}

func (c *candidates) init(of *code.Code) {
	words := len(of.Word(0))
	c.code = of
	c.p = make([]float64, of.Bits())
	c.likely, c.canErr, c.differ = make([]uint64, words), make([]uint64, words), make([]uint64, words)
	for j := range c.laws {
		c.laws[j].set = make([]uint64, words)
	}
	c.distances, c.order, c.within = make([]int32, of.Levels()), make([]int32, of.Levels()), make([]int32, of.Bits()+2)
	c.logFactorial = make([]float64, of.Bits()+2)
	for k := 2; k < len(c.logFactorial); k++ {
		c.logFactorial[k] = c.logFactorial[k-1] + math.Log(float64(k))
	}
}

// row finds the rivals of a level.
func (c *candidates) row(ctx context.Context, gen decode.Gen, i int, e []float64) error {
	c.truth, c.e = i, e
	own := c.code.Word(i)
	copy(c.likely, own)
	for k, p := range e {
		if p > 0.5 {
			c.likely[k/64] ^= 1 << (k % 64)
		}
	}
	c.reference = gen.Decode(c.likely) - 1
	word := c.code.Word(c.reference)
	clear(c.canErr)
	for k, p := range e {
		if (own[k/64]^word[k/64])>>(k%64)&1 == 1 {
			p = 1 - p
		}
		c.p[k] = p
		if p > 0 {
			c.canErr[k/64] |= 1 << (k % 64)
		}
	}
	c.rivals, c.union = c.rivals[:0], 0
	c.most = math.Abs(float64(c.reference - i))
	c.lambda = 0
	for _, p := range c.p {
		c.lambda += p
	}
	for j := range c.laws {
		c.laws[j].none()
	}
	// Near words first: they have the large weights, and the bits in which a word differs are
	// often some more than those of a nearer one.
	c.code.Distances(c.distances, c.reference)
	code.OrderByDistance(c.order, c.within, c.distances)
	for j, m := range c.order {
		if j%16 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if int(m) != c.reference {
			c.consider(int(m))
		}
	}
	slices.SortFunc(c.rivals, func(a, b rival) int { return cmp.Or(cmp.Compare(a.weight, b.weight), cmp.Compare(a.row, b.row)) })
	for _, r := range c.rivals {
		c.union += r.weight
	}
	return nil
}

// all chooses all rows.
func (c *candidates) all(i int, e []float64) {
	c.truth, c.e = i, e
	c.chosen = c.chosen[:0]
	for m := range c.code.Levels() {
		c.chosen = append(c.chosen, m)
	}
}

// consider adds a row to the rivals, unless it cannot be nearer than the reference.
func (c *candidates) consider(m int) {
	err := math.Abs(float64(m - c.truth))
	distance := int(c.distances[m])
	need := distance/2 + 1 // bits that must differ from the reference's
	if distance%2 == 0 && m < c.reference {
		need--
	}
	// At least need of the bits differ with a probability not above λ^need/need!, the sum over
	// all sets of so many bits, with λ = Σp.
	wins := min(1, c.crude(c.lambda, need))
	if !c.small(wins, err) {
		able, lambda := c.compare(m)
		if able < need {
			return
		}
		if wins = min(1, c.crude(lambda, need)); !c.small(wins, err) {
			wins = min(wins, c.law().atLeast(need, c.differ, c.p)*(1+1e-9))
		}
	}
	wins = max(wins, underflow)
	c.most = max(c.most, err)
	r := rival{m, wins, wins * max(err, 1)}
	c.union += r.weight
	c.rivals = append(c.rivals, r)
}

// small reports whether a bound of a probability is nothing beside the rivals so far. The true row,
// which has no error, is one of them where another one is the reference.
func (c *candidates) small(wins, err float64) bool { return wins*max(err, 1) < 1e-18*c.union }

// law returns the law of the largest set whose bits are all in differ; or else the smallest set.
func (c *candidates) law() *countLaw {
	best, most, smallest := -1, 0, 0
	for j := range c.laws {
		l := &c.laws[j]
		if n := len(l.law) - 1; n > most && l.inside(c.differ) {
			best, most = j, n
		}
		if len(l.law) < len(c.laws[smallest].law) {
			smallest = j
		}
	}
	if best < 0 {
		best = smallest
		c.laws[best].none()
	}
	return &c.laws[best]
}

// countLaw is the law of the number of bits of a set that differ from the reference's. Sets of
// neighbouring rows often contain each other, so that the law need not be made anew.
type countLaw struct {
	set []uint64
	law []float64 // by number; its length is one more than the number of bits
}

// none is the law of the empty set.
func (l *countLaw) none() {
	clear(l.set)
	l.law = append(l.law[:0], 1)
}

// inside reports whether all bits of the law's set are in another set.
func (l *countLaw) inside(set []uint64) bool {
	for j, v := range l.set {
		if v&^set[j] != 0 {
			return false
		}
	}
	return true
}

// atLeast returns the probability that at least n bits of a set differ, with probabilities p. The
// set becomes the law's, whose own bits must be inside it.
func (l *countLaw) atLeast(n int, set []uint64, p []float64) float64 {
	for j, v := range set {
		for d := v &^ l.set[j]; d != 0; d &= d - 1 {
			q := p[64*j+bits.TrailingZeros64(d)]
			l.law = append(l.law, 0)
			before := 0.0 // the old probability of one bit less
			for s, now := range l.law {
				l.law[s] = now*(1-q) + before*q
				before = now
			}
		}
		l.set[j] = v
	}
	sum := 0.0
	for s := len(l.law) - 1; s >= n; s-- {
		sum += l.law[s]
	}
	return sum
}

// crude is λ^n/n!, rounded up: the logarithm of n! and the other exponents are right to 10⁻¹⁰·n.
func (c *candidates) crude(lambda float64, n int) float64 {
	return math.Exp(float64(n)*(math.Log(lambda)+1e-10) - c.logFactorial[n] + 1e-10)
}

// compare sets differ to the bits in which row m differs from the reference and that can differ
// from it in the output. It returns their number and the sum of their probabilities.
func (c *candidates) compare(m int) (able int, lambda float64) {
	word := c.code.Word(c.reference)
	for j, w := range c.code.Word(m) {
		d := w ^ word[j]
		d &= c.canErr[j]
		able += bits.OnesCount64(d)
		c.differ[j] = d
		for ; d != 0; d &= d - 1 {
			lambda += c.p[64*j+bits.TrailingZeros64(d)]
		}
	}
	return able, lambda
}

// choose leaves out rivals whose weights are together at most budget, and puts the others into
// chosen. It returns by how much the mean of the others can be too large (Lo) and too small (Hi).
func (c *candidates) choose(budget float64) (left Interval) {
	dropped, weight := 0, 0.0
	for _, r := range c.rivals {
		if weight += r.weight; weight > budget {
			break
		}
		dropped++
	}
	c.chosen = append(c.chosen[:0], c.reference)
	for _, r := range c.rivals[dropped:] {
		c.chosen = append(c.chosen, r.row)
	}
	slices.Sort(c.chosen)
	least, most := c.errors(c.chosen)
	for _, r := range c.rivals[:dropped] {
		err := math.Abs(float64(r.row - c.truth))
		left.Lo += r.wins * max(0, most-err)
		left.Hi += r.wins * max(0, err-least)
	}
	up := 1 + float64(dropped+4)*unit
	return Interval{left.Lo * up, left.Hi * up}
}

// errors returns the smallest and the largest error among rows.
func (c *candidates) errors(rows []int) (least, most float64) {
	least = math.Inf(1)
	for _, m := range rows {
		err := math.Abs(float64(m - c.truth))
		least, most = min(least, err), max(most, err)
	}
	return least, most
}
