package limit

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// concave is a function of multipliers that are not negative, with a gradient.
type concave func(ctx context.Context, x []float64) (value float64, gradient []float64, err error)

// plane is above a concave function: value + gradient·(y−x).
type plane struct {
	x, gradient []float64
	value       float64
}

func (p plane) at(y []float64) float64 {
	v := p.value
	for j, g := range p.gradient {
		v += g * (y[j] - p.x[j])
	}
	return v
}

// ascend looks for the largest value of f from x, by at most so many steps of the cutting-plane
// method with a trust region, whose unit is the place or a tenth of x. Every value of f is valid,
// so that the place need not be the best.
func ascend(ctx context.Context, f concave, x []float64, steps int) (best float64, at []float64, err error) {
	const most = 24 // planes that are kept
	var planes []plane
	try := func(y []float64) (float64, error) {
		value, gradient, err := f(ctx, y)
		// f is not concave everywhere: a plane that is below it is wrong.
		planes = slices.DeleteFunc(planes, func(p plane) bool { return p.at(y) < value-1e-12 })
		planes = append(planes, plane{y, gradient, value})
		planes = planes[max(0, len(planes)-most):]
		return value, err
	}
	at = slices.Clone(x)
	if best, err = try(at); err != nil {
		return 0, nil, err
	}
	radius, last := 0.5, best
	lower, width := make([]float64, len(x)), make([]float64, len(x))
	for range steps {
		for j, v := range at {
			r := radius * max(v, 0.1*x[j])
			lower[j] = max(0, v-r)
			width[j] = v + r - lower[j]
		}
		if y, top := highest(planes, lower, width); top-best < 1e-4*math.Abs(best) {
			radius *= 0.4
		} else if value, err := try(y); err != nil {
			return 0, nil, err
		} else if value > best {
			if value-best > 0.5*(top-best) {
				radius = min(0.9, 1.5*radius)
			}
			best, at = value, y
		} else {
			radius *= 0.85
		}
		if radius < 0.01 { // begin again, unless that did not help the last time
			if best-last < 1e-3*math.Abs(best) {
				break
			}
			radius, last, planes = 0.5, best, nil
			if _, err := try(at); err != nil {
				return 0, nil, err
			}
		}
	}
	return best, at, nil
}

// hop takes steps from each of some starts, and then from places around the best one, of a fixed sequence.
func hop(ctx context.Context, f concave, starts [][]float64, hops, steps int) (best float64, at []float64, err error) {
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range len(starts) + hops {
		x := slices.Clone(starts[min(i, len(starts)-1)])
		for j := range x {
			if i >= len(starts) {
				x[j] = (at[j] + 1e-5) * math.Exp(0.7*rng.NormFloat64())
			}
		}
		v, y, err := ascend(ctx, f, x, steps)
		if err != nil {
			return 0, nil, err
		}
		if i == 0 || v > best {
			best, at = v, y
		}
	}
	return best, at, nil
}

// highest is the point of a box, lower + [0, width], where the lowest plane is highest, and its
// height: by the simplex method, from the corner at lower.
func highest(planes []plane, lower, width []float64) (x []float64, height float64) {
	n, base := len(lower), math.Inf(1)
	for _, p := range planes {
		base = min(base, p.at(lower))
	}
	// Columns: x − lower, height − base, the right side. The last row is the objective.
	m := len(planes) + n
	rows, basic := make([][]float64, m+1), make([]int, m)
	free := make([]int, n+1)
	for i := range rows {
		rows[i] = make([]float64, n+2)
	}
	for i, p := range planes {
		for j, g := range p.gradient {
			rows[i][j] = -g
		}
		rows[i][n], rows[i][n+1] = 1, p.at(lower)-base
	}
	for j, w := range width {
		rows[len(planes)+j][j], rows[len(planes)+j][n+1] = 1, w
	}
	rows[m][n] = -1
	for j := range free {
		free[j] = j
	}
	for i := range basic {
		basic[i] = n + 1 + i
	}
	for range 200 {
		in := -1
		for j, v := range rows[m][:n+1] {
			if v < -1e-12 && (in < 0 || v < rows[m][in]) {
				in = j
			}
		}
		if in < 0 {
			break
		}
		out, least := -1, math.Inf(1)
		for i, r := range rows[:m] {
			if r[in] > 1e-11 && r[n+1]/r[in] < least {
				out, least = i, r[n+1]/r[in]
			}
		}
		if out < 0 {
			break
		}
		pivot(rows, out, in)
		basic[out], free[in] = free[in], basic[out]
	}
	x = slices.Clone(lower)
	for i, j := range basic {
		if j < n {
			x[j] = lower[j] + min(max(rows[i][n+1], 0), width[j])
		}
	}
	height = math.Inf(1)
	for _, p := range planes {
		height = min(height, p.at(x))
	}
	return x, height
}

// pivot exchanges a basic variable and a free one.
func pivot(rows [][]float64, out, in int) {
	r := rows[out]
	by := 1 / r[in]
	r[in] = 1
	for j := range r {
		r[j] *= by
	}
	for i, other := range rows {
		if i == out {
			continue
		}
		if by := other[in]; by != 0 {
			other[in] = 0
			for j, v := range r {
				other[j] -= by * v
			}
		}
	}
}
