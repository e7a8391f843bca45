package scenario

import (
	"math"

	"belsim/montecarlo"
)

// Sampling says how much is sampled, with which random numbers, and which errors are counted.
type Sampling struct {
	Samples    uint64  `json:"samples" doc:"samples of each label; not used with rel_err"`
	RelErr     float64 `json:"rel_err" doc:"relative standard error that a cell is sampled to; 0 for a fixed number of samples"`
	MaxSamples uint64  `json:"max_samples" doc:"the most samples of each label with rel_err"`
	Within     int     `json:"within_levels" doc:"θ: errors of at most θ levels are counted"`
	Seed       uint64  `json:"seed" doc:"seed of the random numbers"`
}

// DefaultSampling is the default sampling: 100,000 samples of each label, seed 1, θ = 5.
func DefaultSampling() Sampling {
	return Sampling{Samples: 100_000, MaxSamples: 100_000_000, Within: 5, Seed: 1}
}

// Check refuses values without a meaning. The errors are *ValueError.
func (s Sampling) Check() error {
	switch {
	case s.Samples < 2:
		return &ValueError{"samples", s.Samples, "at least 2, which a standard error needs"}
	case s.RelErr < 0 || math.IsNaN(s.RelErr) || math.IsInf(s.RelErr, 0):
		return &ValueError{"rel_err", s.RelErr, "a positive number"}
	case s.RelErr > 0 && s.MaxSamples < montecarlo.BlockSize:
		return &ValueError{"max_samples", s.MaxSamples, "at least one block of 65536 samples, in which rel_err samples"}
	case s.Within < 0:
		return &ValueError{"within", s.Within, "0 or more levels"}
	}
	return nil
}

// Target is the sampling as the estimators take it. eachLabel makes RelErr hold for every
// label, and not only for the mean over the prior.
func (s Sampling) Target(prior []float64, eachLabel bool) montecarlo.Target {
	return montecarlo.Target{Samples: s.Samples, RelErr: s.RelErr, Max: s.MaxSamples, EachLabel: eachLabel, Prior: prior}
}

// Most is the largest number of samples of a label.
func (s Sampling) Most() uint64 {
	if s.RelErr > 0 {
		return s.MaxSamples
	}
	return s.Samples
}

// Run says where a computation runs, and which function is told of its progress. It never
// changes a number.
type Run struct {
	Backend montecarlo.Backend // draws the samples
	Workers int                // goroutines of bounds and exact values; 0: one for each processor
	Done    func(n uint64)     // is told how much was finished since its last call, from several goroutines; may be nil
}

// done tells the follower, if there is one.
func (r Run) done(n uint64) {
	if r.Done != nil {
		r.Done(n)
	}
}

// Provenance says how a result was made.
type Provenance struct {
	Command string `json:"command" doc:"the command line that made the result"`
	Version string `json:"version" doc:"the version of belsim"`
}
