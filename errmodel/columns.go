package errmodel

import "gonum.org/v1/gonum/floats"

// MixtureColumns makes single columns of a mixture with one weight r and one width σ, for
// codes whose transitions change. It is safe for concurrent use.
type MixtureColumns struct {
	r     float64
	gauss gaussians
}

// NewMixtureColumns prepares columns for a number of levels, on a circle where they are circular. The
// error is about r or σ.
func NewMixtureColumns(levels int, circular bool, r, sigma float64) (*MixtureColumns, error) {
	if err := Check(r, sigma); err != nil {
		return nil, err
	}
	return &MixtureColumns{r, newGaussians(sigma, levels, circleOf(levels, circular))}, nil
}

// Column sets dst, of length L, to the error probabilities e[·,k] of a bit with
// transitions after the given levels, ascending and from 1. They equal the column of
// Mixture to the last bit. Where an entry is above 1, the mixture is invalid.
// O(L + transitions·σ).
func (m *MixtureColumns) Column(dst []float64, transitions []int) {
	clear(dst)
	for _, at := range transitions {
		m.gauss.addTo(dst, at)
	}
	floats.Scale(m.r, dst)
}
