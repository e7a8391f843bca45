package scenario

import (
	"fmt"
	"math"

	"belsim/montecarlo"
)

// CheckSampling refuses values without a meaning. The errors are *ValueError.
func CheckSampling(s montecarlo.Sampling) error {
	switch {
	case s.Samples < 2 && s.RelErr == 0:
		return &ValueError{"samples", s.Samples, "at least 2, which a standard error needs"}
	case s.RelErr < 0 || math.IsNaN(s.RelErr) || math.IsInf(s.RelErr, 0):
		return &ValueError{"rel_err", s.RelErr, "a positive number"}
	case s.RelErr > 0 && s.MaxSamples < 2*montecarlo.LeastSamples:
		return &ValueError{"max_samples", s.MaxSamples, fmt.Sprintf("at least %d, of which half are a pilot",
			2*montecarlo.LeastSamples)}
	case s.Within < 0:
		return &ValueError{"within", s.Within, "0 or more levels"}
	}
	return nil
}

// Provenance says how a result was made.
type Provenance struct {
	Command string `json:"command"`
	Version string `json:"version"`
}
