package observed

import (
	"iter"
	"math"
)

// Spread counts absolute errors, in levels, in bins: one for all below 1/64, and 32 for each factor
// of two above. Its memory does not depend on how many errors there are.
type Spread struct {
	samples uint64
	bins    []bin // up to the largest error
}

// bin has its errors' number and sum.
type bin struct {
	n   uint64
	sum float64
}

const (
	smallestError = 1.0 / 64
	mantissaBits  = 5       // 2⁵ bins for each factor of two
	largestError  = 1 << 20 // larger ones share the last bin; there are at most 2¹⁶ levels
)

// binOf is the bin of an error: the exponent and the first bits of the mantissa.
func binOf(v float64) int {
	if !(v >= smallestError) {
		return 0
	}
	first := func(v float64) uint64 { return math.Float64bits(v) >> (52 - mantissaBits) }
	return 1 + int(first(min(v, largestError))-first(smallestError))
}

// Add adds the error of a sample.
func (s *Spread) Add(v float64) {
	s.samples++
	at := binOf(v)
	if at >= len(s.bins) {
		s.bins = append(s.bins, make([]bin, at+1-len(s.bins))...)
	}
	s.bins[at].n++
	s.bins[at].sum += v
}

// Merge adds the errors of another one.
func (s *Spread) Merge(other *Spread) {
	s.samples += other.samples
	if more := len(other.bins) - len(s.bins); more > 0 {
		s.bins = append(s.bins, make([]bin, more)...)
	}
	for i, b := range other.bins {
		s.bins[i].n += b.n
		s.bins[i].sum += b.sum
	}
}

// Samples is the number of errors.
func (s *Spread) Samples() uint64 { return s.samples }

// Quantile returns the error that a share p of the errors does not exceed, as the mean of its bin:
// it is right to 1/32 of itself or to 1/64 of a level, and exactly where errors are whole numbers
// up to 64. It is NaN without errors.
func (s *Spread) Quantile(p float64) float64 {
	rank, below := uint64(math.Ceil(p*float64(s.samples))), uint64(0)
	for _, b := range s.bins {
		if below += b.n; b.n > 0 && below >= rank {
			return b.sum / float64(b.n)
		}
	}
	return math.NaN()
}

// mostSpreads is the largest number of groups of neighbouring levels that have a Spread of their
// own.
const mostSpreads = 64

// SpreadWidth is the number of neighbouring levels that share a Spread.
func SpreadWidth(levels int) int { return (levels + mostSpreads - 1) / mostSpreads }

// Groups joins neighbouring counts until each group, from one index to before another, has 100 samples, so that
// its 99 % quantile is no maximum.
func Groups(counts []uint64) iter.Seq2[int, int] {
	const fewest = 100
	return func(yield func(from, to int) bool) {
		left := uint64(0)
		for _, n := range counts {
			left += n
		}
		from, some := 0, uint64(0)
		for i, n := range counts {
			some, left = some+n, left-n
			if i < len(counts)-1 && (some < fewest || left < fewest) {
				continue
			}
			if !yield(from, i+1) {
				return
			}
			from, some = i+1, 0
		}
	}
}
