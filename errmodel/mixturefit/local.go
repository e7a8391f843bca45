package mixturefit

import (
	"context"
	"math"
	"sort"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
)

// local evaluates a fitted mixture at the cells of counts: levels, or parts of levels. It is safe
// for concurrent use.
type local struct {
	grid      grid
	gauss     gauss
	positions [][]int
	logR      float64
	scale     float64 // ln of the factor of the Gaussians
	reach     int32   // the distance beyond which a Gaussian is less than 10⁻²⁰ of the largest
}

// local prepares the evaluation of a fit with cells of some grid; cells is their number.
func (f *Fit) local(positions [][]int, g grid, levels int) *local {
	l := &local{grid: g, positions: positions, logR: math.Log(f.R.Value)}
	most := 2 * levels * g.parts
	for _, at := range positions {
		for _, n := range at {
			most = max(most, 2*n*g.parts)
		}
	}
	l.gauss = newGauss(g.unit(), most)
	b := math.Log(g.wide(f.Sigma.Value))
	l.gauss.at(b)
	l.scale = -b - math.Log(2*math.Pi)/2
	l.reach = int32(min(float64(most), math.Ceil(9.6*l.gauss.s/l.gauss.unit)))
	return l
}

// near is the distance of a cell from the nearest transition of a bit that has some.
func (l *local) near(cell int, at []int) (distance int32, index int) {
	i := sort.SearchInts(at, cell/l.grid.parts+1) // at[i] ≥ the number of the level
	distance = math.MaxInt32
	for _, j := range [2]int{i - 1, i} {
		if j >= 0 && j < len(at) {
			if d := l.grid.distance(cell, at[j]); d < distance {
				distance, index = d, j
			}
		}
	}
	return distance, index
}

// bit returns e of a bit that has transitions, at a cell, and q = ∂ln e/∂ln s.
func (l *local) bit(cell, k int) (e, q float64) {
	at := l.positions[k]
	nearest, middle := l.near(cell, at)
	// Relative to the nearest transition, others matter as long as they are not much further.
	var s, s1 float64
	first := l.gauss.square(nearest)
	add := func(j int) bool {
		zz := l.gauss.square(l.grid.distance(cell, at[j]))
		if zz-first > 92 { // 10⁻²⁰
			return false
		}
		w := 1.0
		if j != middle {
			w = math.Exp((first - zz) / 2)
		}
		s += w
		s1 += w * (zz - 1)
		return true
	}
	for j := middle; j < len(at) && add(j); j++ {
	}
	for j := middle - 1; j >= 0 && add(j); j-- {
	}
	logE := l.logR + l.scale - first/2
	if s != 1 {
		logE += math.Log(s)
	}
	return math.Exp(min(logE, 0)), s1 / s
}

// far reports whether e of a bit at a cell is so small that no sum notices it.
func (l *local) far(cell, k int) bool {
	nearest, _ := l.near(cell, l.positions[k])
	return nearest > l.reach
}

// PartRates returns the error probabilities e[n,k], L × M, of real labels in one of several equal
// parts of every level, from 0. positions are the transitions of the code. The error is the context's.
func (f *Fit) PartRates(ctx context.Context, positions [][]int, levels, parts, part int) (*mat.Dense, error) {
	e := mat.NewDense(levels, len(positions), nil)
	g := grid{parts: parts, spread: 1 / (12 * float64(parts) * float64(parts))}
	err := f.eachBit(ctx, positions, g, levels, func(l *local, k int) {
		for i := range levels {
			if cell := i*parts + part; !l.far(cell, k) {
				p, _ := l.bit(cell, k)
				e.Set(i, k, p)
			}
		}
	})
	return e, err
}

// MeanRates returns the error probabilities e[n,k], L × M, that the samples of a level have on
// average, where labels are real. A level without samples has labels in all its parts. positions are
// the transitions of the code. The error is the context's.
func (f *Fit) MeanRates(ctx context.Context, positions [][]int, c *errmodel.Counts) (*mat.Dense, error) {
	e := mat.NewDense(c.Levels, len(positions), nil)
	parts := c.Parts()
	err := f.eachBit(ctx, positions, newGrid(c), c.Levels, func(l *local, k int) {
		for i, samples := range c.Samples {
			sum := 0.0
			for cell := i * parts; cell < (i+1)*parts; cell++ {
				weight := 1 / float64(parts)
				if samples > 0 {
					n, _ := c.At(cell)
					weight = float64(n) / float64(samples)
				}
				if weight > 0 && !l.far(cell, k) {
					p, _ := l.bit(cell, k)
					sum += weight * p
				}
			}
			e.Set(i, k, min(sum, 1))
		}
	})
	return e, err
}

// eachBit calls do for every bit with transitions.
func (f *Fit) eachBit(ctx context.Context, positions [][]int, g grid, levels int, do func(l *local, k int)) error {
	l := f.local(positions, g, levels)
	for k, at := range positions {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(at) > 0 {
			do(l, k)
		}
	}
	return nil
}
