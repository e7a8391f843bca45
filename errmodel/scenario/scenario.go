// Package scenario holds what all codes of a computation have in common: a [Scenario] is an error
// model, the prior of the labels, what decoders read, and their temperature. Package expect
// computes bounds and exact values of the problem of a Scenario, a code and a decoder; package
// montecarlo samples the problem.
package scenario

import (
	"context"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/theory"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
	"belsim/theory/expect"
)

// Scenario describes the subject of a computation. New returns one with the defaults.
type Scenario struct {
	Model       Model           // where the error probabilities come from
	Prior       theory.Prior    // how often each label occurs
	Outputs     decode.Outputs  // what decoders read
	Temperature float64         // τ, by which the logits of gen-ex are multiplied
	Decoders    decode.Registry // the decoders that names stand for
	Shared      errmodel.Shared // noise that all bits share

	cost  cost.Cost         // whose expectation is asked for, of any number of levels
	costs map[int]cost.Cost // by the number of levels
}

// SetCost sets the cost whose expectation is asked for, by its text: see cost.Parse. levels are the numbers of
// levels that codes of this scenario may have.
func (s *Scenario) SetCost(text string, circular bool, levels ...int) (err error) {
	s.costs = map[int]cost.Cost{}
	for _, l := range levels {
		if s.cost, err = cost.Parse(text, l, circular); err != nil {
			return err
		}
		s.costs[l] = s.cost
	}
	return nil
}

// Cost is the cost whose expectation is asked for: |error| where SetCost was not called.
func (s *Scenario) Cost() cost.Cost { return s.cost }

// CostOf is the cost of answers of codes of a number of levels, which level 1 may follow.
func (s *Scenario) CostOf(levels int, circular bool) cost.Cost {
	of, ok := s.costs[levels]
	if !ok && circular {
		return cost.Circular(levels)
	}
	return of
}

// New returns a scenario with the defaults: decoders read what they need, τ = 1,
// labels occur equally often, and decoders are the built-in ones.
func New(m Model) *Scenario {
	return &Scenario{Model: m, Outputs: decode.AutoOutputs, Temperature: 1, Decoders: decode.Builtin()}
}

// String describes the scenario for people: the error model, and every value that is not the
// default.
func (s *Scenario) String() string {
	if s.Model == nil {
		return s.NotDefault()
	}
	return s.Model.String() + s.NotDefault()
}

// NotDefault lists the values that are not the defaults, each after a comma; the error model
// is not among them, nor the cost, which Measure.Expects names.
func (s *Scenario) NotDefault() string {
	text := s.Shared.String()
	if s.Outputs != decode.AutoOutputs {
		text += ", " + string(s.Outputs)
	}
	if s.Temperature != 1 {
		text += fmt.Sprintf(", τ = %.4g", s.Temperature)
	}
	if prior := s.Prior.String(); prior != "" {
		text += ", " + prior
	}
	return text
}

// Description holds the values of a scenario in the JSON of a result.
type Description struct {
	Parameters
	// noise that all bits share: its standard deviation in levels, or its file; missing where there
	// is none, and then r and sigma are those of all errors
	Shared      string  `json:"shared,omitempty"`
	Temperature float64 `json:"temperature"`
	// the file of --prior; missing where all labels occur equally often, or as in the fit of --model
	Prior string `json:"prior,omitempty"`
	// the label of --prior that is level 1
	Lowest *int `json:"prior_lowest,omitempty"`
	Measure
}

// Measure says what the errors of a result are.
type Measure struct {
	// whose expectation the errors are: absolute, the |error|, or another cost of --cost
	Cost string `json:"cost"`
	// unit of the errors: levels, their square, or nothing, as for a probability
	Unit string `json:"unit"`

	Expects string `json:"-"` // the cost and its unit for people; "" where a file was read
}

// Measure is the cost for results.
func (s *Scenario) Measure() Measure {
	return Measure{s.cost.Name(), s.cost.Unit(), s.cost.String()}
}

// Description describes the scenario for results.
func (s *Scenario) Description() Description {
	d := Description{s.Model.Parameters(), s.Shared.Text, s.Temperature, s.Prior.Path, nil, s.Measure()}
	if h := s.Prior.Histogram; h != nil {
		d.Lowest = &h.Lowest
	}
	return d
}

// Weights returns the prior of the labels of a code of a number of levels: see theory.Prior.
func (s *Scenario) Weights(levels int) ([]float64, error) { return s.Prior.Weights(levels) }

// Decoder returns the named decoder of a code. The error wraps decode.ErrUnfit where the decoder
// does not fit the code.
func (s *Scenario) Decoder(name string, c *code.Code) (decode.Decoder, error) {
	d, err := s.decoder(name, c)
	if err != nil {
		return nil, err
	}
	return d, s.CostOf(c.Levels(), c.Circular()).Check(d)
}

func (s *Scenario) decoder(name string, c *code.Code) (decode.Decoder, error) {
	if s.Outputs != decode.Logits {
		return s.Decoders.New(name, c, decode.Options{Temperature: s.Temperature})
	}
	soft := s.Decoders.ReadingLogits()
	if _, ok := soft.Lookup(name); !ok && name != decode.Auto {
		return nil, fmt.Errorf("decoder %s reads bits; outputs that are logits want %s", name,
			strings.Join(soft.Names(), " or "))
	}
	return soft.New(name, c, decode.Options{Temperature: s.Temperature})
}

// OutputsOf returns the outputs that a decoder of a code reads: decode.Bits or decode.Logits.
func (s *Scenario) OutputsOf(c *code.Code, d decode.Decoder) decode.Outputs {
	switch {
	case s.Outputs != decode.AutoOutputs:
		return s.Outputs
	case decode.PrefersLogits(c, d):
		return decode.Logits
	}
	return decode.Bits
}

// Problem returns the problem of a code and a decoder under the scenario's model. The function
// errmodel.Invalid recognizes the error of a model that is not valid for the code.
func (s *Scenario) Problem(ctx context.Context, c *code.Code, d decode.Decoder) (*expect.Problem, error) {
	e, err := s.Model.Errors(ctx, c)
	if err != nil {
		return nil, err
	}
	return s.ProblemOf(c, d, e)
}

// ProblemOf is Problem with the L × M error probabilities given.
func (s *Scenario) ProblemOf(c *code.Code, d decode.Decoder, e mat.Matrix) (*expect.Problem, error) {
	p := s.WithoutErrors(c, d)
	p.Errors = e
	shared := p.Shared
	i, ok := d.(decode.Informed)
	if !ok {
		return p, nil
	}
	weights, err := s.Weights(c.Levels())
	if err != nil {
		return nil, err
	}
	model := decode.Model{Prior: weights, Logits: p.Logits, Errors: e, Rule: p.Cost.Rule(), Cost: p.Cost.Of}
	if shared != nil {
		w, err := shared.Seen(c)
		if err != nil {
			return nil, err
		}
		model.Seen = w.Matrix()
	}
	p.Decoder, err = i.Inform(model)
	return p, err
}

// WithoutErrors returns the problem without its error probabilities: enough to ask whether a bound
// or an exact value exists.
func (s *Scenario) WithoutErrors(c *code.Code, d decode.Decoder) *expect.Problem {
	return &expect.Problem{Code: c, Decoder: d, Logits: s.OutputsOf(c, d) == decode.Logits,
		Cost: s.CostOf(c.Levels(), c.Circular()), Shared: s.Shared.Of(c.Levels())}
}
