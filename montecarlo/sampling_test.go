package montecarlo_test

import (
	"errors"
	"math"
	"testing"

	"belsim/montecarlo"
	"belsim/theory/base/must"
	"belsim/theory/base/refuse"
)

// TestSampling: a value without a meaning is refused by its name in files.
func TestSampling(t *testing.T) {
	var v *refuse.Value
	for name, change := range map[string]func(*montecarlo.Sampling){
		"samples":     func(s *montecarlo.Sampling) { s.Samples = 1 },
		"rel_err":     func(s *montecarlo.Sampling) { s.RelErr = math.NaN() },
		"max_samples": func(s *montecarlo.Sampling) { s.RelErr, s.MaxSamples = 0.1, 2*montecarlo.LeastSamples-1 },
	} {
		s := montecarlo.FixedSampling()
		must.Succeed(t, s.Check())
		change(&s)
		if err := s.Check(); !errors.As(err, &v) || v.Name != name {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

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
