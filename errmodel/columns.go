package errmodel

import "gonum.org/v1/gonum/floats"

// MixtureColumn makes single columns of a mixture with one weight r and one width σ, for codes whose
// transitions change, of a number of levels, on a circle where they are circular. The error is about r or σ.
//
// column sets dst, of length L, to the error probabilities e[·,k] of a bit with transitions after the
// given levels, ascending and from 1. They equal the column of Mixture to the last bit. Where an entry
// is above 1, the mixture is invalid. O(L + transitions·σ). It is safe for concurrent use.
func MixtureColumn(levels int, circular bool, r, sigma float64) (column func(dst []float64, transitions []int),
	err error) {
	if err := Check(r, sigma); err != nil {
		return nil, err
	}
	gauss := newGaussians(sigma, levels, circleOf(levels, circular))
	return func(dst []float64, transitions []int) {
		clear(dst)
		for _, at := range transitions {
			gauss.addTo(dst, at)
		}
		floats.Scale(r, dst)
	}, nil
}
