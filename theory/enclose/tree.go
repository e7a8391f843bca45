package enclose

import (
	"context"
	"math"
	"math/bits"

	"belsim/theory/code"
)

// tree computes the law of the nearest candidate where the candidates form no path: it decides bits,
// one by one, until those candidates form one that can still be nearest.
//
// A candidate cannot be nearest where another one is nearer whatever the bits are that are not
// decided. So of words that differ in one bit, one is left when this bit is decided. The bit that is
// decided is the one in which most pairs of the nearest words differ: of b1jdj the one that tells
// the halves, each of which is a path.
type tree struct {
	path *path
	c    candidates // of the present branch

	e            []float64 // of the row; 0 or 1 for bits that are decided
	sure, output []uint64  // the bits that are decided or certain; their outputs
	rows         []int     // the candidates of the branches from the root to the present one
	off          []int     // by candidate: how many sure bits differ from its word
	open         []uint64  // by candidate: the bits of its word that are not sure
	counts       []int     // by bit: the pairs of nearest words that differ in it

	known, left intervals // of the branches that are finished; by how much it is too large and too small
	leaves      int       // their number
	work, limit int
}

// cost is the work of the first branch.
func (x *tree) cost(c *candidates) int { return x.pairs(len(c.chosen)) }

// pairs is the work of comparing so many words.
func (x *tree) pairs(rows int) int { return rows*rows/2*len(x.c.likely) + 32 }

// mean returns intervals of the mean costs of the chosen candidates, and their work. What is not
// known of branches that are not followed up is at most budget, unless the work ends before.
func (x *tree) mean(ctx context.Context, c *candidates, budget float64, limit int) (out intervals, work int, err error) {
	x.known, x.left, x.leaves, x.work, x.limit = intervals{}, intervals{}, 0, 0, limit
	x.e = append(x.e[:0], c.e...)
	x.c.truth, x.c.e = c.truth, append(x.c.e[:0], c.e...)
	x.sure, x.output = resize(x.sure, len(c.likely)), resize(x.output, len(c.likely))
	clear(x.sure)
	copy(x.output, c.code.Word(c.truth))
	for k, e := range c.e {
		if e == 0 || e == 1 {
			x.decide(k, e)
		}
	}
	x.rows = x.rows[:0]
	_, err = x.branch(ctx, c.chosen, 1, budget)
	// A probability has two roundings a bit, a leaf two more, and a sum one for each leaf.
	rounding := float64(2*len(c.e)+x.leaves+8) * unit
	up := 1 + 2*rounding
	for k, left := range x.left {
		v := x.known[k].widen(rounding)
		out[k] = Interval{max(0, v.Lo-up*left.Lo), v.Hi + up*left.Hi}.widen(4 * unit)
	}
	return out, x.work, err
}

// decide makes a bit wrong, where e is 1, or right, where e is 0.
func (x *tree) decide(k int, e float64) {
	bit := uint64(1) << (k % 64)
	x.e[k] = e
	x.sure[k/64] |= bit
	x.output[k/64] = x.output[k/64]&^bit | (x.c.code.Word(x.c.truth)[k/64]^uint64(e)<<(k%64))&bit
}

