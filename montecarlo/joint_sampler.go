package montecarlo

import (
	"context"
	"math"
	"slices"

	"belsim/theory/anylaw"
	"belsim/theory/base/philox"
)

// jointSampler samples the bits that err together.
type jointSampler struct {
	problem *Problem
	law     *anylaw.Table
	keys    *philox.Keys
	ends    []uint64 // of each pattern in [0, 2⁶³], ascending
	answers []float64
	reader  bitReader
}

// row implements sampler.
func (s *jointSampler) row(_ context.Context, row int, _ uint64) error {
	s.ends, s.answers = s.ends[:0], s.law.Answers(s.problem.Code, s.problem.Decoder, row)
	sum := 0.0
	for _, p := range s.law.Laws[row] {
		sum += p.Probability
		s.ends = append(s.ends, uint64(math.Ldexp(min(sum, 1), 63)))
	}
	if len(s.answers) == 0 { // no law is known
		s.answers = []float64{float64(row + 1)}
		s.ends = []uint64{0}
	}
	return nil
}

// block implements sampler.
func (s *jointSampler) block(ctx context.Context, st stream, n int) (Sums, error) {
	sums := Sums{Fraction: s.problem.Fraction()}
	s.reader.reset(st, streamTogether)
	for range n {
		j, _ := slices.BinarySearch(s.ends, s.reader.word()>>1+1)
		sums.tallyReal(s.answers[min(j, len(s.answers)-1)], float64(st.row+1), s.problem.near())
	}
	return sums, ctx.Err()
}
