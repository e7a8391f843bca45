package observed

import (
	"context"
	"math"

	"belsim/theory/code"
	"belsim/theory/decode"
)

// Coordinate is one output of a network of several: its samples, and the decoder that reads them.
type Coordinate struct {
	Source   *Source
	Code     *code.Code
	Decoding Decoding
}

// Distance is the mean Euclidean distance of decoded points from the true ones, in the units of the
// targets. Outputs are the coordinates of points, x and y in turn. The standard error is over the
// samples, each with the mean of its points, which may depend on each other. It keeps two numbers of a
// sample. workers and done are those of Scan. Errors name the file and the place, or are the context's.
func Distance(ctx context.Context, workers int, outputs []Coordinate, done func(samples uint64)) (Error, error) {
	var x, away []float64 // the deviations of the points' first coordinates, and the distances, by sample
	for k, c := range outputs {
		row, correlations := 0, decode.NewCorrelations(c.Code)
		if k > 0 {
			done = nil
		}
		err := c.Source.each(ctx, done, nil, func(b *batch) error {
			labels := make([]float64, b.n)
			if err := decodeBatch(ctx, workers, labels, b, c.Code.Bits(), []Decoding{c.Decoding}, correlations); err != nil {
				return err
			}
			for j, label := range labels {
				if row++; row > len(x) {
					x, away = append(x, 0), append(away, 0)
				}
				off := (label - b.exact[j]) * c.Source.Labels.Width()
				if k%2 == 0 {
					x[row-1] = off
				} else {
					away[row-1] += math.Hypot(x[row-1], off)
				}
			}
			return nil
		})
		if err != nil {
			return Error{}, err
		}
	}
	var sums Sums
	for _, v := range away {
		sums.Add(v / float64(len(outputs)/2))
	}
	return sums.Error(), nil
}
