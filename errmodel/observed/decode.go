package observed

import (
	"context"
	"fmt"
	"math"

	"belsim/theory/base/arrayfile"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Decode decodes the outputs of all samples, N × M, which may be more than memory holds. It calls
// emit with the labels, in levels, in the order of the samples. It does not keep
// them. workers is the number of goroutines, 0 for one on each processor; it changes no label. c is
// the code that the decoder reads; nil for a decoder that needs none. done is told how many samples were
// decoded since its last call, and may be nil. Errors name the file and the place, also where a
// label is no finite number, or are emit's or the context's.
func Decode(ctx context.Context, workers int, outputs *arrayfile.Rows, k Kind, c *code.Code, r Decoding, emit func(labels []float64) error, done func(samples uint64)) error {
	s := &Source{Outputs: outputs, Kind: k}
	_, m := outputs.Dims()
	if c != nil && c.Bits() != m {
		return fmt.Errorf("%s: %d columns, but %s of %d levels has %d bits", outputs.Name(), m, c.Name(), c.Levels(), c.Bits())
	}
	var correlations *decode.Correlations
	if c != nil {
		correlations = decode.NewCorrelations(c)
	}
	var labels []float64
	rows := 0
	return s.each(ctx, func(b *batch) error {
		if len(labels) < b.n {
			labels = make([]float64, b.n)
		}
		if err := decodeBatch(ctx, workers, labels, b, m, []Decoding{r}, correlations); err != nil {
			return err
		}
		for i, v := range labels[:b.n] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s: row %d: the decoder %s computes no finite label; its numbers are too large for these outputs", outputs.Name(), rows+i+1, r.Decoder.Name())
			}
		}
		rows += b.n
		if done != nil {
			done(uint64(b.n))
		}
		return emit(labels[:b.n])
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
