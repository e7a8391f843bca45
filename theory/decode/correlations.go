package decode

import "belsim/theory/code"

// Correlations computes the correlations Σ_k z_k·C[n,k] of outputs with all code
// words. Each code word is its predecessor with some bits changed, so its
// correlation is the predecessor's plus some outputs, less others: O(M +
// transitions) instead of O(L·M). It is safe for concurrent use.
//
// A sum that changes by few terms at a time carries the roundings of all: at most
// 2⁻⁵³·transitions of the sum of the |z_k|. Outputs that are multiples of a common unit, such
// as bits, ±1 or half-precision logits of ordinary size, have no roundings, so that equal
// correlations stay equal.
type Correlations struct {
	code  *code.Code
	steps [][]step // by row; those from row i−1 to i
}

// step is a bit that changes: bit k becomes one, or bit −1−k zero.
type step int32

// NewCorrelations prepares the correlations with a code's words.
func NewCorrelations(c *code.Code) *Correlations {
	x := &Correlations{code: c}
	if c.Real() {
		return x
	}
	x.steps = make([][]step, c.Levels())
	for k, positions := range c.Transitions() {
		for _, i := range positions {
			s := step(k)
			if !c.Bit(i, k) {
				s = -1 - s
			}
			x.steps[i] = append(x.steps[i], s)
		}
	}
	return x
}

// To sets dst, of length L, to the correlations with M outputs.
func (x *Correlations) To(dst, z []float64) {
	if x.steps == nil {
		for i := range dst {
			dst[i] = correlation(x.code, i, z)
		}
		return
	}
	sum := correlation(x.code, 0, z)
	for i := range dst {
		for _, s := range x.steps[i] {
			if s >= 0 {
				sum += z[s]
			} else {
				sum -= z[-1-s]
			}
		}
		dst[i] = sum
	}
}

// correlations are Σ_k z_k·C[n,k] for every row, in O(L·M).
func correlations(c *code.Code, z []float64) []float64 {
	out := make([]float64, c.Levels())
	for i := range out {
		out[i] = correlation(c, i, z)
	}
	return out
}

// correlation is Σ_k z_k·C[i,k].
func correlation(c *code.Code, i int, z []float64) float64 {
	sum := 0.0
	for k, v := range z {
		sum += v * c.Value(i, k)
	}
	return sum
}
