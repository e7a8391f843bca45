package search

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/theory/base/refuse"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// maxSteps limits Options.Steps, far beyond any useful search.
const maxSteps uint64 = 1 << 50

// Optimizer searches for codes under a scenario, and reports how good they are beside the
// named codes. It is not safe for concurrent use.
type Optimizer struct {
	// Options are the options of every search. NewOptimizer fills in what the scenario says.
	Options  Options
	Subject  string // the scenario in words
	scenario scenario.Scenario
	decoder  string
	bits     int // the number that the model wants; 0 where it takes any
	draw     montecarlo.Sampling
}

// DefaultSteps is the length of a search.
const DefaultSteps = 60000

// NewOptimizer prepares searches for codes with a small expected error under a scenario. The
// options say the number of levels and everything that the scenario does not: NewOptimizer sets
// Prior, Column, Objective and Seed, and the decoder and Steps where nothing says them. A table of error probabilities must have Options.Bits columns, unless Bits is 0: then it says
// the number of bits. draw says how the code that is found is sampled, and has the seed.
func NewOptimizer(s *scenario.Scenario, decoder string, draw montecarlo.Sampling, o Options) (*Optimizer, error) {
	if o.Levels < code.MinLevels || o.Levels > code.MaxLevels {
		return nil, &refuse.Value{Name: "levels", Value: o.Levels, Want: fmt.Sprintf("%d to %d", code.MinLevels,
			code.MaxLevels)}
	}
	if o.Steps > maxSteps {
		return nil, &refuse.Value{Name: "steps", Value: o.Steps, Want: fmt.Sprintf("1 to %d", maxSteps)}
	}
	p := &Optimizer{scenario: *s, draw: draw}
	s = &p.scenario
	decoder, o.Steps = cmp.Or(decoder, decode.Gen{}.Name()), cmp.Or(o.Steps, DefaultSteps)
	p.decoder, p.Subject = decoder, s.String()
	var err error
	if o.Prior, err = s.Weights(o.Levels); err != nil {
		return nil, err
	}
	o.Seed, o.Cost = draw.Seed, s.CostOf(o.Levels, o.Circular)
	if m, ok := s.Model.(scenario.Bitwise); ok {
		if o.Column, p.bits, err = m.Columns(o.Levels, o.Bits, o.Circular); err != nil {
			return nil, err
		}
		o.Bits = cmp.Or(p.bits, o.Bits)
	}
	for _, c := range o.Codes {
		if p.bits > 0 && c.Bits() != p.bits {
			return nil, fmt.Errorf("%s has %d bits, and the table of error probabilities %d", c.Name(), c.Bits(), p.bits)
		}
	}
	if o.Column == nil || decoder != (decode.Gen{}).Name() || s.Outputs == decode.Logits {
		o.Objective = p.sampled
	}
	p.Options = o
	return p, nil
}

// problem returns the sampling problem of a code.
func (p *Optimizer) problem(ctx context.Context, c *code.Code, seed uint64) (*montecarlo.Problem, error) {
	d, err := p.scenario.Decoder(p.decoder, c)
	if err != nil {
		return nil, err
	}
	return montecarlo.Sampling{Seed: seed}.Problem(ctx, &p.scenario, c, d)
}

// sampled estimates the expected error of codes by sampling the whole scenario.
func (p *Optimizer) sampled(_, samples int, seed uint64) (func(context.Context, *code.Code) (float64, error), error) {
	return func(ctx context.Context, c *code.Code) (float64, error) {
		problem, err := p.problem(ctx, c, seed)
		if errmodel.Invalid(err) {
			return math.Inf(1), nil
		}
		if err != nil {
			return 0, err
		}
		// The chains of a search are what runs side by side.
		draw := montecarlo.Sampling{Samples: uint64(samples)}
		sums, _, err := montecarlo.Estimate(ctx, montecarlo.CPU{Workers: 1}, problem, draw, p.Options.Prior, nil)
		return montecarlo.Average(p.Options.Prior, sums).Mean, err
	}, nil
}

// Decoders returns the names of a registry's decoders that read any binary code. The others,
// which are for one family of codes, cannot read codes that change.
func Decoders(r decode.Registry) ([]string, error) {
	// No decoder of one family reads this code.
	c, err := code.FromMatrix("any", mat.NewDense(3, 3, []float64{1, 1, 0, 0, 0, 1, 1, 0, 1}))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range r.Names() {
		if _, err := r.New(name, c, decode.Options{Temperature: 1}); err == nil {
			out = append(out, name)
		}
	}
	return out, nil
}
