package limit

import "math"

// outcome has the probabilities a and b of an outcome of some references at two levels, each times ½.
type outcome struct{ sum, product4 float64 } // a + b, and 4·a·b

// references are outcomes of binary outputs by which two equally probable levels are tested. With further outputs, of a
// Bhattacharyya sum s (BC = e^−s), a test is wrong with at least the probability
//
//	G(s) = Σ ½·(m − √(m² − 4ab·e^−2s)), m = a + b.
type references []outcome

// newReferences are counts of ones of channels, each with the probabilities p and q of a one at the
// two levels.
func newReferences(counts []int, p, q []float64) references {
	a, b := []float64{0.5}, []float64{0.5}
	for c, n := range counts {
		var x, y []float64
		u, v := binomial(n, p[c]), binomial(n, q[c])
		for i := range u {
			for j := range a {
				x, y = append(x, a[j]*u[i]), append(y, b[j]*v[i])
			}
		}
		a, b = x, y
	}
	var out references
	for i := range a {
		if min(a[i], b[i]) > 1e-8 { // to leave one out makes G smaller
			out = append(out, outcome{a[i] + b[i], 4 * a[i] * b[i]})
		}
	}
	return out
}

// binomial has the probabilities of 0 … n ones.
func binomial(n int, p float64) []float64 {
	out := []float64{1}
	for range n {
		out = append(out, 0)
		for i := len(out) - 1; i >= 0; i-- {
			out[i] *= 1 - p
			if i > 0 {
				out[i] += out[i-1] * p
			}
		}
	}
	return out
}

// at returns G(s) and its derivative. G is convex.
func (r references) at(s float64) (g, slope float64) {
	bc := math.Exp(-2 * s)
	for _, o := range r {
		c := o.product4 * bc
		root := math.Sqrt(max(o.sum*o.sum-c, 0))
		g += c / (o.sum + root) // m − root without cancellation
		slope -= c / max(root, 1e-300)
	}
	return g / 2, slope / 2
}

// least bounds min over s ≥ 0 of a·G(s) + λ·s from below, and says where that is; start is a guess of s.
func (r references) least(a, lambda, start float64) (v, g, s float64) {
	if len(r) == 0 || a == 0 {
		return 0, 0, 0
	}
	lo, hi := 0.0, 60.0
	s = start
	lost := 0.0
	for range 60 {
		value, slope := r.at(s)
		d, edge := a*slope+lambda, hi
		if d > 0 {
			edge, hi = lo, s
		} else {
			lo = s
		}
		v, g = a*value+lambda*s, value
		// The tangent is below the function up to the other end of the bracket.
		if lost = math.Abs(d * (edge - s)); lost < 1e-6*v || hi-lo < 1e-12 {
			break
		}
		next := s + 0.5*math.Log(-a*slope/max(lambda, 1e-12)) // −slope falls about as e^−2s
		if next <= 0 && lo == 0 {
			next = 0
		}
		if next == s || next < lo || !(next < hi) {
			next = (lo + hi) / 2
		}
		s = next
	}
	return v - lost, g, s
}
