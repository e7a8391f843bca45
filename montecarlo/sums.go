package montecarlo

import (
	"math"
	"math/bits"
	"reflect"
)

// Sums are the raw results of the samples of one label. They are integers, so
// that adding them in any order, on any number of workers or machines, gives
// the same result.
type Sums struct {
	Samples uint64 // number of samples
	Abs     uint64 // Σ |decoded − label|, in units of 2^−Fraction levels
	Square  uint64 // Σ (decoded − label)², in units of 2^−Fraction levels²
	// Fraction is 0 where errors are whole levels. Where they are real numbers, each error and
	// its square are rounded to a multiple of the unit before they are added. So the sums of
	// real numbers are exact.
	Fraction uint8
	// Answers has the number of samples by answer, the lowest first, where Problem.Answers asks for it:
	// see Problem.Answer.
	Answers []uint64
	Certain bool // no output of the label is random, so that one sample tells all; Estimate finds out

	// Cost and CostSquare are the sums of the costs of real answers, and of their squares, in parts of
	// the row's largest cost and of its square; for costs other than the absolute error.
	Cost, CostSquare Fixed

	Costs *Costs // other than the absolute error; Estimate finds them

	problem *Problem // of Estimate, and the row
	row     int
}

// Equal reports whether the samples are the same, whichever problem they are of.
func (s Sums) Equal(t Sums) bool {
	s.problem, s.row, t.problem, t.row = nil, 0, nil, 0
	return reflect.DeepEqual(s, t)
}

// Add adds the samples of t.
func (s *Sums) Add(t Sums) {
	if t.Samples > 0 {
		s.Fraction, s.Certain = t.Fraction, t.Certain
	}
	s.Samples += t.Samples
	s.Abs += t.Abs
	s.Square += t.Square
	s.Cost, s.CostSquare = s.Cost.plus(t.Cost), s.CostSquare.plus(t.CostSquare)
	if s.Answers == nil && t.Answers != nil {
		s.Answers = make([]uint64, len(t.Answers))
	}
	for i, n := range t.Answers {
		s.Answers[i] += n
	}
}

// units is a number of levels, or of levels², in units of the sums, rounded.
func (s *Sums) units(x float64) uint64 {
	return uint64(int64(float64(x*float64(uint64(1)<<s.Fraction)) + 0.5))
}

// unit is the unit of the sums, in levels.
func (s Sums) unit() float64 { return math.Ldexp(1, -int(s.Fraction)) }

// rounding is the most that the rounding of errors moves a mean.
func (s Sums) rounding() float64 {
	switch {
	case s.Costs != nil:
		return s.Costs.Rounding
	case s.Fraction == 0:
		return 0
	}
	return s.unit() / 2
}

// Mean is the mean cost; NaN without samples.
func (s Sums) Mean() float64 {
	if s.Costs != nil {
		return s.Costs.Mean
	}
	return float64(s.Abs) * s.unit() / float64(s.Samples)
}

// MeanSquare is the mean squared distance of answer and label, in levels²; NaN without samples.
func (s Sums) MeanSquare() float64 {
	if s.Costs != nil {
		return s.Costs.Square
	}
	return float64(s.Square) * s.unit() / float64(s.Samples)
}

// leastSquare is the smallest mean of squares, in units of the sums, of which the root is known:
// the rounding of squares moves it by 1.6 % at most.
const leastSquare = 16

// tooSmall reports whether the rounding of its errors decides a mean of squares, in levels². It may
// even be 0 where each error is less than 0.003 levels.
func (s Sums) tooSmall(square float64) bool { return s.Fraction > 0 && square < leastSquare*s.unit() }

// Variance is the unbiased estimate of the variance of the cost; NaN with fewer than two samples. Where
// squares are so small that their rounding decides it, it has the most that rounding may have taken: then
// it is an upper limit.
//
// N·Σx² − (Σx)² is taken in 128-bit integers: in floating point the difference
// of two nearly equal numbers would be noise when the errors hardly vary.
func (s Sums) Variance() float64 {
	switch {
	case s.Samples < 2:
		return math.NaN()
	case s.Costs != nil:
		return s.Costs.Variance
	}
	// In units of 2^(−2·Fraction): Σx² has a factor 2^Fraction to gain, which
	// MaxSamples leaves room for.
	nsqHi, nsqLo := bits.Mul64(s.Samples, s.Square)
	nsqHi = nsqHi<<s.Fraction | nsqLo>>(64-s.Fraction)
	nsqLo <<= s.Fraction
	sumHi, sumLo := bits.Mul64(s.Abs, s.Abs)
	lo, borrow := bits.Sub64(nsqLo, sumLo, 0)
	hi, borrow := bits.Sub64(nsqHi, sumHi, borrow)
	if borrow != 0 {
		hi, lo = 0, 0 // all errors alike, but for the rounding of their squares
	}
	u := s.unit()
	v := (math.Ldexp(float64(hi), 64) + float64(lo)) * u * u / float64(s.Samples) / float64(s.Samples-1)
	if s.tooSmall(s.MeanSquare()) {
		v += u / 2
	}
	return v
}

// StdErr is the standard error of Mean; NaN with fewer than two samples.
//
// It is 0 only where the mean is certain. Elsewhere two errors are added that no sample shows, as
// Agresti and Coull do, because few samples that err tell little of their differences: the square of
// the standard error is larger by 2·d²/N², with d² the mean square of what an error changes the cost
// by (Problem.unseen). Where an error always costs the same, a mean is then more than 3 standard
// errors off with a probability of at most 2 %, however rare errors are.
func (s Sums) StdErr() float64 {
	if s.Certain {
		return 0
	}
	return math.Hypot(s.spread(), s.unseen())
}

// unseen is the standard error of two errors that no sample shows.
func (s Sums) unseen() float64 {
	square := 0.0
	switch {
	case s.Certain:
	case s.problem != nil:
		square = s.problem.unseen(s.row, s.Samples)
	default: // of errors in levels
		square = max(1, s.MeanSquare())
	}
	return math.Sqrt(2*square) / float64(s.Samples)
}

// spread is the standard error of Mean by the differences of the samples; NaN with fewer than two.
func (s Sums) spread() float64 { return math.Sqrt(s.Variance() / float64(s.Samples)) }
