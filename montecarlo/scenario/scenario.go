// Package scenario describes the subject of a computation, and what theory knows of it.
//
// A Scenario has the error model of the classifiers, the prior of the labels, the outputs
// that decoders read, and their temperature.
// Flags, plans of sweeps and fits to trained networks fill it in; every computation
// reads it: error probabilities and sampling problems of a code (Problem), the bound
// and the exact value where they exist (BoundOf, ExactOf, TheoryOf). What is asked about it has
// packages of its own, one for each question: compare, verify, heatmap, sweep, search, assess.
package scenario

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/perceived"
	"belsim/montecarlo"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Outputs say what the classifiers give to a decoder.
type Outputs string

// The outputs of the classifiers.
const (
	AutoOutputs Outputs = "auto"   // logits for decoders that need them, bits for the others
	Bits        Outputs = "bits"   // hard decisions
	Logits      Outputs = "logits" // soft decisions
)

// Scenario describes the subject of a computation. New returns one with the defaults.
type Scenario struct {
	Model       Model           // where the error probabilities come from
	Prior       Prior           // how often each label occurs
	Outputs     Outputs         // what decoders read
	Temperature float64         // τ, by which the logits of gen-ex are multiplied
	Decoders    decode.Registry // the decoders that names stand for
}

// New returns a scenario with the defaults: decoders read what they need, τ = 1,
// labels occur equally often, and decoders are the built-in ones.
func New(m Model) *Scenario {
	return &Scenario{Model: m, Outputs: AutoOutputs, Temperature: 1, Decoders: decode.Builtin()}
}

// ValueError says that a value is refused. Name is the field's name in files and results.
type ValueError struct {
	Name  string
	Value any
	Want  string
}

// Error implements error.
func (e *ValueError) Error() string { return fmt.Sprintf("%s is %v: want %s", e.Name, e.Value, e.Want) }

// throughGenEx is the decoder of networks that were trained through it.
const throughGenEx = "gen-ex"

// CheckLearnt returns a *ValueError for a temperature other than 1 of networks that learn their
// own: those trained through gen-ex.
func CheckLearnt(t perceived.Training, tau float64) error {
	if t.ThroughGenEx() && tau != 1 {
		return &ValueError{Name: "temperature", Value: tau, Want: "1, for networks trained with " + t.Loss() +
			", whose loss learns its own"}
	}
	return nil
}

// CheckTemperature returns a *ValueError unless τ is a positive finite number.
func CheckTemperature(tau float64) error {
	if !(tau > 0) || math.IsInf(tau, 0) {
		return &ValueError{"temperature", tau, "a positive finite number"}
	}
	return nil
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
// is not among them.
func (s *Scenario) NotDefault() string {
	text := ""
	if s.Outputs != AutoOutputs {
		text += ", " + string(s.Outputs)
	}
	if s.Temperature != 1 {
		text += fmt.Sprintf(", τ = %.4g", s.Temperature)
	}
	return text
}

// Description holds the values of a scenario in the JSON of a result.
type Description struct {
	Parameters
	Temperature float64 `json:"temperature"`
}

// Description describes the scenario for results.
func (s *Scenario) Description() Description { return Description{s.Model.Parameters(), s.Temperature} }

// Weights returns the prior of the labels of a code of a number of levels: see Prior.Weights.
func (s *Scenario) Weights(levels int) ([]float64, error) { return s.Prior.Weights(levels) }

// Errors returns the L × M error probabilities of a code under the scenario's model and prior.
func (s *Scenario) Errors(ctx context.Context, c *code.Code) (mat.Matrix, error) {
	weights, err := s.Weights(c.Levels())
	if err != nil {
		return nil, err
	}
	return s.Model.Errors(ctx, c, weights)
}

// CheckTwice refuses a name that occurs twice. what says what the names are, such as decoder.
func CheckTwice[S ~string](what string, names []S) error {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("%s %s is given twice", what, name)
		}
	}
	return nil
}

