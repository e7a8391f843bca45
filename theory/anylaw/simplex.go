package anylaw

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// pattern is a column of the linear program: a set of kept bits, and what it adds to the mean.
// Where a cell's search was ended, parts of bits stand for a set; a law with such a pattern is
// none.
type pattern struct {
	bits  []int
	parts []float64 // of these bits; nil for whole ones
	value float64
}

// dot is the product of a pattern's column and a row of λ₀ and all λ_k.
func (p pattern) dot(row []float64) float64 {
	sum := row[0]
	if p.parts != nil {
		for b, k := range p.bits {
			sum += p.parts[b] * row[k+1]
		}
		return sum
	}
	for _, k := range p.bits {
		sum += row[k+1]
	}
	return sum
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
	right := make([]float64, n) // 1, and e
	exact := append([]float64{1}, r.e...)
	copy(right, exact)
	state := uint64(1)
	for k := 1; k < n; k++ {
		state = state*6364136223846793005 + 1442695040888963407
		right[k] *= 1 - 1e-10*float64(state>>40)/(1<<24)
	}
	// The first law is nested: S_j holds the j bits that err most.
	order := descending(right[1:])
	pool := make([]pattern, 1, 4*n)
	inverse := mat.NewDense(n, n, nil)
	inverse.Set(0, 0, 1)
	for j, k := range order {
		inverse.Set(j, k+1, -1)
		inverse.Set(j+1, k+1, 1)
		bits := slices.Clone(order[:j+1])
		slices.Sort(bits)
		pool = append(pool, pattern{bits: bits})
	}
	basis := make([]int, n)
	for j := range pool {
		pool[j].value, basis[j] = r.value(pool[j].bits), j
	}
	inv := inverse.RawMatrix().Data
	plane, step, share := make([]float64, n), make([]float64, n), make([]float64, n)
	bound = math.Inf(1)
	price := pricer(r)
	refresh := func() {
		clear(share)
		for j := range n {
			for k, b := range right {
				share[j] += inv[j*n+k] * b
			}
		}
	}
	refresh()
	clear(plane)
	for pivots := 0; ; pivots++ {
		clear(plane)
		for j, at := range basis {
			if v := pool[at].value; v != 0 {
				for k, b := range inv[j*n : (j+1)*n] {
					plane[k] += v * b
				}
			}
		}
		enter, most := -1, tolerance/2
		for j, p := range pool {
			if above := p.above(plane); above > most {
				enter, most = j, above
			}
		}
		if enter < 0 {
			if err := ctx.Err(); err != nil {
				return 0, 0, nil, err
			}
			known := len(pool)
			worst, err := price(ctx, plane, func(bits []int, parts []float64, value float64) {
				pool = append(pool, pattern{slices.Clone(bits), parts, value})
			})
			if err != nil {
				return 0, 0, nil, err
			}
			sum, size := max(worst, 0), 0.0
			for k, b := range exact {
				sum += plane[k] * b
				size += math.Abs(plane[k])
			}
			if sum += float64(n) * 0x1p-51 * size; sum < bound {
				bound, sd = sum, 0
				for k, p := range r.e {
					sd += math.Abs(plane[k+1]) * math.Sqrt(p*(1-p))
				}
			}
			if worst <= tolerance || len(pool) == known || pivots > 2000*n {
				break
			}
			for j, p := range pool[known:] {
				if above := p.above(plane); above > most {
					enter, most = known+j, above
				}
			}
			if enter < 0 {
				break
			}
		}
		for j := range n {
			step[j] = pool[enter].dot(inv[j*n : (j+1)*n])
		}
		leave, least := -1, math.Inf(1)
		for j, s := range step {
			if s > 1e-9 {
				ratio := max(share[j], 0) / s
				if ratio < least || ratio == least && s > step[leave] {
					leave, least = j, ratio
				}
			}
		}
		if leave < 0 || pivots > 2100*n {
			break // only roundings can do this; the bound holds
		}
		out := inv[leave*n : (leave+1)*n]
		for k := range out {
			out[k] /= step[leave]
		}
		for j, s := range step {
			if j != leave && s != 0 {
				row := inv[j*n : (j+1)*n]
				for k, b := range out {
					row[k] -= s * b
				}
			}
			share[j] -= s * least
		}
		share[leave] = least
		basis[leave] = enter
		if pivots%128 == 127 {
			b := mat.NewDense(n, n, nil)
			for j, at := range basis {
				b.Set(0, j, 1)
				for i, k := range pool[at].bits {
					part := 1.0
					if pool[at].parts != nil {
						part = pool[at].parts[i]
					}
					b.Set(k+1, j, part)
				}
			}
			if err := inverse.Inverse(b); err != nil {
				if math.IsInf(bound, 1) {
					return 0, 0, nil, fmt.Errorf("the simplex method lost its basis: %w", err)
				}
				break
			}
			inv = inverse.RawMatrix().Data
			refresh()
		}
	}
	copy(right, exact)
	refresh()
	for j, at := range basis {
		if share[j] > 1e-14 {
			if pool[at].parts != nil {
				return bound, sd, nil, nil
			}
			law = append(law, Pattern{slices.Clone(pool[at].bits), share[j]})
		}
	}
	return bound, sd, law, nil
}

// above is by how much a pattern is above a plane.
func (p pattern) above(plane []float64) float64 { return p.value - p.dot(plane) }
