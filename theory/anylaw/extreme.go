package anylaw

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// pattern is the column of a set of kept bits: row 0 is that of λ₀, and row k+1 that of bit k.
func pattern(bits []int, value float64) column {
	rows := make([]int, 1, len(bits)+1)
	for _, k := range bits {
		rows = append(rows, k+1)
	}
	return column{rows, value}
}

// tolerance is by how much a pattern may still be above the dual's plane, in levels, when the
// search ends.
const tolerance = 1e-8

// mostColumns is how many columns are kept, as multiples of the rows: to look through all that were
// ever of use takes longer than to find some of them again.
const mostColumns = 20

// extreme maximizes Σ p_S·value(S) over the laws p whose bits err with probabilities e. The bound
// is that of the dual: a plane λ₀ + Σ λ_k that is raised until no pattern is above it. So it is no
// smaller than the maximum, however the search ended. sd is the bound's standard deviation where
// each rate is that of one sample.
func extreme(ctx context.Context, r *row) (bound, sd float64, err error) {
	n := len(r.e) + 1
	exact := append([]float64{1}, r.e...)
	s := nested(r, shaken(exact))
	price := pricer(r)
	bound = math.Inf(1)
	for pivots := 0; ; pivots++ {
		s.lay()
		enter, _ := s.highest(0, tolerance/2)
		if enter < 0 {
			if err := ctx.Err(); err != nil {
				return 0, 0, err
			}
			if len(s.columns) > mostColumns*n {
				s.forget()
			}
			known := len(s.columns)
			worst := price(s.plane, func(bits []int, value float64) {
				s.columns = append(s.columns, pattern(bits, value))
			})
			if v := dual(s.plane, exact, worst); v < bound {
				bound, sd = v, deviation(s.plane[1:], r.e)
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
					return 0, 0, fmt.Errorf("the simplex method lost its basis: %w", err)
				}
				break
			}
		}
	}
	return bound, sd, nil
}

// shaken moves probabilities by less than 10⁻¹⁰ of themselves. The simplex method holds few
// patterns, and equal probabilities would make its steps stand still.
func shaken(exact []float64) []float64 {
	right := slices.Clone(exact)
	state := uint64(1)
	for k := 1; k < len(right); k++ {
		state = state*6364136223846793005 + 1442695040888963407
		right[k] *= 1 - 1e-10*float64(state>>40)/(1<<24)
	}
	return right
}

// dual is the value of a plane at the right side, raised by the worst that a pattern is above it,
// and by what roundings can take away.
func dual(plane, right []float64, worst float64) float64 {
	sum, size := max(worst, 0), 0.0
	for k, b := range right {
		sum += plane[k] * b
		size += math.Abs(plane[k])
	}
	return sum + float64(len(right))*0x1p-51*size
}

// deviation is Σ |λ_k|·√(e_k·(1 − e_k)), which is at least the standard deviation of Σ λ_k·e_k over
// one sample, however its bits depend on each other.
func deviation(slopes, e []float64) (sd float64) {
	for k, p := range e {
		sd += math.Abs(slopes[k]) * math.Sqrt(p*(1-p))
	}
	return sd
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
		columns[j], basis[j] = pattern(bits, r.value(bits)), j
		if j > 0 {
			k := order[j-1] + 1
			inverse.Set(j-1, k, -1)
			inverse.Set(j, k, 1)
		}
	}
	return newSimplex(right, columns, basis, inverse)
}

// descending orders the numbers of values by them, the largest first.
func descending(values []float64) []int {
	order := make([]int, len(values))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	return order
}
