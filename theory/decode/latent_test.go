package decode_test

import (
	"math"
	"testing"

	"belsim/theory/decode"
)

// TestMeanLogit: a normal number of that mean and variance 1 is negative with probability
// e, as the complementary error function has it.
func TestMeanLogit(t *testing.T) {
	for _, e := range []float64{decode.SmallestError, 1e-6, 0.1, 0.4, 0.5, 0.9, 1 - 1e-6} {
		mean := decode.MeanLogit(e)
		if got := math.Erfc(mean/math.Sqrt2) / 2; math.Abs(got-e) > 1e-14+1e-12*e {
			t.Errorf("e = %v: a logit of mean %v is wrong with probability %v", e, mean, got)
		}
	}
	// Bits that are certain have finite means, which are the largest.
	for e, want := range map[float64]float64{0: decode.MeanLogit(decode.SmallestError), 0.5: 0,
		1: decode.MeanLogit(1 - decode.SmallestError)} {
		if got := decode.MeanLogit(e); got != want {
			t.Errorf("the mean for e = %v is %v, want %v", e, got, want)
		}
	}
}
