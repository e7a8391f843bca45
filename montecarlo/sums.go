package montecarlo

import (
	"math"
	"math/bits"
)

// Sums are the raw results of the samples of one label. They are integers, so
// that adding them in any order, on any number of workers or machines, gives
// the same result.
type Sums struct {
	Samples uint64 // number of samples
	Abs     uint64 // Σ |decoded − label|, in levels
	Square  uint64 // Σ (decoded − label)²
	Within  uint64 // number of samples with |decoded − label| ≤ θ
}

// Add adds the samples of t.
func (s *Sums) Add(t Sums) {
	s.Samples += t.Samples
	s.Abs += t.Abs
	s.Square += t.Square
	s.Within += t.Within
}

// tally adds n samples with the same error.
func (s *Sums) tally(err, within int, n uint64) {
	if err < 0 {
		err = -err
	}
	s.Samples += n
	s.Abs += n * uint64(err)
	s.Square += n * uint64(err) * uint64(err)
	if err <= within {
		s.Within += n
	}
}

// Mean is the mean absolute error, in levels; NaN without samples.
func (s Sums) Mean() float64 { return float64(s.Abs) / float64(s.Samples) }

// MeanSquare is the mean squared error, in levels²; NaN without samples.
func (s Sums) MeanSquare() float64 { return float64(s.Square) / float64(s.Samples) }

// Variance is the unbiased estimate of the variance of |decoded − label|; NaN
// with fewer than two samples.
//
// N·Σx² − (Σx)² is taken in 128-bit integers: in floating point the difference
// of two nearly equal numbers would be noise when the errors hardly vary.
func (s Sums) Variance() float64 {
	if s.Samples < 2 {
		return math.NaN()
	}
	nsqHi, nsqLo := bits.Mul64(s.Samples, s.Square)
	sumHi, sumLo := bits.Mul64(s.Abs, s.Abs)
	lo, borrow := bits.Sub64(nsqLo, sumLo, 0)
	hi, _ := bits.Sub64(nsqHi, sumHi, borrow)
	return (math.Ldexp(float64(hi), 64) + float64(lo)) / float64(s.Samples) / float64(s.Samples-1)
}

// StdErr is the standard error of Mean.
func (s Sums) StdErr() float64 { return math.Sqrt(s.Variance() / float64(s.Samples)) }
