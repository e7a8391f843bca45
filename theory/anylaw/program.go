package anylaw

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// relax minimizes cost·x over lo ≤ x ≤ hi and rows a·x ≥ b, which are asked for when x violates
// them. x is the plane of the dual, whose columns are the rows and both ends of each x: the cheaper
// ends come first, and each step makes one violated row or end hold.
//
// It returns a lower bound of the cost, and x; nil where no x satisfies the rows, and the bound is
// +Inf. used are the rows that bind. A step that cannot be trusted ends it with the bound so far,
// which holds.
func relax(cost, lo, hi []float64, first []int, rowOf func(j int) column,
	violated func(x []float64) int) (bound float64, x []float64, used []binding) {
	n := len(cost)
	columns, basis, inverse := make([]column, 0, 3*n), make([]int, n), mat.NewDense(n, n, nil)
	rows, minus := make([]int, n), []float64{-1}
	for k, c := range cost {
		sign := math.Copysign(1, c)
		inverse.Set(k, k, sign)
		basis[k] = 2 * k
		if sign < 0 {
			basis[k]++
		}
		rows[k] = k
		columns = append(columns, column{rows[k : k+1], nil, lo[k]}, column{rows[k : k+1], minus, -hi[k]})
	}
	names := slices.Clone(first)
	for _, j := range first {
		columns = append(columns, rowOf(j))
	}
	s := newSimplex(cost, columns, basis, inverse)
	s.lay()
	for steps := 0; steps < 40*(n+len(names)); steps++ {
		enter, above := s.highest(0, 1e-8)
		if enter < 0 {
			j := violated(s.plane)
			if j < 0 || slices.Contains(names, j) {
				break
			}
			names = append(names, j)
			s.columns = append(s.columns, rowOf(j))
			continue
		}
		if !s.enter(enter) {
			// Steps that were taken for roundings move a row by at most 2n each.
			if above > 1e-7+2*smallest*float64(n*n) {
				return math.Inf(1), nil, nil
			}
			break
		}
		s.lay()
	}
	for j, at := range s.basis {
		if y := s.share[j]; at >= 2*n && y > 0 {
			used = append(used, binding{names[at-2*n], y})
		}
	}
	return dualBound(cost, lo, hi, used, rowOf), s.plane, used
}

// binding is a row that binds, with its multiplier.
type binding struct {
	row        int
	multiplier float64
}

// dualBound is the bound of the rows' multipliers, which holds for any cost: Σ y·b, and the cheaper
// end of each x.
func dualBound(cost, lo, hi []float64, rows []binding, rowOf func(j int) column) (bound float64) {
	left := slices.Clone(cost)
	for _, r := range rows {
		row := rowOf(r.row)
		bound += r.multiplier * row.value
		for i, k := range row.rows {
			left[k] -= r.multiplier * row.part(i)
		}
	}
	for k, c := range left {
		bound += min(c*lo[k], c*hi[k])
	}
	return bound
}
