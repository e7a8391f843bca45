package scenario

import (
	"context"
	"errors"
	"math"
	"slices"

	"belsim/errmodel"
	"belsim/theory/limit"
)

// Limit is a lower bound of the mean cost of all codes of some levels and bits, with at most so
// many transitions of a bit (0 for any number), and of all decoders of bits: see package limit.
// quick takes a third of the time for a little less. It is NaN where there is none: for models that
// are no mixture, labels that do not occur equally often, circles, and costs of no distance. The
// error is the context's.
func (s *Scenario) Limit(ctx context.Context, levels, bits, transitions int, circular, quick bool) (float64, error) {
	m, ok := s.Model.(Mixture)
	weights, err := s.Weights(levels)
	if err != nil {
		return 0, err
	}
	if !ok || circular || slices.Max(weights)-slices.Min(weights) > 1e-12 {
		return math.NaN(), nil
	}
	v, err := limit.Of(ctx, limit.Problem{Levels: levels, Bits: bits, Transitions: transitions,
		Kernel: errmodel.Kernel(levels, m.R, m.Sigma), Cost: s.CostOf(levels, false), Quick: quick})
	if errors.Is(err, limit.ErrNone) {
		return math.NaN(), nil
	}
	return v, err
}
