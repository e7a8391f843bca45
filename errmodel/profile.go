package errmodel

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"belsim/theory/code"
)

// Profile is the error model of a code for one width σ and any weight r,
// e[n,k] = r·u[n,k] with u[n,k] = Σ exp(−(n−μ)²/(2σ²))/(σ√(2π)) over the
// transitions μ of bit k. On a circle the Gaussians are wrapped: they are sums over all images of a
// transition. It is safe for concurrent use.
type Profile struct {
	levels, bits int
	circular     bool
	sigma        float64
	positions    [][]int
	gauss        gaussians
	max          float64 // largest u[n,k]
	maxRow       int
	maxBit       int
	unit         *mat.Dense // u, where it is small enough to keep
}

// keepUnit is the largest number of entries of u that a Profile keeps in
// memory; larger tables are made again row by row (64 MiB).
const keepUnit = 8 << 20

// NewProfile returns the profile of a code whose bit k has
// transitions at positions[k][i]+½: code.Code.Transitions gives them. It costs O(L) Gaussians and O(L·transitions) additions.
// The error is about σ, or the context's.
func NewProfile(ctx context.Context, c *code.Code, positions [][]int, sigma float64) (*Profile, error) {
	if err := Check(1, sigma); err != nil {
		return nil, err
	}
	levels := c.Levels()
	p := &Profile{levels: levels, bits: len(positions), circular: c.Circular(), sigma: sigma, positions: positions}

	// All distances are half-integers, so the whole table needs few Gaussians.
	reach := levels
	for _, ns := range positions {
		for _, n := range ns {
			reach = max(reach, levels-n, n)
		}
	}
	p.gauss = newGaussians(sigma, reach, levels, p.circular)

	if p.levels*p.bits <= keepUnit {
		p.unit = mat.NewDense(p.levels, p.bits, nil)
	}
	column := make([]float64, p.levels)
	for k := range positions {
		if err := p.gauss.sum(ctx, column, positions[k]); err != nil {
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

// gaussians are the values of a Gaussian of weight 1, of which those that are zero at the end are
// left out.
type gaussians struct {
	values   []float64 // at the distances d+½
	reversed []float64
}

// newGaussians are those of the distances up to reach+½, or round a circle of so many levels at all
// distances d+½ of a level from a transition, one way and the other.
func newGaussians(sigma float64, reach, levels int, circular bool) (g gaussians) {
	unit := Transition{R: 1, Sigma: sigma}
	for d := 0; circular && d < levels; d++ {
		g.values = append(g.values, unit.On(float64(min(d, levels-1-d))+0.5, levels))
	}
	for d := 0; !circular && d <= reach; d++ {
		v := unit.At(float64(d) + 0.5)
		if v == 0 {
			break // all values further out are zero, too
		}
		g.values = append(g.values, v)
	}
	g.reversed = slices.Clone(g.values)
	slices.Reverse(g.reversed)
	return g
}

// addTo adds the Gaussian of a transition at at+½ to a column of all levels.
func (g gaussians) addTo(column []float64, at int) {
	// A transition may lie beyond the levels: its Gaussian begins further out.
	edge := min(max(at, 0), len(column))
	values := g.values[min(max(at-edge, edge-at), len(g.values)):]
	below := column[max(0, edge-len(values)):edge]
	above := column[edge:min(edge+len(values), len(column))]
	floats.Add(below, g.reversed[len(values)-len(below):len(values)])
	floats.Add(above, values[:len(above)])
}

// sum sets dst, of length L, to a column of u with the given transitions: the same sums as those of rows, in the
// same order. The error is the context's.
func (g gaussians) sum(ctx context.Context, dst []float64, transitions []int) error {
	clear(dst)
	for j, at := range transitions {
		const few = 1024 // transitions between two looks at the context
		if j%few == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		g.addTo(dst, at)
	}
	return nil
}

// Column sets dst, of length L, to the error probabilities e[·,k] of bit k, from 0, with transitions after the given
// levels, ascending and from 1. A value above 1 says that the code is invalid.
type Column func(dst []float64, k int, transitions []int)

// MixtureColumn makes single columns of a mixture with one weight r and one width σ, for codes whose
// transitions change, of a number of levels, on a circle where they are circular. They equal the columns of Mixture to
// the last bit. O(L + transitions·σ). A Column is safe for concurrent use. The error is about r or σ.
func MixtureColumn(levels int, circular bool, r, sigma float64) (Column, error) {
	if err := Check(r, sigma); err != nil {
		return nil, err
	}
	gauss := newGaussians(sigma, levels, levels, circular)
	return func(dst []float64, _ int, transitions []int) {
		_ = gauss.sum(context.Background(), dst, transitions)
		floats.Scale(r, dst)
	}, nil
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
			if d < len(p.gauss.values) {
				u += p.gauss.values[d]
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
