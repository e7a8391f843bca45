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
	width     width
	positions [][]int
	logR      float64
	scale     float64 // ln of the factor of the Gaussians
	reach     int     // the distance beyond which a Gaussian is less than 10⁻²⁰ of the largest
}

// newLocal prepares the evaluation of a mixture of weight r and width σ at the cells of a grid.
func newLocal(r, sigma float64, positions [][]int, g grid) *local {
	b := math.Log(g.wide(sigma))
	w := width{unit: g.unit(), s: math.Exp(b)}
	return &local{grid: g, width: w, positions: positions, logR: math.Log(r),
		scale: -b - math.Log(2*math.Pi)/2, reach: int(math.Ceil(9.6 * w.s / w.unit))}
}

// near is the distance of a cell from the nearest transition of a bit; MaxInt32 without any.
func (l *local) near(cell int, at []int) (distance, index int) {
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
	first := l.width.square(int32(nearest))
	add := func(j int) bool {
		zz := l.width.square(int32(l.grid.distance(cell, at[j])))
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

// rate is bit where e is not so small that no sum notices it, else 0. A bit without transitions has 0.
func (l *local) rate(cell, k int) (e, q float64) {
	if nearest, _ := l.near(cell, l.positions[k]); nearest > l.reach {
		return 0, 0
	}
	return l.bit(cell, k)
}

// Table returns the error probabilities e[n,k], L × M: those of the mixture at levels, or where labels
// are real the means over the samples of a level. A level without samples has labels in all its parts
// then. The error is the context's.
func (f *Fit) Table(ctx context.Context) (mat.Matrix, error) {
	c := f.counts
	if c.Fine == nil {
		p, err := errmodel.NewProfile(ctx, c.Levels, f.positions, f.Sigma)
		if err != nil {
			return nil, err
		}
		return p.Mixture(f.R)
	}
	l := newLocal(f.R, f.Sigma, f.positions, f.l.grid)
	parts := c.Parts()
	return f.table(ctx, func(i, k int) float64 {
		sum := 0.0
		for cell := i * parts; cell < (i+1)*parts; cell++ {
			weight := 1 / float64(parts)
			if samples := c.Samples[i]; samples > 0 {
				n, _ := c.At(cell)
				weight = float64(n) / float64(samples)
			}
			if weight > 0 {
				p, _ := l.rate(cell, k)
				sum += weight * p
			}
		}
		return min(sum, 1)
	})
}

// PartTable returns the error probabilities e[n,k], L × M, of real labels in one of several equal
// parts of every level, from 0. The error is the context's.
func (f *Fit) PartTable(ctx context.Context, parts, part int) (mat.Matrix, error) {
	l := newLocal(f.R, f.Sigma, f.positions, newGrid(parts))
	return f.table(ctx, func(i, k int) float64 {
		e, _ := l.rate(i*parts+part, k)
		return e
	})
}

// table is a table of values by row and bit, both from 0.
func (f *Fit) table(ctx context.Context, value func(i, k int) float64) (mat.Matrix, error) {
	e := mat.NewDense(f.counts.Levels, f.counts.Bits, nil)
	for k := range f.counts.Bits {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for i := range f.counts.Levels {
			e.Set(i, k, value(i, k))
		}
	}
	return e, nil
}
