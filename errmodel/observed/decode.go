package observed

import (
	"context"
	"fmt"
	"math"

	"belsim/theory/base/arrayfile"
	"belsim/theory/base/position"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Decode decodes the outputs of a source without targets, N × M, which may be more than memory holds, in every
// way. It calls emit with the labels, in levels, in the order of the samples: those of a sample
// beside each other. It does not keep them. workers is the number of goroutines, 0 for one on each
// processor; it changes no label. c is the code that the decoder reads; nil for a decoder that
// needs none. done is told how many samples were decoded since its last call, and may be nil.
// Errors name the file and the place, also where a label is no finite number, or are emit's or the
// context's.
func (s *Source) Decode(ctx context.Context, workers int, c *code.Code, decodings []Decoding,
	emit func(labels []float64) error, done func(samples uint64)) error {
	outputs := s.Outputs
	_, m := outputs.Dims()
	if c != nil && c.Bits() != m {
		return fmt.Errorf("%s: %d columns, but %s of %d levels has %d bits", outputs.Name(), m, c.Name(), c.Levels(),
			c.Bits())
	}
	var correlations *decode.Correlations
	if c != nil {
		correlations = decode.NewCorrelations(c)
	}
	var labels []float64
	rows := 0
	return s.each(ctx, func(b *batch) error {
		n := b.n * len(decodings)
		if len(labels) < n {
			labels = make([]float64, n)
		}
		if err := decodeBatch(ctx, workers, labels, b, m, decodings, correlations); err != nil {
			return err
		}
		for i, v := range labels[:n] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s: row %s: the decoder %s computes no finite label; its numbers are too large",
					outputs.Name(), position.At(rows+i/len(decodings)+1), decodings[i%len(decodings)].Decoder.Name())
			}
		}
		rows += b.n
		if done != nil {
			done(uint64(b.n))
		}
		return emit(labels[:n])
	})
}

// Count returns the number of rows. Where only reading the file to its end shows it, Count reads
// the file, and rewinds it.
func Count(ctx context.Context, rows *arrayfile.Rows) (int, error) {
	n, _ := rows.Dims()
	if n >= 0 {
		return n, nil
	}
	n = 0
	err := eachRow(ctx, rows, func([]float64) bool { n++; return true })
	return n, err
}
