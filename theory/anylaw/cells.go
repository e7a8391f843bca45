package anylaw

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
)

// cell is the set of the outputs that gen decodes to a level m: x has a 1 at each kept bit that
// errs. It is nearer to m's word than to that of j, or as near where m < j:
//
//	Σ s_k·x_k ≥ b over the kept bits k at which the words of m and j differ,
//
// s_k = 1 where m differs from the true word, and −1 elsewhere.
type cell struct {
	m      int
	word   []uint64  // kept bits at which m's word differs from the true one
	need   int       // so many of these must err
	active []binding // the rows, by the word j, that bound the last search
	rows   map[int]column
}

// mostNodes is the number of nodes of the search for sets of bits in one cell. Beyond, bounds are
// those of the relaxed programs, for all cells.
const mostNodes = 30

// cells are the cells of all levels that can be decoded.
type cells struct {
	*row
	words [][]uint64 // by level, the kept bits at which the word differs from the true one
	fixed [][]uint64 // by level, all bits at which it does
	all   []*cell
	most  int // nodes of the search in a cell

	none, every []float64 // points: no kept bit errs, and all do
}

func newCells(r *row) *cells {
	levels, truth := r.code.Levels(), r.code.Word(r.i)
	x := &cells{row: r, words: make([][]uint64, levels), fixed: make([][]uint64, levels), most: mostNodes,
		none: make([]float64, len(r.kept)), every: slices.Repeat([]float64{1}, len(r.kept))}
	for m := range levels {
		x.words[m], x.fixed[m] = make([]uint64, (len(r.kept)+63)/64), make([]uint64, len(truth))
		for k, w := range r.code.Word(m) {
			x.fixed[m][k] = w ^ truth[k]
		}
		for b, k := range r.kept {
			x.words[m][b/64] |= (x.fixed[m][k/64] >> (k % 64) & 1) << (b % 64)
		}
	}
	for m := range levels {
		c := &cell{m: m, word: x.words[m], rows: map[int]column{}}
		if m != r.i {
			able := 0
			for _, w := range c.word {
				able += bits.OnesCount64(w)
			}
			if c.need = x.least(m, r.i); c.need > able {
				continue
			}
			c.active = []binding{{r.i, 0}}
		}
		x.all = append(x.all, c)
	}
	return x
}

// least is b of the row of m against j.
func (x *cells) least(m, j int) int {
	all, given := 0, 0 // bits that differ; of these, those that cannot err and agree with m
	for k, w := range x.fixed[m] {
		all += bits.OnesCount64(w ^ x.fixed[j][k])
		given += bits.OnesCount64(^w & x.fixed[j][k])
	}
	need := (all + 1) / 2
	if j < m {
		need = all/2 + 1
	}
	// given has also the kept bits at which m is as the truth: each counts 1 − x.
	return need - given
}

// rowOf is the row of c against j.
func (x *cells) rowOf(c *cell, j int) (row column) {
	m := c.m
	row, ok := c.rows[j]
	if ok {
		return row
	}
	row.value = float64(x.least(m, j))
	for h, w := range x.words[m] {
		for d := w ^ x.words[j][h]; d != 0; d &= d - 1 {
			b := bits.TrailingZeros64(d)
			row.rows = append(row.rows, 64*h+b)
			row.parts = append(row.parts, float64(int(w>>b&1)*2-1))
		}
	}
	c.rows[j] = row
	return row
}

// violated is the word j whose row a point violates most in m's cell; −1 without one.
func (x *cells) violated(point []float64, m int) int {
	worst, at := 1e-7, -1
	for j := range x.words {
		if j == m {
			continue
		}
		sum := 0.0
		for h, w := range x.words[m] {
			for d := w ^ x.words[j][h]; d != 0; d &= d - 1 {
				b := bits.TrailingZeros64(d)
				if w>>b&1 == 1 {
					sum += point[64*h+b]
				} else {
					sum -= point[64*h+b]
				}
			}
		}
		if v := float64(x.least(m, j)) - sum; v > worst {
			worst, at = v, j
		}
	}
	return at
}

