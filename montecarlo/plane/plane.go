// Package plane has the grid of a map or a sweep: pairs of r and σ, the weight and the width of the
// error model's Gaussians, as in Figure 3(c) of Shah, Xue and Aamodt (ICLR 2022). An [Axis] is the
// numbers along one side.
package plane

import "belsim/errmodel"

// Point is a pair of parameters.
type Point struct {
	R     float64 `json:"r"`
	Sigma float64 `json:"sigma"`
}

// Check refuses axes with values with which nothing can be computed.
func Check(r, sigma Axis) error {
	for i := range max(len(r.Values), len(sigma.Values)) {
		if err := errmodel.Check(r.Values[min(i, len(r.Values)-1)], sigma.Values[min(i, len(sigma.Values)-1)]); err != nil {
			return err
		}
	}
	return nil
}
