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

// Reading makes Columns numbers of a sample.
type Reading struct {
	Decoder string // its name
	Columns int
	Read    func(dst []float64, s *Sample)
}

// Decode reads the outputs of a source without targets, N × M, which may be more than memory holds.
// It calls emit with the numbers that the reading makes, in the order of the samples: those of a
// sample beside each other. It does not keep them. workers is the number of goroutines, 0 for one on
// each processor; it changes no number. c is the code that the reading needs; nil for one that
// needs none. done is told how many samples were read since its last call, and may be nil.
// Errors name the file and the place, also where a number is not finite, or are emit's or the
// context's.
func (s *Source) Decode(ctx context.Context, workers int, c *code.Code, r Reading, emit func(numbers []float64) error,
	done func(samples uint64)) error {
	outputs := s.Outputs
	_, m := outputs.Dims()
	var correlations *decode.Correlations
	if c != nil {
		correlations = decode.NewCorrelations(c)
	}
	s.beside = max(s.beside, r.Columns/m) // smaller batches, whose numbers fit in memory
	var numbers []float64
	rows := 0
	return s.each(ctx, done, nil, func(b *batch) error {
		n := b.n * r.Columns
		if len(numbers) < n {
			numbers = make([]float64, n)
		}
		read := func(dst []float64, _ int, sample *Sample) { r.Read(dst, sample) }
		if err := readBatch(ctx, workers, numbers, b, m, r.Columns, correlations, read); err != nil {
			return err
		}
		for i, v := range numbers[:n] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s: row %s: the decoder %s computes no finite label; its numbers are too large",
					outputs.Name(), position.At(rows+i/r.Columns+1), r.Decoder)
			}
		}
		rows += b.n
		return emit(numbers[:n])
	})
}

// LabelsOf are those that decoders of outputs make.
func LabelsOf(decodings []Decoding) Reading {
	out := Reading{Columns: len(decodings), Read: func(dst []float64, s *Sample) {
		for r, d := range decodings {
			switch {
			case d.Predicts():
				dst[r] = s.own
			case s.correlations != nil && s.correlations.Code().Circular():
				dst[r] = s.correlations.Code().Circle().Wrap(s.Label(d)) // bel-j may answer beyond the ends
			case decode.Real(d.Decoder) || s.correlations == nil:
				dst[r] = s.Label(d)
			default:
				dst[r] = s.correlations.Code().Answer(s.Label(d))
			}
		}
	}}
	if len(decodings) > 0 {
		out.Decoder = decodings[0].Decoder.Name()
	}
	return out
}

// Count returns the number of rows. Where only reading the file to its end shows it, Count reads
// the file, and rewinds it.
func Count(ctx context.Context, rows *arrayfile.Rows) (int, error) {
	n, _ := rows.Dims()
	if n >= 0 {
		return n, nil
	}
	n = 0
	err := EachRow(ctx, rows, func([]float64) bool { n++; return true })
	return n, err
}
