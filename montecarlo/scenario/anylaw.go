package scenario

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"belsim/montecarlo"
	"belsim/theory"
	"belsim/theory/anylaw"
)

// EndsText writes the ends of any_law for people: rounded outward, and – where there are none.
func EndsText(ends *[2]float64) string {
	if ends == nil {
		return "–"
	}
	return outward(ends[0], math.Floor) + "–" + outward(ends[1], math.Ceil)
}

// outward writes two digits of an end of bounds, rounded so that they still hold; the JSON has all
// digits.
func outward(v float64, round func(float64) float64) string {
	if v == 0 {
		return "0"
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	// A number of two digits that lies on the grid, but for the rounding of the division, stays
	// what it is.
	steps := v / unit
	if near := math.Round(steps); math.Abs(steps-near) > 1e-9 {
		steps = round(steps)
	} else {
		steps = near
	}
	return strings.TrimPrefix(fmt.Sprintf("%.2g", steps*unit), "0")
}

// AnyLaw returns the bounds that hold under any law of the bits of a problem, for each level whose
// weight is above zero. There are none, and no error, where the decoder has no such bounds or reads
// logits, nor where quick is asked for and they take long.
func AnyLaw(ctx context.Context, workers int, p *montecarlo.Problem, weights []float64, quick bool) ([]anylaw.Level,
	error) {
	if !p.Kind.Hard() || quick && !anylaw.Quick(p.Code, p.Decoder, p.Errors) {
		return nil, nil
	}
	levels, err := anylaw.Levels(ctx, workers, p.Code, p.Decoder, weights, p.Errors)
	if errors.Is(err, theory.ErrNoClosedForm) {
		return nil, nil
	}
	return levels, err
}

// AnyLawMean is the mean of AnyLaw over the weights; nil where there is none. The standard
// deviations are those of one sample, under any law, as anylaw.Level has them.
func AnyLawMean(ctx context.Context, workers int, p *montecarlo.Problem, weights []float64,
	quick bool) (mean *[2]float64, sd [2]float64, err error) {
	levels, err := AnyLaw(ctx, workers, p, weights, quick)
	if err != nil || levels == nil {
		return nil, sd, err
	}
	for i, w := range weights {
		sd[0] += w * levels[i].LoSD * levels[i].LoSD
		sd[1] += w * levels[i].HiSD * levels[i].HiSD
	}
	lo, hi := anylaw.Mean(weights, levels)
	return &[2]float64{lo, hi}, [2]float64{math.Sqrt(sd[0]), math.Sqrt(sd[1])}, nil
}
