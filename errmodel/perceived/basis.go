package perceived

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// basis are the K = waves+2 features of a logit on the grid: 1, √12·(u−½) and √2·cos(π·j·t) for
// j = 1 … waves, where u runs from 0 to 1 over the levels and t over the grid.
type basis struct {
	line   []float64   // √12·(u−½) on the grid
	cosine [][]float64 // cos(π·j·t) for j = 0 … 2·waves, on the grid
	cycles []float64   // of each feature, over the range of levels; length K
}

func newBasis(ch *channel) *basis {
	points := len(ch.weight)
	b := &basis{line: make([]float64, points), cosine: make([][]float64, 2*waves+1), cycles: make([]float64, waves+2)}
	span := float64(max(ch.levels-1, 1))
	for g := range b.line {
		b.line[g] = ((ch.first+float64(g)*ch.step-1)/span - 0.5) * math.Sqrt(12)
	}
	// cos(π·j·g/(G−1)) has the period 2(G−1) in j·g.
	period := 2 * (points - 1)
	wave := make([]float64, period)
	for i := range wave {
		wave[i] = math.Cos(math.Pi * float64(i) / float64(points-1))
	}
	for j := range b.cosine {
		row := make([]float64, points)
		for g := range row {
			row[g] = wave[j*g%period]
		}
		b.cosine[j] = row
	}
	length := ch.step * float64(points-1) / span // of the grid, in ranges of levels
	for j := 1; j <= waves; j++ {
		b.cycles[j+1] = float64(j) / 2 / length
	}
	return b
}

// features is the number K of features.
func (b *basis) features() int { return len(b.cycles) }

// row returns feature j on the grid, and a factor that it must be multiplied with.
func (b *basis) row(j int) (values []float64, factor float64) {
	switch j {
	case 0:
		return b.cosine[0], 1
	case 1:
		return b.line, 1
	}
	return b.cosine[j-1], math.Sqrt2
}

// sum sets dst, of length G, to the function with the given coefficients, of length K.
func (b *basis) sum(dst, coefficients []float64) {
	clear(dst)
	for j, v := range coefficients {
		values, factor := b.row(j)
		floats.AddScaled(dst, v*factor, values)
	}
}

// project sets dst, of length K, to the sums Σ_g feature_j(g)·v_g.
func (b *basis) project(dst, v []float64) {
	for j := range dst {
		values, factor := b.row(j)
		dst[j] = factor * dot(values, v)
	}
}

// gram sets the lower triangle of h, K × K, to Σ_g v_g·feature_i(g)·feature_j(g). A product of
// two cosines is a sum of two, 2·cos(i)·cos(j) = cos(i+j) + cos(i−j), so that 2J+1 sums over the
// grid give all J² of them. moments, of length 2J+1, and scratch, of length G, are overwritten.
func (b *basis) gram(h, v, moments, scratch []float64) {
	k := b.features()
	for j := range moments {
		moments[j] = dot(b.cosine[j], v)
	}
	for g, x := range b.line {
		scratch[g] = x * v[g]
	}
	h[0] = moments[0]
	for j := 1; j <= waves; j++ {
		h[(j+1)*k] = math.Sqrt2 * moments[j]
		for i := 1; i <= j; i++ {
			h[(j+1)*k+i+1] = moments[j+i] + moments[j-i]
		}
		h[(j+1)*k+1] = math.Sqrt2 * dot(b.cosine[j], scratch)
	}
	h[k] = dot(b.cosine[0], scratch)
	h[k+1] = dot(b.line, scratch)
}

// solve solves h·x = y for a symmetric positive definite h, K × K, of which it reads and
// overwrites the lower triangle, by Cholesky's factors. x takes the place of y. The result is
// false where h is not positive definite.
func solve(h, y []float64) bool {
	k := len(y)
	for i := range k {
		row := h[i*k : i*k+i+1]
		for j := range i {
			other := h[j*k : j*k+j+1]
			row[j] = (row[j] - dot(row[:j], other[:j])) / other[j]
		}
		d := row[i] - dot(row[:i], row[:i])
		if !(d > 0) {
			return false
		}
		row[i] = math.Sqrt(d)
		y[i] = (y[i] - dot(row[:i], y[:i])) / row[i]
	}
	for i := k - 1; i >= 0; i-- {
		y[i] /= h[i*k+i]
		floats.AddScaled(y[:i], -y[i], h[i*k:i*k+i])
	}
	return true
}
