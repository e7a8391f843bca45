package montecarlo_test

import (
	"math"
	"testing"

	"belsim/montecarlo"
)

// TestBeside: samples beside an exact value are drawn to 1 %, unless a number of samples or a wider
// target was asked for.
func TestBeside(t *testing.T) {
	for _, tt := range []struct{ relErr, exact, want float64 }{{0.002, 3, 0.01}, {0.02, 3, 0.02},
		{0.002, math.NaN(), 0.002}} {
		s := montecarlo.DefaultSampling()
		if s.RelErr = tt.relErr; s.CheckingExact(tt.exact).RelErr != tt.want || s.Fixed(9).CheckingExact(tt.exact).RelErr != 0 {
			t.Errorf("%+v: %+v", tt, s.CheckingExact(tt.exact))
		}
	}
}
