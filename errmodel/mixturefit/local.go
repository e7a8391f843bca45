package mixturefit

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
)

// local evaluates a fitted mixture at the cells of counts: levels, or parts of levels. Use it on one
// goroutine.
type local struct {
	grid      grid
	positions [][]int
	logR      float64
	gauss     gauss
	distances []int32 // scratch
}

// newLocal prepares the evaluation of a mixture of weight r and width σ at the cells of a grid.
func newLocal(r, sigma float64, levels int, positions [][]int, g grid) *local {
	l := &local{grid: g, positions: positions, logR: math.Log(r), gauss: newGauss(g, 2*levels*g.parts)}
	l.gauss.at(math.Log(g.wide(sigma)))
	return l
}

// rate returns e of a bit at a cell, 0 where it is so small that no sum notices it, and q = ∂ln e/∂ln s.
// Both are 0 for a bit without transitions.
func (l *local) rate(cell, k int) (e, q float64) {
	l.distances = l.distances[:0]
	nearest := 0
	for i, at := range l.positions[k] {
		l.distances = append(l.distances, int32(l.grid.distance(cell, at)))
		if l.distances[i] < l.distances[nearest] {
			nearest = i
		}
	}
	if len(l.distances) == 0 {
		return 0, 0
	}
	l.distances[0], l.distances[nearest] = l.distances[nearest], l.distances[0]
	logU, q, _ := l.gauss.sum(l.distances)
	logE := min(l.logR+logU, 0)
	if logE < -46 { // 10⁻²⁰
		return 0, q
	}
	return math.Exp(logE), q
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
	l := newLocal(f.R, f.Sigma, c.Levels, f.positions, f.l.grid)
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
