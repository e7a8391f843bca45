package errmodel

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/code"
)

// Mixture is an L × M table of error probabilities e[n,k] (Eq. 3 and 4 in the
// general form of one Gaussian per transition). It implements mat.Matrix with
// level n in row n−1 and makes rows when asked, so that a table of many levels
// costs no memory. It is safe for concurrent use.
type Mixture struct {
	profile *Profile
	r       float64
}

var _ mat.Matrix = (*Mixture)(nil)

// NewMixture returns the mixture of a code with one weight r and one width σ,
// in levels, for all its transitions.
func NewMixture(ctx context.Context, c *code.Code, r, sigma float64) (*Mixture, error) {
	positions, err := c.TransitionsContext(ctx)
	if err != nil {
		return nil, err
	}
	p, err := NewProfile(ctx, c, positions, sigma)
	if err != nil {
		return nil, err
	}
	return p.Mixture(r)
}

// Dims implements mat.Matrix.
func (m *Mixture) Dims() (r, c int) { return m.profile.levels, m.profile.bits }

// At implements mat.Matrix. RowTo is much faster for whole rows.
func (m *Mixture) At(i, j int) float64 {
	if u := m.profile.unit; u != nil {
		return m.r * u.At(i, j)
	}
	var dst [1]float64
	m.profile.sum(dst[:], m.profile.positions[j:j+1], i)
	return m.r * dst[0]
}

// T implements mat.Matrix.
func (m *Mixture) T() mat.Matrix { return mat.Transpose{Matrix: m} }

// RowTo sets dst, of length M, to row i: the error probabilities of all
// classifiers when the label is i+1.
func (m *Mixture) RowTo(dst []float64, i int) {
	if u := m.profile.unit; u != nil {
		for k, v := range u.RawRowView(i) {
			dst[k] = m.r * v
		}
		return
	}
	m.profile.sum(dst, m.profile.positions, i)
	for k := range dst {
		dst[k] *= m.r
	}
}

// Scaled returns r and the table of which this one is r times, which is the same one for all r; nil where it is not
// kept.
func (m *Mixture) Scaled() (r float64, u *mat.Dense) { return m.r, m.profile.unit }

// Window returns the error probabilities of the unary code, of the bits from a label outwards, on either
// side; nil for other codes, whose rows are no windows of one sequence.
func (m *Mixture) Window() []float64 {
	p := m.profile
	for k, at := range p.positions {
		if len(at) != 1 || at[0] != k+1 || p.circular {
			return nil
		}
	}
	e := make([]float64, p.bits)
	for d, v := range p.gauss.values[:min(p.bits, len(p.gauss.values))] {
		e[d] = m.r * v
	}
	return e
}
