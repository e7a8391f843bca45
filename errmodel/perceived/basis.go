package perceived

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// basis are the K = waves+2 features of a logit on the grid: √12·(u−½), 1 and √2·cos(π·j·t) for
// j = 1 … waves, where u runs from 0 to 1 over the levels and t over the grid.
//
// Features with an even index are odd functions around the middle of the grid, and the others even
// ones. So sums over the grid are sums over half of it, after fold.
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
		return b.line, 1
	case 1:
		return b.cosine[0], 1
	}
	return b.cosine[j-1], math.Sqrt2
}

// fold puts v_g + v_{G−1−g} into the first half of v, with the middle, and v_g − v_{G−1−g} into the
// second.
func fold(v []float64) {
	for g, h := 0, len(v)-1; g < h; g, h = g+1, h-1 {
		v[g], v[h] = v[g]+v[h], v[h]-v[g]
	}
}

// unfold makes a function of its even part, in the first half of v with the middle, and its odd
// part in the second.
func unfold(v []float64) {
	for g, h := 0, len(v)-1; g < h; g, h = g+1, h-1 {
		v[g], v[h] = v[g]-v[h], v[g]+v[h]
	}
}

// half returns the half of v in which the even or the odd part of a function is.
func half(v []float64, odd bool) []float64 {
	middle := (len(v) + 1) / 2
	if odd {
		return v[middle:]
	}
	return v[:middle]
}

// product is Σ_g a_g·v_g of a function that is even or odd, and a folded v.
func product(a, v []float64, odd bool) float64 { return floats.Dot(half(a, odd), half(v, odd)) }

// sum sets dst, of length G, to the function with the given coefficients, of length K.
func (b *basis) sum(dst, coefficients []float64) {
	clear(dst)
	for j, v := range coefficients {
		values, factor := b.row(j)
		floats.AddScaled(half(dst, j%2 == 0), v*factor, half(values, j%2 == 0))
	}
	unfold(dst)
}

// project sets dst, of length K, to the sums Σ_g feature_j(g)·v_g. It folds v.
func (b *basis) project(dst, v []float64) {
	fold(v)
	for j := range dst {
		values, factor := b.row(j)
		dst[j] = factor * product(values, v, j%2 == 0)
	}
}

// gram sets the upper triangle of h, K × K, to Σ_g v_g·feature_i(g)·feature_j(g). A product of two
// cosines is a sum of two, 2·cos(i)·cos(j) = cos(i+j) + cos(i−j), so that 2J+1 sums over the grid
// give all J² of them. It folds v. moments, of length 2J+1, and scratch, of length G, are
// overwritten.
func (b *basis) gram(h, v, moments, scratch []float64) {
	k := b.features()
	floats.MulTo(scratch, b.line, v)
	fold(scratch)
	fold(v)
	for j := range moments {
		moments[j] = product(b.cosine[j], v, j%2 == 1)
	}
	h[0], h[1] = product(b.line, scratch, true), product(b.cosine[0], scratch, false)
	h[k+1] = moments[0]
	for j := 1; j <= waves; j++ {
		h[j+1] = math.Sqrt2 * product(b.cosine[j], scratch, j%2 == 1)
		h[k+j+1] = math.Sqrt2 * moments[j]
		row := h[(j+1)*k+j+1 : (j+2)*k]
		for i := range row {
			row[i] = moments[2*j+i] + moments[i]
		}
	}
}

// solve solves h·x = y for a symmetric positive definite h, K × K, of which it reads and overwrites
// the upper triangle, by Cholesky's factors. x takes the place of y. The result is false where h is
// not positive definite. LAPACK's Potrf of gonum is as fast, and sums in another order: the last
// printed digit of some errors would change.
func solve(h, y []float64) bool {
	k := len(y)
	for j := range k {
		row := h[j*k+j : (j+1)*k]
		if !(row[0] > 0) {
			return false
		}
		floats.Scale(1/math.Sqrt(row[0]), row)
		for i := 1; i < len(row); i++ {
			floats.AddScaled(h[(j+i)*k+j+i:(j+i+1)*k], -row[i], row[i:])
		}
		y[j] /= row[0]
		floats.AddScaled(y[j+1:], -y[j], row[1:])
	}
	for i := k - 1; i >= 0; i-- {
		row := h[i*k+i : (i+1)*k]
		y[i] = (y[i] - floats.Dot(row[1:], y[i+1:])) / row[0]
	}
	return true
}
