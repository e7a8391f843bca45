package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/theory"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// latentFlags say what decoders read, and how the outputs depend on each other.
type latentFlags struct {
	Outputs     string  `enum:"auto,bits,logits" default:"auto" help:"What the classifiers give: ${enum}; auto gives logits to gen-ex and to codes of real numbers, bits to other decoders."`
	Temperature float64 `default:"1" placeholder:"τ" help:"Temperature τ of gen-ex, by which outputs are multiplied (default: 1)."`
	SharedNoise float64 `default:"0" placeholder:"ρ" help:"Part ρ, from 0 to 1, of the noise that is one displacement of the perceived label, common to all bits (default: 0)."`
	Labels      string  `enum:"levels,continuous" default:"levels" help:"True labels: levels, or real numbers that are quantized to them."`
}

// decoders are what --decoder takes.
const decoders = "auto,bel-u,bel-j,gen,gen-ex"

// check refuses numbers that mean nothing.
func (f latentFlags) check() error {
	switch {
	case !(f.Temperature > 0) || math.IsInf(f.Temperature, 0):
		return fmt.Errorf("--temperature %v: want a positive finite number", f.Temperature)
	case !(f.SharedNoise >= 0 && f.SharedNoise <= 1):
		return fmt.Errorf("--shared-noise %v: want a number from 0 to 1", f.SharedNoise)
	}
	return nil
}

// String describes what is not usual.
func (f latentFlags) String() string {
	s := ""
	if f.Outputs != "auto" {
		s += ", " + f.Outputs
	}
	if f.Temperature != 1 {
		s += fmt.Sprintf(", τ = %.4g", f.Temperature)
	}
	if f.SharedNoise > 0 {
		s += fmt.Sprintf(", ρ = %.4g", f.SharedNoise)
	}
	if f.Labels == "continuous" {
		s += ", continuous labels"
	}
	return s
}

// realCodes reports whether files may hold real numbers: where a decoder that can
// read them is asked for by name.
func realCodes(decoder ...string) bool {
	for _, d := range decoder {
		if d != "gen" && d != "gen-ex" {
			return false
		}
	}
	return len(decoder) > 0
}

// decoder returns the named decoder for a code.
func (f latentFlags) decoder(name string, c *code.Code) (decode.Decoder, error) {
	switch {
	case name == "gen-ex":
		return decode.NewGenEx(c, f.Temperature)
	case name == decode.Auto && f.Outputs == "logits":
		name = "gen" // the others read bits
	case f.Outputs == "logits" && name != "gen":
		return nil, fmt.Errorf("decoder %s reads bits; --outputs logits wants gen or gen-ex", name)
	}
	return decode.New(name, c)
}

// outputs says what a decoder of a code is given.
func (f latentFlags) outputs(c *code.Code, d decode.Decoder) string {
	_, genEx := d.(decode.GenEx)
	switch {
	case f.Outputs != "auto":
		return f.Outputs
	case genEx || c.Real():
		return "logits"
	}
	return "bits"
}

// errBetween is wrapped by the refusal of a mixture that is valid at levels alone.
var errBetween = errors.New("invalid for continuous labels")

// validBetween refuses a mixture that exceeds 1 between levels, where it is larger
// than at both. Quarters of levels tell its largest value to less than a tenth: the
// transitions are among them, where Gaussians that do not overlap have their peaks,
// and wide ones change little over a quarter. Only near 1 are all labels that occur
// looked at.
func validBetween(c *code.Code, m *errmodel.Mixture) error {
	row := make([]float64, c.Bits())
	largest := func(parts int, middle float64) (y, e float64, bit int) {
		for i := range c.Levels() * parts {
			at := 0.5 + (float64(i)+middle)/float64(parts)
			m.AtLabel(row, at)
			for k, p := range row {
				if p > e {
					y, e, bit = at, p, k
				}
			}
		}
		return y, e, bit
	}
	y, e, bit := largest(4, 0)
	if e > 0.9 && e <= 1 {
		y, e, bit = largest(montecarlo.Sublevels, 0.5)
	}
	if e <= 1 {
		return nil
	}
	return fmt.Errorf("%s: r = %v with σ = %v is %w: e = %.4g at label %v, bit %d, and a probability is at most 1",
		c.Name(), m.R(), m.Sigma(), errBetween, e, y, bit+1)
}

