package decode

import (
	"math/bits"
	"slices"

	"belsim/theory/code"
)

// Correlations computes the correlations Σ_k z_k·C[n,k] of outputs with all code
// words. Each code word is its predecessor with some bits changed, so its
// correlation is the predecessor's plus some outputs, less others: O(L·M/64 +
// transitions) instead of O(L·M). Those of one-hot are the outputs. It is safe for concurrent use.
//
// The largest of them is exactly the largest, and the first of several that are equal: sums
// that roundings could have put in the wrong order are compared without rounding.
type Correlations struct {
	code      *code.Code
	roundings int   // of one sum, at most
	ones      []int // of each code word the only bit that is one; nil where a word has several
	hadamard  bool  // the words are the first rows of a Sylvester matrix
}

// NewCorrelations prepares the correlations with a code's words.
func NewCorrelations(c *code.Code) *Correlations {
	if c.Real() {
		return &Correlations{code: c, roundings: c.Bits()}
	}
	if c.Sylvester() { // a sum for each factor of two, and that of two sums
		return &Correlations{code: c, roundings: bits.Len(uint(c.Bits())) + 1, hadamard: true}
	}
	x := &Correlations{code: c, roundings: c.Bits() + c.TransitionCount()}
	if c.OneHot() {
		x.ones = make([]int, c.Levels())
		for i := range x.ones {
			for j, w := range c.Word(i) {
				if w != 0 {
					x.ones[i] = 64*j + bits.TrailingZeros64(w)
				}
			}
		}
	}
	return x
}

// Code returns the code.
func (x *Correlations) Code() *code.Code { return x.code }

// To sets dst, of length L, to the correlations with M outputs, and returns the row of the largest, the first of several.
func (x *Correlations) To(dst, z []float64) (row int) {
	if x.ones != nil { // no sums, no roundings
		dst = dst[:len(x.ones)]
		largest := z[x.ones[0]]
		for i, k := range x.ones {
			v := z[k]
			if dst[i] = v; v > largest {
				row, largest = i, v
			}
		}
		return row
	}
	switch {
	case x.hadamard:
		transform(dst, z)
	case x.code.Real():
		for i := range dst {
			dst[i] = correlation(x.code, i, z)
		}
	default:
		dst[0] = correlation(x.code, 0, z)
		x.code.Along(dst, z)
	}
	settle(dst, x.code, z, x.roundings)
	return place(dst)
}

// transform sets dst to the correlations with rows of a Sylvester matrix by a fast Walsh–Hadamard
// transform, in O(M·log M): of ±1, of which the rows of zeros and ones are half the sum with row 1.
func transform(dst, z []float64) {
	sums := slices.Clone(z)
	for half := 1; half < len(sums); half *= 2 {
		for from := 0; from < len(sums); from += 2 * half {
			a, b := sums[from:from+half], sums[from+half:from+2*half]
			for i, v := range a {
				a[i], b[i] = v+b[i], v-b[i]
			}
		}
	}
	for i := range dst {
		dst[i] = (sums[0] + sums[i]) / 2
	}
}

// correlations are Σ_k z_k·C[n,k] for every row, in O(L·M), settled.
func correlations(c *code.Code, z []float64) []float64 {
	out := make([]float64, c.Levels())
	for i := range out {
		out[i] = correlation(c, i, z)
	}
	settle(out, c, z, c.Bits())
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
