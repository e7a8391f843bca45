package errmodel

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/code"
)

// Profile is the error model of a code for one width σ and any weight r,
// e[n,k] = r·u[n,k] with u[n,k] = Σ exp(−(n−μ)²/(2σ²))/(σ√(2π)) over the
// transitions μ of bit k. It is safe for concurrent use.
type Profile struct {
	levels, bits int
	sigma        float64
	positions    [][]int
	gauss        []float64 // gauss[d] is the Gaussian at distance d+½
	max          float64   // largest u[n,k]
	maxRow       int
	maxBit       int
	unit         *mat.Dense // u, where it is small enough to keep
}

// keepUnit is the largest number of entries of u that a Profile keeps in
// memory; larger tables are made again row by row (64 MiB).
const keepUnit = 8 << 20

// NewProfile returns the profile of a code of the given number of levels whose
// bit k has transitions at positions[k][i]+½: code.Code.Transitions gives
// them, PrintedTransitions those of the paper's Eq. 4. It costs O(L) Gaussians
// and O(L·transitions) additions. The error is about σ, or the context's.
func NewProfile(ctx context.Context, levels int, positions [][]int, sigma float64) (*Profile, error) {
	if err := checkPositive("σ", sigma); err != nil {
		return nil, err
	}
	p := &Profile{levels: levels, bits: len(positions), sigma: sigma, positions: positions}

	// All distances are half-integers, so the whole table needs few Gaussians.
	reach := levels
	for _, ns := range positions {
		for _, n := range ns {
			reach = max(reach, levels-n, n)
		}
	}
	p.gauss = gaussians(sigma, reach)

	row := make([]float64, p.bits)
	if p.levels*p.bits <= keepUnit {
		p.unit = mat.NewDense(p.levels, p.bits, nil)
	}
	for i := range p.levels {
		if p.unit != nil {
			row = p.unit.RawRowView(i)
		}
		const columns = 1024 // between two looks at the context
		for k := 0; k < p.bits; k += columns {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			end := min(k+columns, p.bits)
			p.sum(row[k:end], positions[k:end], i)
		}
		for k, u := range row {
			if u > p.max {
				p.max, p.maxRow, p.maxBit = u, i, k
			}
		}
	}
	return p, nil
}

// gaussians are the values of a Gaussian of weight 1 at the distances d+½, for d up to
// reach. Values that are zero at the end are left out.
func gaussians(sigma float64, reach int) []float64 {
	var out []float64
	unit := Transition{R: 1, Sigma: sigma}
	for d := range reach + 1 {
		g := unit.At(float64(d) + 0.5)
		if g == 0 {
			break // all values further out are zero, too
		}
		out = append(out, g)
	}
	return out
}

// sum sets dst to row i of u, for columns with the given transitions.
func (p *Profile) sum(dst []float64, columns [][]int, i int) {
	n := i + 1
	for k, positions := range columns {
		u := 0.0
		for _, at := range positions {
			// The distance |n − (at+½)| is d+½.
			d := n - at - 1
			if d < 0 {
				d = -d - 1
			}
			if d < len(p.gauss) {
				u += p.gauss[d]
			}
		}
		dst[k] = u
	}
}

// Sigma returns σ, in levels.
func (p *Profile) Sigma() float64 { return p.sigma }

// Valid reports whether r gives probabilities: no e[n,k] above 1.
func (p *Profile) Valid(r float64) bool { return r*p.max <= 1 }

// MaxR returns the largest valid r; +Inf for a code without transitions.
func (p *Profile) MaxR() float64 { return 1 / p.max }

// Mixture returns the table of error probabilities for weight r. The error is
// an *InvalidError when some probability would exceed 1.
func (p *Profile) Mixture(r float64) (*Mixture, error) {
	if err := checkPositive("r", r); err != nil {
		return nil, err
	}
	if !p.Valid(r) {
		return nil, &InvalidError{R: r, Sigma: p.sigma, Level: p.maxRow + 1, Bit: p.maxBit + 1, Value: r * p.max}
	}
	return &Mixture{profile: p, r: r}, nil
}

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
	p, err := NewProfile(ctx, c.Levels(), c.Transitions(), sigma)
	if err != nil {
		return nil, err
	}
	return p.Mixture(r)
}

// R returns the weight r.
func (m *Mixture) R() float64 { return m.r }

// Sigma returns the width σ, in levels.
func (m *Mixture) Sigma() float64 { return m.profile.sigma }

// Dims implements mat.Matrix.
func (m *Mixture) Dims() (r, c int) { return m.profile.levels, m.profile.bits }

// At implements mat.Matrix. RowTo is much faster for whole rows.
func (m *Mixture) At(i, j int) float64 {
	if i < 0 || i >= m.profile.levels {
		panic(mat.ErrRowAccess)
	}
	if j < 0 || j >= m.profile.bits {
		panic(mat.ErrColAccess)
	}
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

// PrintedTransitions returns the transitions of the paper's Eq. 4 as it is printed,
// μ1 = N/2−k+1.5 and μ2 = N−k+1.5 with N = 2M, for the code johnson-nonzero. They lie one
// level above the transitions of the code, and partly outside the labels. This is a slip
// of the paper; it is kept for comparison with the paper's Figure 3(c). For unary, Eq. 3
// is right, and the result is the transitions of the code. Other codes have no printed
// transitions, and the result is an error.
func PrintedTransitions(c *code.Code) ([][]int, error) {
	switch c.Name() {
	case "unary":
		return c.Transitions(), nil
	case "johnson-nonzero":
		m := c.Bits()
		positions := make([][]int, m)
		for k := range positions {
			positions[k] = []int{m - k, 2*m - k} // bit k+1: N/2−(k+1)+1 and N−(k+1)+1
		}
		return positions, nil
	}
	return nil, fmt.Errorf("the paper prints transitions for johnson-nonzero and unary only, not for %s", c.Name())
}

// errNotPositive is wrapped by the errors for parameters that are not positive.
var errNotPositive = errors.New("want a positive finite number")

func checkPositive(name string, v float64) error {
	if !(v > 0) || math.IsInf(v, 0) {
		return fmt.Errorf("%s = %v: %w", name, v, errNotPositive)
	}
	return nil
}

// AtLabel sets dst, of length M, to the error probabilities at a real label y, in
// levels: Eq. 3 and 4 are functions of a real y.
func (m *Mixture) AtLabel(dst []float64, y float64) {
	p := m.profile
	// Beyond 39 σ a Gaussian is zero.
	reach := 39 * p.sigma
	unit := Transition{R: m.r, Sigma: p.sigma}
	for k, positions := range p.positions {
		dst[k] = 0
		for _, at := range positions {
			if d := y - (float64(at) + 0.5); d < reach && d > -reach {
				unit.Mu = float64(at) + 0.5
				dst[k] += unit.At(y)
			}
		}
	}
}
