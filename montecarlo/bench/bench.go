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

// Measurement is the time that samples of a workload took.
type Measurement struct {
	Design  scenario.Design
	Samples uint64
	Took    time.Duration
}

// Rate is the number of samples in a second.
func (m Measurement) Rate() float64 { return float64(m.Samples) / m.Took.Seconds() }

// Measure samples a workload for about a given time, in ever longer runs of which the last
// one counts.
func (w Workload) Measure(ctx context.Context, b montecarlo.Backend, long time.Duration) (Measurement, error) {
	c, err := code.New(w.Code, w.Levels)
	if err != nil {
		return Measurement{}, err
	}
	s := scenario.New(scenario.Mixture{R: w.R, Sigma: w.Sigma})
	d, err := s.Decoder(w.Decoder, c)
	if err != nil {
		return Measurement{}, err
	}
	m := Measurement{Design: s.Design(c, d)}
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
			m.Samples, m.Took = n*uint64(w.Levels), took
			return m, nil
		} else {
			n *= uint64(min(64, max(2, math.Ceil(1.1*long.Seconds()/max(took.Seconds(), 1e-9)))))
		}
	}
}
