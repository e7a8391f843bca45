package decode

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Affine is a decoder whose scores are affine in the outputs: level n has the score
//
//	s_n = b_n + Σ_k W[n,k]·z_k,
//
// with logits z_k, or ±1 for bits. The scores are logarithms of posterior probabilities up to a
// constant, and a Rule makes a label of them. The posterior is of this form where bits err
// independently, and where logits are normal with the same covariance at every level. It is
// immutable and safe for concurrent use.
//
// Affine answers with levels from 1 to L. See Decoder for labels that are real numbers.
type Affine struct {
	rule    Rule
	weights *mat.Dense // L × M
	offsets []float64
	values  []float64
}

var (
	_ LogitDecoder = (*Affine)(nil)
	_ RealDecoder  = RealAffine{}
	_ LogitDecoder = RealAffine{}
)

// NewAffine returns the decoder with the weights W, L × M, and the offsets b, of length L. values
// are the labels of the levels, of length L and strictly ascending; nil stands for 1 … L. It
// keeps its arguments. The error names what is not finite, or does not fit.
func NewAffine(rule Rule, weights *mat.Dense, offsets, values []float64) (*Affine, error) {
	if err := rule.Check(); err != nil {
		return nil, err
	}
	if weights == nil || weights.IsEmpty() {
		return nil, errors.New("weights of a decoder: want a matrix of levels × bits")
	}
	levels, bits := weights.Dims()
	if len(offsets) != levels {
		return nil, fmt.Errorf("%d offsets for weights of %d levels", len(offsets), levels)
	}
	if values != nil && len(values) != levels {
		return nil, fmt.Errorf("%d labels for weights of %d levels", len(values), levels)
	}
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	for i := range levels {
		for k, w := range weights.RawRowView(i)[:bits] {
			if !finite(w) {
				return nil, fmt.Errorf("weight of level %d, bit %d is %v; want a finite number", i+1, k+1, w)
			}
		}
		if !finite(offsets[i]) {
			return nil, fmt.Errorf("offset of level %d is %v; want a finite number", i+1, offsets[i])
		}
		if values != nil && (!finite(values[i]) || i > 0 && values[i] <= values[i-1]) {
			return nil, fmt.Errorf("label of level %d is %v; want finite numbers that ascend", i+1, values[i])
		}
	}
	return &Affine{rule, weights, offsets, values}, nil
}

// Decoder returns the decoder as what it is: a RealDecoder with the rule mean, and where the
// levels have labels.
func (a *Affine) Decoder() LogitDecoder {
	if a.rule == Mean || a.values != nil {
		return RealAffine{a}
	}
	return a
}

// Name implements Decoder: the rule.
func (a *Affine) Name() string { return string(a.rule) }

// Rule returns the rule.
func (a *Affine) Rule() Rule { return a.rule }

// Dims returns the numbers of levels L and bits M.
func (a *Affine) Dims() (levels, bits int) { return a.weights.Dims() }

// Weights returns W, L × M. It must not be changed.
func (a *Affine) Weights() *mat.Dense { return a.weights }

// Offsets returns b, of length L. It must not be changed.
func (a *Affine) Offsets() []float64 { return a.offsets }

// Values returns the labels of the levels, of length L; nil stands for 1 … L. It must not be
// changed.
func (a *Affine) Values() []float64 { return a.values }

// Scores returns the decoder itself: see Posterior.Scores.
func (a *Affine) Scores() (*Affine, bool) { return a, true }

// ScoresTo sets dst, of length L, to the scores of M outputs, in O(L·M).
func (a *Affine) ScoresTo(dst, z []float64) {
	copy(dst, a.offsets)
	blas64.Gemv(blas.NoTrans, 1, a.weights.RawMatrix(), blas64.Vector{N: len(z), Inc: 1, Data: z}, 1, blas64.Vector{N: len(dst), Inc: 1, Data: dst})
}

// LabelsTo sets dst, of length N, to the labels of N samples, whose outputs z, of length N·M, stand
// one sample after the other. It is DecodeLogits without the memory that every call takes.
func (a *Affine) LabelsTo(dst, z []float64) {
	levels, bits := a.Dims()
	scores := make([]float64, levels)
	for i := range dst {
		a.ScoresTo(scores, z[i*bits:(i+1)*bits])
		dst[i] = a.rule.Label(scores, a.values)
	}
}

// DecodeLogits implements LogitDecoder, in O(L·M).
func (a *Affine) DecodeLogits(z []float64) float64 {
	var label [1]float64
	a.LabelsTo(label[:], z)
	return label[0]
}

// Decode implements Decoder: the bits of the word are outputs of ±1.
func (a *Affine) Decode(word []uint64) int {
	_, bits := a.Dims()
	return round(a.DecodeLogits(signs(word, bits)))
}

// RealAffine is an Affine whose labels are real numbers.
type RealAffine struct{ *Affine }

// Value implements RealDecoder.
func (a RealAffine) Value(word []uint64) float64 {
	_, bits := a.Dims()
	return a.DecodeLogits(signs(word, bits))
}

// Range implements Ranger: with labels for the levels, these can lie anywhere.
func (a RealAffine) Range() (lo, hi int) {
	if a.values == nil {
		levels, _ := a.Dims()
		return 1, levels
	}
	return round(slices.Min(a.values)), round(slices.Max(a.values))
}
