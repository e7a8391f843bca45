package enclose

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"belsim/theory"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// candidates are the words that gen can find nearest to the outputs of a level.
type candidates struct {
	code  *code.Code
	truth int         // the true row
	costs [][]float64 // of each cost, by row; about 1 for a level
	e     []float64   // its probabilities; while bits are decided, 0 or 1 for these

	reference int                // the row nearest to the most likely output
	p         []float64          // by bit: the probability that the output differs from the reference's word
	most      [mostCosts]float64 // the largest costs of a row that can be nearest
	lambda    float64            // Σp
	need      int                // of the last row that was considered; atLeast with it and lambda
	atLeast   float64
	union     float64 // Σ wins·error over the rivals: a bound of the error, but for the reference's

	work   int     // of finding the rivals
	rivals []rival // by weight, the smallest first
	chosen []int   // rows, ascending; the reference is among them

	likely, canErr, differ         []uint64
	distances, order, near, within []int32
	law                            []float64
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
	c.distances, c.order, c.near = make([]int32, of.Levels()), make([]int32, of.Levels()), make([]int32, of.Levels())
	c.within = make([]int32, of.Bits()+2)
	c.law = make([]float64, of.Bits()+2)
}

// row finds the rivals of a level.
func (c *candidates) row(ctx context.Context, gen decode.Gen, i int, e []float64) error {
	c.begin(i, e)
	c.reference = gen.Decode(c.likely) - 1
	c.code.Distances(c.distances, c.reference)
	code.OrderByDistance(c.order, c.within, c.distances)
	return c.rival(ctx, c.order)
}

// among finds the rivals of a level among some rows.
func (c *candidates) among(ctx context.Context, i int, e []float64, rows []int) error {
	c.begin(i, e)
	least := math.MaxInt
	for _, m := range rows {
		if d := code.Apart(c.code.Word(m), c.likely); d < least {
			least, c.reference = d, m
		}
	}
	order, near := c.order[:len(rows)], c.near[:len(rows)]
	for j, m := range rows {
		near[j] = int32(c.code.Distance(m, c.reference))
		c.distances[m] = near[j]
	}
	code.OrderByDistance(order, c.within, near)
	for j, at := range order {
		order[j] = int32(rows[at])
	}
	return c.rival(ctx, order)
}

// begin begins with a level, and finds its most likely output.
func (c *candidates) begin(i int, e []float64) {
	c.truth, c.e = i, append(c.e[:0], e...)
	own := c.code.Word(i)
	copy(c.likely, own)
	for k, p := range e {
		if p > 0.5 {
			c.likely[k/64] ^= 1 << (k % 64)
		}
	}
}

// rival finds the rivals of the reference among rows, the nearest first: they have the large weights.
func (c *candidates) rival(ctx context.Context, rows []int32) error {
	own, word := c.code.Word(c.truth), c.code.Word(c.reference)
	clear(c.canErr)
	for k, p := range c.e {
		if (own[k/64]^word[k/64])>>(k%64)&1 == 1 {
			p = 1 - p
		}
		c.p[k] = p
		if p > 0 {
			c.canErr[k/64] |= 1 << (k % 64)
		}
	}
	c.rivals, c.union, c.work = c.rivals[:0], 0, 16*len(rows)
	for k, costs := range c.costs {
		c.most[k] = costs[c.reference]
	}
	c.lambda = 0
	for _, p := range c.p {
		c.lambda += p
	}
	c.need = -1
	for j, m := range rows {
		if j%16 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if int(m) != c.reference {
			c.consider(int(m))
		}
	}
	slices.SortFunc(c.rivals, func(a, b rival) int {
		if a.weight != b.weight { // no NaN: half the time of cmp.Or
			return cmp.Compare(a.weight, b.weight)
		}
		return a.row - b.row
	})
	for _, r := range c.rivals {
		c.union += r.weight
	}
	return nil
}

// all chooses all rows.
func (c *candidates) all(i int, e []float64) {
	c.truth, c.e = i, append(c.e[:0], e...)
	c.chosen = c.chosen[:0]
	for m := range c.code.Levels() {
		c.chosen = append(c.chosen, m)
	}
}

// consider adds a row to the rivals, unless it cannot be nearer than the reference.
func (c *candidates) consider(m int) {
	err := c.costs[0][m]
	distance := int(c.distances[m])
	need := distance/2 + 1 // bits that must differ from the reference's
	if distance%2 == 0 && m < c.reference {
		need--
	}
	if need != c.need { // rows come by their distances, which few differ in
		c.need, c.atLeast = need, atLeast(need, c.lambda)
	}
	wins := c.atLeast
	if !c.small(wins, err) {
		able, lambda := c.compare(m)
		if able < need {
			return
		}
		if wins = atLeast(need, lambda); !c.small(wins, err) {
			wins = theory.PoissonBinomialTail(c.law[:need+1], c.differ, c.p) * (1 + 1e-9)
			c.work += need * able / 8 // as long as so many places of walks
		}
	}
	wins = max(wins, underflow)
	for k, costs := range c.costs {
		c.most[k] = max(c.most[k], costs[m])
	}
	r := rival{m, wins, wins * max(err, 1)}
	c.union += r.weight
	c.rivals = append(c.rivals, r)
}

// small reports whether a bound of a probability is nothing beside the rivals so far. The true row,
// which has no error, is one of them where another one is the reference.
func (c *candidates) small(wins, err float64) bool { return wins*max(err, 1) < 1e-18*c.union }

// atLeast bounds the probability that at least n of some bits differ from the reference's, where
// their probabilities add up to lambda: Chernoff's (λ/n)ⁿ·e^(n−λ), rounded up.
func atLeast(n int, lambda float64) float64 {
	if float64(n) <= lambda {
		return 1
	}
	m := float64(n)
	return math.Exp(m - lambda + m*(math.Log(lambda/m)+1e-10) + 1e-10)
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
func (c *candidates) choose(budget float64) (left intervals) {
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
	up := 1 + float64(dropped+4)*unit
	for k, costs := range c.costs {
		ends := c.errors(k, c.chosen)
		for _, r := range c.rivals[:dropped] {
			left[k].Lo += r.wins * max(0, ends.Hi-costs[r.row])
			left[k].Hi += r.wins * max(0, costs[r.row]-ends.Lo)
		}
		left[k] = Interval{left[k].Lo * up, left[k].Hi * up}
	}
	return left
}

// errors returns the smallest and the largest of a cost among rows.
func (c *candidates) errors(of int, rows []int) Interval {
	v := Interval{Lo: math.Inf(1)}
	for _, m := range rows {
		err := c.costs[of][m]
		v.Lo, v.Hi = min(v.Lo, err), max(v.Hi, err)
	}
	return v
}
