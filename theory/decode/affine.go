package decode

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Affine are scores of the levels that are affine in the outputs: level n has the score
//
//	s_n = b_n + Σ_k W[n,k]·z_k,
//
// with logits z_k, or ±1 for bits. The scores are logarithms of posterior probabilities up to a
// constant, and a Rule makes a label of them. The posterior is of this form where bits err
// independently. It must not be changed.
type Affine struct {
	Rule    Rule
	Weights *mat.Dense // W, L × M
	Offsets []float64  // b, of length L; −Inf for a level that is never answered
}

// ScoresTo sets dst, of length L, to the scores of M outputs, in O(L·M).
func (a *Affine) ScoresTo(dst, z []float64) {
	copy(dst, a.Offsets)
	blas64.Gemv(blas.NoTrans, 1, a.Weights.RawMatrix(), blas64.Vector{N: len(z), Inc: 1, Data: z}, 1,
		blas64.Vector{N: len(dst), Inc: 1, Data: dst})
}