// price is the pricing of all cells. It looks closely at those that can be above the plane by their
// cheapest bits, the highest first.
func (x *cells) price(ctx context.Context, plane []float64, add func([]int, []float64, float64)) (float64, error) {
	cost := plane[1:]
	order := descending(cost)
	slices.Reverse(order)
	base := 0.0
	for _, v := range cost {
		base += min(v, 0)
	}
	type bounded struct {
		*cell
		above float64
	}
	list := make([]bounded, 0, len(x.all))
	worst := math.Inf(-1)
	for _, c := range x.all {
		sum, need := base, c.need
		for _, k := range order {
			if need <= 0 {
				break
			}
			if c.word[k/64]>>(k%64)&1 == 1 {
				sum += max(cost[k], 0)
				need--
			}
		}
		if above := x.cost(c.m+1) - plane[0] - sum; above > tolerance {
			list = append(list, bounded{c, above})
		} else {
			worst = max(worst, above)
		}
	}
	slices.SortStableFunc(list, func(a, b bounded) int { return cmp.Compare(b.above, a.above) })
	for at, c := range list {
		if at%16 == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		worst = max(worst, x.look(c.cell, plane, add))
	}
	return worst, nil
}

// look adds the cheapest set of a cell, where it is above the plane. It returns at least what any
// set is above it.
func (x *cells) look(c *cell, plane []float64, add func([]int, []float64, float64)) float64 {
	value := x.cost(c.m + 1)
	limit := value - plane[0] - tolerance // costs below are of interest
	rowOf := func(j int) column { return x.rowOf(c, j) }
	if bound := dualBound(plane[1:], x.none, x.every, c.active, rowOf); bound >= limit {
		return value - plane[0] - bound
	}
	s := search{cells: x, cell: c, cost: plane[1:], bestCost: limit, open: math.Inf(1)}
	bound := s.node(x.none, x.every)
	above := value - plane[0] - bound
	if !s.ended {
		above = min(above, value-plane[0]-s.open)
	}
	switch {
	case s.bestSet != nil || s.bestCost < limit:
		add(s.bestSet, nil, x.value(s.bestSet))
	case s.ended && s.root != nil:
		all := make([]int, len(x.kept))
		for k := range all {
			all[k] = k
		}
		add(all, s.root, value)
	}
	return above
}

// search looks for the cheapest set of a cell, by branch and bound.
type search struct {
	*cells
	*cell
	cost     []float64
	nodes    int
	root     []float64 // the point of the relaxed program of the first node
	bestSet  []int
	bestCost float64
	open     float64 // the least bound of what was not looked at
	ended    bool    // the nodes were too many
}

// node looks at the sets between lo and hi, and returns a bound of their cost.
func (s *search) node(lo, hi []float64) (bound float64) {
	if s.nodes++; s.nodes > s.most {
		s.ended, s.most = true, 1
		return math.Inf(-1)
	}
	first := make([]int, len(s.active))
	for j, r := range s.active {
		first[j] = r.row
	}
	bound, point, rows := relax(s.cost, lo, hi, first, func(j int) column { return s.rowOf(s.cell, j) },
		func(point []float64) int { return s.violated(point, s.m) })
	if s.nodes == 1 {
		s.active, s.root = rows, point
	}
	if point == nil || bound >= s.bestCost {
		s.open = min(s.open, max(bound, s.bestCost))
		return bound
	}
	branch, frac := -1, 1e-7
	for k, v := range point {
		if f := math.Abs(v - math.Round(v)); f > frac {
			branch, frac = k, f
		}
	}
	if branch < 0 {
		var set []int
		sum := 0.0
		for k, v := range point {
			if v > 0.5 {
				set, sum = append(set, k), sum+s.cost[k]
			}
		}
		s.open = min(s.open, bound)
		if sum < s.bestCost {
			s.bestSet, s.bestCost = set, sum
		}
		return bound
	}
	near := math.Round(point[branch])
	for _, v := range []float64{near, 1 - near} {
		l, h := slices.Clone(lo), slices.Clone(hi)
		l[branch], h[branch] = v, v
		s.node(l, h)
	}
	return bound
}