// Decoder returns the named decoder of a code. The error wraps decode.ErrUnfit where the decoder
// does not fit the code.
func (s *Scenario) Decoder(name string, c *code.Code) (decode.Decoder, error) {
	if t := trainingOf(s.Model); t.ThroughGenEx() {
		if err := CheckLearnt(t, s.Temperature); err != nil {
			return nil, err
		}
		if s.Outputs == Bits || name != throughGenEx && name != decode.Auto {
			const text = "decoder %s, outputs %s: networks trained with %s have logits that gen-ex alone reads"
			return nil, fmt.Errorf(text, name, s.Outputs, t.Loss())
		}
		name = throughGenEx
	}
	if s.outputs() != Logits {
		return s.Decoders.New(name, c, decode.Options{Temperature: s.Temperature})
	}
	soft := s.Decoders.ReadingLogits()
	if _, ok := soft.Lookup(name); !ok && name != decode.Auto {
		if s.Outputs != Logits {
			return nil, fmt.Errorf("decoder %s reads bits, and networks trained with %s give logits; want %s", name,
				trainingOf(s.Model).Loss(), strings.Join(soft.Names(), " or "))
		}
		return nil, fmt.Errorf("decoder %s reads bits; outputs that are logits want %s", name,
			strings.Join(soft.Names(), " or "))
	}
	return soft.New(name, c, decode.Options{Temperature: s.Temperature})
}

// Of are the outputs of networks that were trained so: those trained for the decoder give logits,
// whose signs mean nothing by themselves.
func (o Outputs) Of(t perceived.Training) Outputs {
	if o == AutoOutputs && t.Together() {
		return Logits
	}
	return o
}

// outputs are the outputs of the scenario.
func (s *Scenario) outputs() Outputs { return s.Outputs.Of(trainingOf(s.Model)) }

// OutputsOf returns the outputs that a decoder of a code reads: Bits or Logits.
func (s *Scenario) OutputsOf(c *code.Code, d decode.Decoder) Outputs {
	switch outputs := s.outputs(); {
	case outputs != AutoOutputs:
		return outputs
	case decode.PrefersLogits(c, d):
		return Logits
	}
	return Bits
}

// Problem returns the sampling problem of a code and a decoder under the scenario's model. The
// function Invalid recognizes the error of a model that is not valid for the code.
func (s *Scenario) Problem(ctx context.Context, c *code.Code, d decode.Decoder, draw Sampling) (*montecarlo.Problem,
	error) {
	e, err := s.Errors(ctx, c)
	if err != nil {
		return nil, err
	}
	return s.ProblemOf(ctx, c, d, e, draw)
}

// ProblemOf is Problem with the L × M error probabilities given.
func (s *Scenario) ProblemOf(ctx context.Context, c *code.Code, d decode.Decoder, e mat.Matrix,
	draw Sampling) (*montecarlo.Problem, error) {
	p := &montecarlo.Problem{
		Code: c, Decoder: d, Errors: e, Kind: s.kind(c, d), Seed: draw.Seed, Within: draw.Within,
	}
	if i, ok := d.(decode.Informed); ok {
		weights, err := s.Weights(c.Levels())
		if err != nil {
			return nil, err
		}
		if p.Decoder, err = i.Inform(decode.Model{Prior: weights, Logits: !p.Kind.Hard(), Errors: e}); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Shape returns the problem without its error probabilities: enough to ask whether a bound
// or an exact value exists.
func (s *Scenario) Shape(c *code.Code, d decode.Decoder) *montecarlo.Problem {
	return &montecarlo.Problem{Code: c, Decoder: d, Kind: s.kind(c, d)}
}

// kind is the kind of the outputs that a decoder of a code reads.
func (s *Scenario) kind(c *code.Code, d decode.Decoder) montecarlo.Kind {
	switch {
	case s.OutputsOf(c, d) != Bits:
		return montecarlo.IndependentLogits
	case decode.Real(d) || c.Real() || c.Uneven():
		return montecarlo.DenseBits
	}
	return montecarlo.IndependentBits
}