// latent is the model of the logits, or nil where bits that err independently are
// enough. e is what gives the probabilities at levels.
func (f latentFlags) latent(c *code.Code, d decode.Decoder, e mat.Matrix) (*montecarlo.Latent, error) {
	l := &montecarlo.Latent{Hard: f.outputs(c, d) == "bits", Shared: f.SharedNoise}
	if f.Labels == "continuous" {
		mixture, ok := e.(*errmodel.Mixture)
		if !ok {
			return nil, errors.New("--labels continuous needs the error model of --r and --sigma: a table says nothing between levels")
		}
		l.Continuous = mixture
		if err := validBetween(c, mixture); err != nil {
			return nil, err
		}
	}
	_, genEx := d.(decode.GenEx)
	if l.Hard && l.Shared == 0 && l.Continuous == nil && !genEx && !c.Real() {
		return nil, nil
	}
	return l, nil
}

// bounds returns the bound that holds for a problem: that of hard outputs where
// bits err independently, that of logits, or that of bel-u, which holds however
// bits depend on each other. The error wraps theory.ErrNone where there is none.
func boundOf(p *montecarlo.Problem) (*theory.Bound, error) {
	l := p.Latent
	switch {
	case l == nil:
		return theory.NewBound(p.Code, p.Decoder)
	case l.Continuous != nil:
		return nil, fmt.Errorf("%w: bounds are for labels that are levels", theory.ErrNone)
	case !l.Hard:
		return theory.NewSoftBound(p.Code, p.Decoder, l.Shared)
	}
	b, err := theory.NewBound(p.Code, p.Decoder)
	if l.Shared > 0 && (err != nil || !b.Dependent) {
		return nil, fmt.Errorf("%w: bounds of decoder %s are for bits that err independently", theory.ErrNone, p.Decoder.Name())
	}
	return b, err
}

// hasExact reports whether exact values describe a problem: bits that err
// independently, and labels that are levels.
func hasExact(p *montecarlo.Problem) bool {
	l := p.Latent
	return l == nil || l.Hard && l.Shared == 0 && l.Continuous == nil
}

// kind is what is asked about a code and its decoder, without probabilities but where
// the model of the labels is made of them.
func (f latentFlags) kind(ctx context.Context, s side) (*montecarlo.Problem, error) {
	var e mat.Matrix
	if f.Labels == "continuous" {
		m, err := errmodel.NewMixture(ctx, s.code, 1e-9, 1)
		if err != nil {
			return nil, err
		}
		e = m
	}
	latent, err := f.latent(s.code, s.decoder, e)
	return &montecarlo.Problem{Code: s.code, Decoder: s.decoder, Latent: latent}, err
}

// exactOf prepares the exact values of a problem. The error wraps theory.ErrNone where
// there are none.
func exactOf(p *montecarlo.Problem) (*theory.Exact, error) {
	if !hasExact(p) {
		return nil, fmt.Errorf("%w: exact values are for bits that err independently and labels that are levels", theory.ErrNone)
	}
	return theory.NewExact(p.Code, p.Decoder)
}

// averageTheory is the bound and the exact value of a problem over a prior; NaN where
// there is none.
func averageTheory(ctx context.Context, p *montecarlo.Problem, prior []float64) (bound, exact number, err error) {
	th, err := theoryOf(ctx, p)
	if err != nil {
		return none, none, err
	}
	bound, exact = average(th, prior)
	return bound, exact, nil
}

// average is the mean of what theory says of every level over a prior.
func average(th []montecarlo.Theory, prior []float64) (bound, exact number) {
	bounds, exacts := make([]float64, len(th)), make([]float64, len(th))
	for i, t := range th {
		bounds[i], exacts[i] = t.Bound, t.Mean
	}
	return number(theory.Average(prior, bounds)), number(theory.Average(prior, exacts))
}

// theoryOf collects what theory says of every level; NaN where it says nothing.
func theoryOf(ctx context.Context, p *montecarlo.Problem) ([]montecarlo.Theory, error) {
	out := make([]montecarlo.Theory, p.Code.Levels())
	for i := range out {
		out[i] = montecarlo.Theory{Bound: math.NaN(), Mean: math.NaN(), MeanSquare: math.NaN()}
	}
	if _, err := boundOf(p); err == nil {
		var bounds []float64
		if p.Latent != nil && !p.Latent.Hard {
			bounds, err = theory.SoftBounds(ctx, 0, p.Code, p.Decoder, p.Errors, p.Latent.Shared)
		} else {
			bounds, err = theory.Bounds(ctx, 0, p.Code, p.Decoder, p.Errors)
		}
		if err != nil && !errors.Is(err, theory.ErrNone) {
			return nil, err
		}
		for i, b := range bounds {
			out[i].Bound = b
		}
	}
	if hasExact(p) {
		exacts, err := theory.Exacts(ctx, 0, p.Code, p.Decoder, p.Errors)
		if err != nil && !errors.Is(err, theory.ErrNone) {
			return nil, err
		}
		for i, x := range exacts {
			out[i].Mean, out[i].MeanSquare = x.Mean, x.MeanSquare
		}
	}
	return out, nil
}
