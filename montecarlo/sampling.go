package montecarlo

import (
	"context"
	"fmt"
	"math"

	"belsim/errmodel/scenario"
	"belsim/theory/base/refuse"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
	"belsim/theory/expect"
)

// Sampling says how much is sampled, with which random numbers.
type Sampling struct {
	// samples of each label; not used with rel_err
	Samples uint64 `json:"samples"`
	// relative standard error that a cell is sampled to; 0 for a fixed number of samples
	RelErr float64 `json:"rel_err"`
	// the most samples of each label with rel_err
	MaxSamples uint64 `json:"max_samples"`
	// Work, when positive, limits the samples of all labels together with RelErr, by what they
	// cost: see Problem.Effort. A label has at least LeastSamples.
	Work float64 `json:"-"`
	// Answers asks for Sums.Answers.
	Answers bool   `json:"-"`
	Seed    uint64 `json:"seed"`
}

// FixedSampling is 100,000 samples of each label, seed 1.
func FixedSampling() Sampling {
	return Sampling{Samples: 100_000, MaxSamples: 100_000_000, Seed: 1}
}

// The default precision is a relative standard error; about a sixth of a second of a processor may not be
// enough for it. Samples beside an exact value only check it.
const (
	defaultRelErr = 0.002
	defaultWork   = 1 << 23
	besideExact   = 0.01
)

// DefaultSampling samples to a relative standard error of 0.2 %, or as far as a limited work
// goes: about a sixth of a second for each code.
func DefaultSampling() Sampling {
	s := FixedSampling()
	s.Samples, s.RelErr, s.Work = 0, defaultRelErr, defaultWork
	return s
}

// Fixed is the sampling with a number of samples of each label, and not to a precision.
func (s Sampling) Fixed(samples uint64) Sampling {
	s.Samples, s.RelErr, s.Work = samples, 0, 0
	return s
}

// CheckingExact is the sampling of a problem whose exact value is known: samples only check it, so that a
// larger standard error will do.
func (s Sampling) CheckingExact(exact float64) Sampling {
	if s.Work > 0 && !table.Missing(exact) {
		s.RelErr = max(s.RelErr, besideExact)
	}
	return s
}

// Check refuses values without a meaning. The errors are *refuse.Value.
func (s Sampling) Check() error {
	switch {
	case s.Samples < 2 && s.RelErr == 0:
		return &refuse.Value{Name: "samples", Value: s.Samples, Want: "at least 2, which a standard error needs"}
	case s.RelErr < 0 || math.IsNaN(s.RelErr) || math.IsInf(s.RelErr, 0):
		return &refuse.Value{Name: "rel_err", Value: s.RelErr, Want: "a positive number"}
	case s.RelErr > 0 && s.MaxSamples < 2*LeastSamples:
		return &refuse.Value{Name: "max_samples", Value: s.MaxSamples,
			Want: fmt.Sprintf("at least %d, of which half are a pilot", 2*LeastSamples)}
	}
	return nil
}

// Run says where a computation runs, and which function is told of its progress. It never
// changes a number.
type Run struct {
	Backend Backend        // draws the samples
	Workers int            // goroutines of bounds and exact values; 0: one for each processor
	Done    func(n uint64) // is told how much was finished since its last call, from several goroutines; may be nil
}

// Finished tells the follower, if there is one, how much was finished.
func (r Run) Finished(n uint64) {
	if r.Done != nil {
		r.Done(n)
	}
}

// Problem is the sampling problem of a code and a decoder in a scenario. The error is errmodel.Invalid
// where the scenario's model is not valid for the code.
func (s Sampling) Problem(ctx context.Context, of *scenario.Scenario, c *code.Code,
	d decode.Decoder) (*Problem, error) {
	p, err := of.Problem(ctx, c, d)
	if err != nil {
		return nil, err
	}
	return s.Of(p), nil
}

// Of is the sampling problem of classifiers.
func (s Sampling) Of(p *expect.Problem) *Problem {
	kind := IndependentBits
	if p.Logits {
		kind = IndependentLogits
	}
	return &Problem{Code: p.Code, Decoder: p.Decoder, Errors: p.Errors, Kind: kind, Shared: p.Shared, Seed: s.Seed,
		Cost: p.Cost, Answers: s.Answers}
}

// Expected is what theory computes the expectation of: the problem without its samples.
func (p *Problem) Expected() *expect.Problem {
	return &expect.Problem{Code: p.Code, Decoder: p.Decoder, Errors: p.Errors, Logits: !p.Kind.Hard(), Cost: p.Cost,
		Shared: p.Shared}
}
