package mixturefit

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
)

// local evaluates a fitted mixture at levels. Use it on one goroutine.
type local struct {
	positions [][]int
	logR      float64
	gauss     gauss
	distances []int32 // scratch
}

// newLocal prepares the evaluation of a mixture of weight r and width σ.
func newLocal(r, sigma float64, levels int, positions [][]int) *local {
	l := &local{positions: positions, logR: math.Log(r), gauss: newGauss(2 * levels)}
	l.gauss.at(math.Log(sigma))
	return l
}

// rate returns e of a bit at row i, from 0; 0 where it is so small that no sum notices it, and q =
// ∂ln e/∂ln σ. Both are 0 for a bit without transitions.
func (l *local) rate(i, k int) (e, q float64) {
	l.distances = l.distances[:0]
	nearest := 0
	for j, at := range l.positions[k] {
		l.distances = append(l.distances, int32(distance(i, at)))
		if l.distances[j] < l.distances[nearest] {
			nearest = j
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

// Table returns the error probabilities e[n,k], L × M. The error is the context's.
func (f *Fit) Table(ctx context.Context) (mat.Matrix, error) {
	p, err := errmodel.NewProfile(ctx, f.counts.Levels, f.positions, f.Sigma)
	if err != nil {
		return nil, err
	}
	return p.Mixture(f.R)
}
