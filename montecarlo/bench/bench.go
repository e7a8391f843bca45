// Package bench has typical sampling problems, to measure how fast a backend is.
package bench

import (
	"context"
	"math"
	"time"

	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/theory"
	"belsim/theory/code"
)

// Workload is a typical sampling problem, to measure how fast a backend is.
type Workload struct {
	Code, Decoder string
	Levels        int
	R, Sigma      float64
}

// Workloads lists the standard ones; the first is the reference.
func Workloads() []Workload {
	return []Workload{
		{"johnson-nonzero", "bel-j", 255, 2, 5},
		{"johnson-nonzero", "bel-j", 255, 0.5, 5},
		{"unary", "bel-u", 255, 2, 5},
		{"hexj", "gen", 256, 0.6, 1.5},
		{"b1jdj", "gen", 256, 0.6, 1.5},
		{"hadamard", "gen", 256, 0.02, 5},
		{"johnson-nonzero", "bel-j", 1023, 2, 5},
		{"unary", "gen-ex", 256, 0.5, 3}, // on logits, as the next ones
		{"b1jdj", "gen-ex", 256, 0.5, 3},
		{"hexj", "gen-ex", 256, 0.5, 3},
	}
}

// Result is one workload on one backend.
type Result struct {
	scenario.Design
	R     float64 `json:"r" text:"r,%g"`
	Sigma float64 `json:"sigma" text:"σ,%g"`
	// cpu or cuda
	Backend string `json:"backend" text:"backend"`
	// name of the device
	Device string `json:"device" text:"device"`
	// samples that were timed
	Samples uint64 `json:"samples"`
	// time that they took
	Seconds float64 `json:"seconds"`
	// samples/seconds
	Rate float64 `json:"samples_per_second" text:"samples/s"`
}

// Measure samples a workload for about a given time, in ever longer runs of which the last
// one counts.
func (w Workload) Measure(ctx context.Context, b montecarlo.Backend, long time.Duration) (Result, error) {
	c, err := code.New(w.Code, w.Levels)
	if err != nil {
		return Result{}, err
	}
	s := scenario.New(scenario.Mixture{R: w.R, Sigma: w.Sigma})
	d, err := s.Decoder(w.Decoder, c)
	if err != nil {
		return Result{}, err
	}
	m := Result{Design: s.Design(c, d), R: w.R, Sigma: w.Sigma}
	p, err := montecarlo.Sampling{Seed: 1}.Problem(ctx, s, c, d)
	if err != nil {
		return m, err
	}
	prior := theory.Uniform(w.Levels)
	for n := uint64(1 << 10); ; {
		start := time.Now()
		if _, _, err := montecarlo.Estimate(ctx, b, p, montecarlo.Sampling{Samples: n}, prior, nil); err != nil {
			return m, err
		}
		if took := time.Since(start); took >= long*3/4 || n >= p.MaxSamples()/64 {
			m.Samples, m.Seconds = n*uint64(w.Levels), took.Seconds()
			m.Rate = float64(m.Samples) / m.Seconds
			return m, nil
		} else {
			n *= uint64(min(64, max(2, math.Ceil(1.1*long.Seconds()/max(took.Seconds(), 1e-9)))))
		}
	}
}