// branch adds the outcomes, of probability p, in which these candidates may be nearest. It returns
// what is left of the budget.
func (x *tree) branch(ctx context.Context, chosen []int, p, budget float64) (float64, error) {
	from := len(x.rows)
	x.rows = append(x.rows, chosen...)
	x.reduce(from)
	rows := x.rows[from:]
	defer func() { x.rows = x.rows[:from] }()
	ends := intervals{x.c.errors(0, rows)}
	if unknown := p * (ends[0].Hi - ends[0].Lo); unknown <= budget || x.work >= x.limit {
		for k := 1; k < len(x.c.costs); k++ {
			ends[k] = x.c.errors(k, rows)
		}
		x.add(p, ends)
		return max(0, budget-unknown), ctx.Err()
	}
	x.c.chosen, x.c.e = append(x.c.chosen[:0], rows...), append(x.c.e[:0], x.e...)
	if x.path.set(&x.c) {
		v, work, err := x.path.mean(ctx, &x.c)
		x.work += work
		x.add(p, v)
		return budget, err
	}
	k := x.pick(rows)
	e := x.e[k]
	first := math.Round(1 - e) // the rare outcome
	for _, wrong := range []float64{first, 1 - first} {
		share, q := budget, p*math.Abs(1-wrong-e)
		if wrong == first {
			share /= 2
		}
		x.decide(k, wrong)
		if err := x.c.among(ctx, x.c.truth, x.e, rows); err != nil {
			return 0, err
		}
		x.work += x.c.work
		left := x.c.choose(share / 4 / q)
		for k, v := range left[:len(x.c.costs)] {
			x.left[k].Lo += q * v.Lo
			x.left[k].Hi += q * v.Hi
		}
		rest, err := x.branch(ctx, x.c.chosen, q, share*3/4)
		if err != nil {
			return 0, err
		}
		budget += rest - share
	}
	x.e[k] = e
	x.sure[k/64] &^= 1 << (k % 64)
	return budget, nil
}

// add adds means of outcomes of probability p.
func (x *tree) add(p float64, of intervals) {
	for k, v := range of[:len(x.c.costs)] {
		x.known[k].Lo += p * v.Lo
		x.known[k].Hi += p * v.Hi
	}
	x.leaves++
}

// word is the word of a candidate of the present branch, without the bits that are sure.
func (x *tree) word(a int) []uint64 { return x.open[a*len(x.sure) : (a+1)*len(x.sure)] }

// reduce drops the candidates that cannot be nearest. Of two that are as near, the lower level is.
func (x *tree) reduce(from int) {
	rows := x.rows[from:]
	x.work += x.pairs(len(rows))
	x.off, x.open = x.off[:0], x.open[:0]
	for _, m := range rows {
		n := 0
		for j, w := range x.c.code.Word(m) {
			n += bits.OnesCount64((w ^ x.output[j]) & x.sure[j])
			x.open = append(x.open, w&^x.sure[j])
		}
		x.off = append(x.off, n)
	}
	const dropped = -1
	for a := range rows {
		for b := a + 1; b < len(rows) && x.off[a] != dropped; b++ {
			if x.off[b] == dropped {
				continue
			}
			apart, further := code.Apart(x.word(a), x.word(b)), x.off[b]-x.off[a]
			if further >= apart {
				x.off[b] = dropped
			} else if -further > apart {
				x.off[a] = dropped
			}
		}
	}
	n := 0
	for a, m := range rows {
		if x.off[a] != dropped {
			rows[n] = m
			copy(x.word(n), x.word(a))
			n++
		}
	}
	x.rows = x.rows[:from+n]
}

// pick returns the bit in which most pairs of the nearest words differ, of those that reduce has left, but for
// words that follow each other; of several, the one of which is known least.
func (x *tree) pick(rows []int) (bit int) {
	x.work += x.pairs(len(rows))
	x.counts = resize(x.counts, len(x.c.e))
	clear(x.counts)
	least := math.MaxInt
	for a := range rows {
		for b := a + 2; b < len(rows); b++ {
			apart := code.Apart(x.word(a), x.word(b))
			if apart > least {
				continue
			}
			if apart < least {
				least = apart
				clear(x.counts)
			}
			other := x.word(b)
			for j, w := range x.word(a) {
				for d := w ^ other[j]; d != 0; d &= d - 1 {
					x.counts[64*j+bits.TrailingZeros64(d)]++
				}
			}
		}
	}
	open := func(k int) float64 { return min(x.c.e[k], 1-x.c.e[k]) }
	for k, n := range x.counts {
		if n > x.counts[bit] || n == x.counts[bit] && open(k) > open(bit) {
			bit = k
		}
	}
	return bit
}
