package anylaw

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// pattern is the column of a set of kept bits: row 0 is that of λ₀, and row k+1 that of bit k.
// Where a cell's search was ended, parts of bits stand for a set; a law with such a pattern is none.
func pattern(bits []int, parts []float64, value float64) column {
	rows := make([]int, 1, len(bits)+1)
	for _, k := range bits {
		rows = append(rows, k+1)
	}
	if parts != nil {
		parts = append([]float64{1}, parts...)
	}
	return column{rows, parts, value}
}

// tolerance is by how much a pattern may still be above the dual's plane, in levels, when the
// search ends.
const tolerance = 1e-10

// extreme maximizes Σ p_S·value(S) over the laws p whose bits err with probabilities e. The bound
// is that of the dual: a plane λ₀ + Σ λ_k that is raised until no pattern is above it. So it is no
// smaller than the maximum, however the search ended.
//
// The simplex method holds few patterns. Equal probabilities would make its steps stand still, and
// it moves them by less than 10⁻¹⁰ of themselves; the plane's value is taken at e itself.
func extreme(ctx context.Context, r *row) (bound, sd float64, law Law, err error) {
	n := len(r.e) + 1
	exact := append([]float64{1}, r.e...)
	right := slices.Clone(exact)
	state := uint64(1)
	for k := 1; k < n; k++ {
		state = state*6364136223846793005 + 1442695040888963407
		right[k] *= 1 - 1e-10*float64(state>>40)/(1<<24)
	}
	s := nested(r, right)
	price := pricer(r)
	bound = math.Inf(1)
	for pivots := 0; ; pivots++ {
		s.lay()
		enter, _ := s.highest(0, tolerance/2)
		if enter < 0 {
			if err := ctx.Err(); err != nil {
				return 0, 0, nil, err
			}
			known := len(s.columns)
			worst, err := price(ctx, s.plane, func(bits []int, parts []float64, value float64) {
				s.columns = append(s.columns, pattern(bits, parts, value))
			})
			if err != nil {
				return 0, 0, nil, err
			}
			sum, size := max(worst, 0), 0.0
			for k, b := range exact {
				sum += s.plane[k] * b
				size += math.Abs(s.plane[k])
			}
			if sum += float64(n) * 0x1p-51 * size; sum < bound {
				bound, sd = sum, 0
				for k, p := range r.e {
					sd += math.Abs(s.plane[k+1]) * math.Sqrt(p*(1-p))
				}
			}
			if worst <= tolerance || pivots > 2000*n {
				break
			}
			if enter, _ = s.highest(known, tolerance/2); enter < 0 {
				break
			}
		}
		if pivots > 2100*n || !s.enter(enter) {
			break // only roundings can do this; the bound holds
		}
		if pivots%128 == 127 {
			if err := s.invert(); err != nil {
				if math.IsInf(bound, 1) {
					return 0, 0, nil, fmt.Errorf("the simplex method lost its basis: %w", err)
				}
				break
			}
		}
	}
	s.right = exact
	s.refresh()
	for j, at := range s.basis {
		if s.share[j] > 1e-14 {
			if s.columns[at].parts != nil {
				return bound, sd, nil, nil
			}
			bits := slices.Clone(s.columns[at].rows[1:])
			for b := range bits {
				bits[b]--
			}
			law = append(law, Pattern{bits, s.share[j]})
		}
	}
	return bound, sd, law, nil
}

// nested begins with a nested law: its set j holds the j bits that err most.
func nested(r *row, right []float64) *simplex {
	n := len(right)
	order := descending(right[1:])
	columns, basis := make([]column, n, 4*n), make([]int, n)
	inverse := mat.NewDense(n, n, nil)
	inverse.Set(0, 0, 1)
	for j := range n {
		bits := slices.Clone(order[:j])
		slices.Sort(bits)
		columns[j], basis[j] = pattern(bits, nil, r.value(bits)), j
		if j > 0 {
			k := order[j-1] + 1
			inverse.Set(j-1, k, -1)
			inverse.Set(j, k, 1)
		}
	}
	return newSimplex(right, columns, basis, inverse)
}
