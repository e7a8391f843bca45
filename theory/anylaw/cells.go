package anylaw

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sort"
)

// cell is the set of the outputs that gen decodes to a level m: x has a 1 at each kept bit that
// errs. It is nearer to m's word than to that of j, or as near where m < j:
//
//	Σ s_k·x_k ≥ b over the kept bits k at which the words of m and j differ,
//
// s_k = 1 where m differs from the true word, and −1 elsewhere.
type cell struct {
	m      int
	word   []uint64 // kept bits at which m's word differs from the true one
	need   int      // so many of these must err
	active []int    // the words j whose rows were binding
}

// mostNodes is the number of nodes of the search for sets of bits in one cell. Beyond, bounds are
// those of the relaxed programs, for all cells.
const mostNodes = 30

// cells looks at the cell of every level. The relaxed program, 0 ≤ x ≤ 1, bounds what a cell has
// above the plane. Where its x is not integral, the search branches.
func (r *row) cells() pricing {
	n, stride := len(r.kept), (len(r.kept)+63)/64
	levels := r.code.Levels()
	words := make([][]uint64, levels) // the words' kept bits, as what differs from the true one
	fixed := make([][]uint64, levels) // and all of it
	truth := r.code.Word(r.i)
	for m := range words {
		words[m], fixed[m] = make([]uint64, stride), make([]uint64, len(truth))
		for k, w := range r.code.Word(m) {
			fixed[m][k] = w ^ truth[k]
		}
		for b, k := range r.kept {
			words[m][b/64] |= (fixed[m][k/64] >> (k % 64) & 1) << (b % 64)
		}
	}
	// least is b of the row of m against j.
	least := func(m, j int) int {
		all, given := 0, 0 // bits that differ; of these, those that cannot err and agree with m
		for k, w := range fixed[m] {
			all += bits.OnesCount64(w ^ fixed[j][k])
			given += bits.OnesCount64(^w & fixed[j][k])
		}
		need := (all + 1) / 2
		if j < m {
			need = all/2 + 1
		}
		// given has also the kept bits at which m is as the truth: each counts 1 − x.
		return need - given
	}
	var all []*cell
	for m := range levels {
		c := &cell{m: m, word: words[m]}
		able := 0
		for _, w := range words[m] {
			able += bits.OnesCount64(w)
		}
		if m != r.i {
			c.need = least(m, r.i)
			if c.need > able {
				continue
			}
			c.active = []int{r.i}
		}
		all = append(all, c)
	}
	// rowOf is the row of m against j.
	rowOf := func(m, j int) (row column) {
		row.value = float64(least(m, j))
		for h, w := range words[m] {
			for d := w ^ words[j][h]; d != 0; d &= d - 1 {
				b := bits.TrailingZeros64(d)
				row.rows = append(row.rows, 64*h+b)
				row.parts = append(row.parts, float64(int(w>>b&1)*2-1))
			}
		}
		return row
	}
	most := mostNodes
	return func(ctx context.Context, plane []float64, add func([]int, []float64, float64)) (float64, error) {
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
		list := make([]bounded, 0, len(all))
		worst := math.Inf(-1)
		for _, c := range all {
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
			if above := r.level(c.m+1) - plane[0] - sum; above > tolerance {
				list = append(list, bounded{c, above})
			} else {
				worst = max(worst, above)
			}
		}
		sort.SliceStable(list, func(a, b int) bool { return list[a].above > list[b].above })
		for at, c := range list {
			if at%16 == 0 && ctx.Err() != nil {
				return 0, ctx.Err()
			}
			value := r.level(c.m + 1)
			limit := value - plane[0] - tolerance // costs below are of interest
			nodes := 0
			var bestSet []int
			var root []float64
			bestCost := limit
			open := math.Inf(1) // least bound of what was not looked at
			var search func(lo, hi []float64)
			search = func(lo, hi []float64) {
				if nodes++; nodes > most {
					open, most = math.Inf(-1), 1
					return
				}
				bound, x, rows := relax(cost, lo, hi, c.active, func(j int) column { return rowOf(c.m, j) },
					func(x []float64) int { return violated(x, c.m, words, least) })
				if nodes == 1 {
					c.active, root = rows, slices.Clone(x)
					c.above = value - plane[0] - bound
				}
				if x == nil || bound >= bestCost {
					open = min(open, max(bound, bestCost))
					return
				}
				branch, frac := -1, 1e-7
				for k, v := range x {
					if f := math.Abs(v - math.Round(v)); f > frac {
						branch, frac = k, f
					}
				}
				if branch < 0 {
					var set []int
					sum := 0.0
					for k, v := range x {
						if v > 0.5 {
							set, sum = append(set, k), sum+cost[k]
						}
					}
					open = min(open, bound)
					if sum < bestCost {
						bestSet, bestCost = set, sum
					}
					return
				}
				for _, v := range []float64{math.Round(x[branch]), 1 - math.Round(x[branch])} {
					l, h := slices.Clone(lo), slices.Clone(hi)
					l[branch], h[branch] = v, v
					search(l, h)
				}
			}
			search(make([]float64, n), slices.Repeat([]float64{1}, n))
			above := c.above
			if !math.IsInf(open, -1) {
				above = min(above, value-plane[0]-open)
			}
			worst = max(worst, above)
			if bestSet != nil || bestCost < limit {
				add(bestSet, nil, r.value(bestSet))
			} else if math.IsInf(open, -1) && root != nil {
				set := make([]int, n)
				for k := range set {
					set[k] = k
				}
				add(set, root, value)
			}
		}
		return worst, nil
	}
}

// violated is the word j whose row x violates most in m's cell; −1 without one.
func violated(x []float64, m int, words [][]uint64, least func(m, j int) int) int {
	worst, at := 1e-7, -1
	for j := range words {
		if j == m {
			continue
		}
		sum := 0.0
		for h, w := range words[m] {
			for d := w ^ words[j][h]; d != 0; d &= d - 1 {
				b := bits.TrailingZeros64(d)
				if w>>b&1 == 1 {
					sum += x[64*h+b]
				} else {
					sum -= x[64*h+b]
				}
			}
		}
		if v := float64(least(m, j)) - sum; v > worst {
			worst, at = v, j
		}
	}
	return at
}
