package scenario

import (
	"context"
	"fmt"
	"math"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/montecarlo/tables"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// noiseSamples is about how many samples of all labels together tell the error of unary: to a
// third of a percent.
const noiseSamples = 1 << 17

// NoiseOf returns the label noise s, in levels, at which a network of the model that was trained
// bit by bit with the unary code has a mean |error| of so many levels, read by gen, over the
// weights of the labels. The other parameters are the model's. The error is sampled with a fixed
// seed, and s is found to 0.1 %. The error says that no label noise gives that error.
func (s *Scenario) NoiseOf(ctx context.Context, run Run, m Perceived, weights []float64, mae float64) (float64, error) {
	levels := len(weights)
	c, err := code.New("unary", levels)
	if err != nil {
		return 0, err
	}
	m.Training = errmodel.BitByBit
	bits := s.With(m)
	bits.Outputs = Bits
	d, err := decode.New("gen", c)
	if err != nil {
		return 0, err
	}
	n := uint64(max(noiseSamples/levels, 256)) / tables.Sublevels * tables.Sublevels
	at := func(noise float64) (float64, error) {
		m.Noise = noise
		e, err := m.ErrorsUnder(ctx, c, weights)
		if err != nil {
			return 0, err
		}
		p, err := bits.ProblemOf(ctx, c, d, e, Sampling{Seed: 1})
		if err != nil {
			return 0, err
		}
		sums, err := montecarlo.EstimateEach(ctx, run.Backend, []*montecarlo.Problem{p}, n, weights, nil)
		if err != nil {
			return 0, err
		}
		return montecarlo.Average(weights, sums[0]).Mean, nil
	}
	none := fmt.Errorf("no label noise from %v to %v levels gives unary of %d levels an error of %v levels", 0.02, float64(levels)/2, levels, mae)
	if mae >= float64(levels-1) { // the largest error of one sample
		return 0, none
	}
	// With many levels one error takes long, and a search that finds nothing asks for two dozen. Errors
	// near the ends of what is possible are compared with the ends first, which the search does not see.
	for _, end := range []struct {
		noise float64
		near  bool
		sign  float64 // of mae − error outside
	}{{0.02, mae < 0.3, -1}, {float64(levels) / 2, mae > float64(levels)/16, 1}} {
		if !end.near {
			continue
		}
		e, err := at(end.noise)
		if err != nil {
			return 0, err
		}
		if end.sign*(mae-e) > 0.01*mae {
			return 0, none
		}
	}
	// The error rises with s, from 0 nearly in proportion: the secant through the origin of the
	// logarithms, kept between the ends of an interval that has the solution.
	lo, hi := 0.02, float64(levels)/2
	x := min(max(mae/0.79, lo), hi)
	for range 40 {
		e, err := at(x)
		if err != nil {
			return 0, err
		}
		if math.Abs(e-mae) <= 1e-3*mae || hi/lo < 1+1e-6 {
			if math.Abs(e-mae) > 0.01*mae {
				break
			}
			return x, nil
		}
		if e < mae {
			lo = x
		} else {
			hi = x
		}
		next := math.Sqrt(lo * hi)
		if e > 0 {
			if secant := x * mae / e; secant > lo && secant < hi {
				next = secant
			}
		}
		x = next
	}
	return 0, none
}
