package errmodel

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
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

// NewProfile returns the profile of a code of the given number of levels whose bit k has
// transitions at positions[k][i]+½: code.Code.Transitions gives them; PrintedTransitions gives
// the positions of the paper's Eq. 4. It costs O(L) Gaussians and O(L·transitions) additions.
// The error is about σ, or the context's.
func NewProfile(ctx context.Context, levels int, positions [][]int, sigma float64) (*Profile, error) {
	if err := Check(1, sigma); err != nil {
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

	if p.levels*p.bits <= keepUnit {
		p.unit = mat.NewDense(p.levels, p.bits, nil)
	}
	column, falling := make([]float64, p.levels), slices.Clone(p.gauss)
	slices.Reverse(falling)
	for k := range positions {
		if err := p.sumColumn(ctx, column, falling, k); err != nil {
			return nil, err
		}
		for i, u := range column {
			if u > p.max || u == p.max && i < p.maxRow { // of several, that of the lowest level
				p.max, p.maxRow, p.maxBit = u, i, k
			}
		}
		if p.unit != nil {
			p.unit.SetCol(k, column)
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

// sumColumn sets dst, of length L, to column k of u, a sum of whole Gaussians: the same sums as
// those of rows, in the same order. falling are the Gaussians from the furthest on. The error is
// the context's.
func (p *Profile) sumColumn(ctx context.Context, dst, falling []float64, k int) error {
	clear(dst)
	for j, at := range p.positions[k] {
		const transitions = 1024 // between two looks at the context
		if j%transitions == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		// Printed transitions may lie beyond the levels: their Gaussians begin further out.
		edge := min(max(at, 0), p.levels)
		gauss := p.gauss[min(max(at-edge, edge-at), len(p.gauss)):]
		below, above := dst[max(0, edge-len(gauss)):edge], dst[edge:min(edge+len(gauss), p.levels)]
		floats.Add(below, falling[len(gauss)-len(below):len(gauss)])
		floats.Add(above, gauss[:len(above)])
	}
	return nil
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

// Valid reports whether r gives probabilities: no e[n,k] above 1.
func (p *Profile) Valid(r float64) bool { return r*p.max <= 1 }

// MaxR returns the largest valid r; +Inf for a code without transitions.
func (p *Profile) MaxR() float64 { return 1 / p.max }

// Mixture returns the table of error probabilities for weight r. The error is
// an *InvalidError when some probability would exceed 1.
func (p *Profile) Mixture(r float64) (*Mixture, error) {
	if err := Check(r, p.sigma); err != nil {
		return nil, err
	}
	if !p.Valid(r) {
		return nil, &InvalidError{R: r, Sigma: p.sigma, Level: p.maxRow + 1, Bit: p.maxBit + 1, Value: r * p.max}
	}
	return &Mixture{profile: p, r: r}, nil
}
