package assess

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/theory/code"
)

// deadRate is the error rate from which a classifier that always answers the same is dead. A
// bit that is rarely one may be learnt so well as that.
const deadRate = 0.1

// deadBits lists the bits, from 1, whose classifiers have learnt nothing: they always answer the
// same, and are often wrong, or they are wrong in more than half of the samples.
func deadBits(c *code.Code, counts *errmodel.Counts) []int {
	out := []int{}
	samples, _ := counts.Total()
	for k := range c.Bits() {
		wrong, ones := counts.Bit(k), uint64(0)
		for i, n := range counts.Samples {
			x := counts.Row(i)[k]
			if c.Bit(i, k) {
				x = n - x
			}
			ones += x
		}
		constant := ones == 0 || ones == samples
		if 2*wrong > samples || constant && float64(wrong) > deadRate*float64(samples) {
			out = append(out, k+1)
		}
	}
	return out
}

// isDead reports whether a bit, from 1, is set aside.
func (s *Study) isDead(bit int) bool {
	_, dead := slices.BinarySearch(s.Fit.Dead, bit)
	return dead
}

// live is the code's transitions, without those of the bits that are set aside. Where none is
// left, none is set aside.
func (s *Study) live() [][]int {
	if len(s.Fit.Dead) == 0 || len(s.Fit.Dead) == s.Fit.Bits {
		return s.transitions
	}
	out := slices.Clone(s.transitions)
	for _, k := range s.Fit.Dead {
		out[k-1] = nil
	}
	return out
}

// withDead is a table of error probabilities, L × M, with the observed rates of the bits that
// are set aside.
func (s *Study) withDead(e mat.Matrix) mat.Matrix {
	if len(s.Fit.Dead) == 0 || len(s.Fit.Dead) == s.Fit.Bits {
		return e
	}
	out := mat.DenseCopyOf(e)
	for i, n := range s.counts.Samples {
		for _, k := range s.Fit.Dead {
			rate := float64(s.counts.Bit(k-1)) / float64(s.Fit.Samples)
			if n > 0 {
				rate = float64(s.counts.Row(i)[k-1]) / float64(n)
			}
			out.Set(i, k-1, rate)
		}
	}
	return out
}
