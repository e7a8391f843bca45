package observed

import (
	"context"
	"math"
	"sync"

	"golang.org/x/sync/errgroup"

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
// samples, each with the mean of its points, which may depend on each other. The outputs are read
// side by side, so that the memory does not grow with the samples. workers and done are those of
// Scan. Errors name the file and the place, or are the context's.
func Distance(ctx context.Context, workers int, outputs []Coordinate, done func(samples uint64)) (Error, error) {
	var one sync.Mutex // of the outputs is decoded at a time, by so many workers
	g, ctx := errgroup.WithContext(ctx)
	deviations := make([]chan []float64, len(outputs))
	for k, c := range outputs {
		deviations[k] = make(chan []float64)
		c.Source.beside = len(outputs)
		g.Go(func() error {
			defer close(deviations[k])
			return c.deviations(ctx, workers, &one, deviations[k])
		})
	}
	var sums Sums
	g.Go(func() error {
		rest := make([][]float64, len(outputs))
		for {
			n := math.MaxInt
			for k := range rest {
				if len(rest[k]) == 0 {
					rest[k] = <-deviations[k] // nothing at the end
				}
				n = min(n, len(rest[k]))
			}
			if n == 0 {
				return nil
			}
			for j := range n {
				sum := 0.0
				for k := 0; k < len(rest); k += 2 {
					sum += math.Hypot(rest[k][j], rest[k+1][j])
				}
				sums.Add(sum / float64(len(rest)/2))
			}
			for k := range rest {
				rest[k] = rest[k][n:]
			}
			if done != nil {
				done(uint64(n))
			}
		}
	})
	err := g.Wait()
	return sums.Error(), err
}

// deviations sends answer − target of the samples, in the units of the targets.
func (c Coordinate) deviations(ctx context.Context, workers int, one *sync.Mutex, to chan<- []float64) error {
	correlations := decode.NewCorrelations(c.Code)
	return c.Source.each(ctx, func(b *batch) error {
		if b.n == 0 {
			return nil
		}
		out := make([]float64, b.n)
		one.Lock()
		err := decodeBatch(ctx, workers, out, b, c.Code.Bits(), []Decoding{c.Decoding}, correlations)
		one.Unlock()
		if err != nil {
			return err
		}
		for j := range out {
			out[j] = (out[j] - b.exact[j]) * c.Source.Labels.Width()
		}
		select {
		case to <- out:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}
