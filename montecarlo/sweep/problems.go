package sweep

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/theory"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Problems are the cells of a sweep with what their numbers are computed from: codes,
// decoders and error models. They are safe for concurrent use.
type Problems struct {
	Sweep *Sweep
	// LeftOut lists, pair by pair, what the plan asks for and does not exist: decoders that do
	// not fit a code, and methods without a value.
	LeftOut []string

	scenario *scenario.Scenario
	sides    []side // by pair
}

// side computes the cells of one pair.
type side struct {
	code    *code.Code
	decoder decode.Decoder
	models  scenario.Lines
	weights []float64 // of the labels
}

// Problems opens the codes of a plan and pairs them with the decoders that fit them. The error
// names the plan, unless ctx ended; it says which code cannot be opened, or which decoder fits
// none.
func (p *Plan) Problems(ctx context.Context) (*Problems, error) {
	out := &Problems{scenario: p.Scenario}
	d := Definition{
		NumericVersion: montecarlo.NumericVersion, Plane: p.Plane.Kind(), Axes: scenario.AxesOf(p.Plane.Kind(), p.X, p.Y),
		Samples: p.Sampling.Samples, RelErr: p.Sampling.RelErr, MaxSamples: p.Sampling.MaxSamples,
		Within: p.Sampling.Within, Seed: p.Sampling.Seed,
		Reading: p.Scenario.Reading(),
	}
	if d.Plane == scenario.PerceivedLabels {
		d.Cutoff, d.Training = p.cutoff, p.training
	}
	err := p.pair(ctx, out, &d)
	if err == nil {
		out.Sweep, err = New(d)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, p.refuse("%w", err)
	}
	return out, nil
}

// pair fills in the pairs of a definition, and what computes them.
func (p *Plan) pair(ctx context.Context, out *Problems, d *Definition) error {
	for _, l := range p.Levels {
		weights, err := p.Scenario.Weights(l)
		if err != nil {
			return err
		}
		if p.Scenario.Prior.Histogram != nil {
			d.Priors = append(d.Priors, Prior{l, weights})
		}
	}
	fits := map[string]bool{}
	for _, name := range p.Codes {
		codes, err := p.openLevels(name, out)
		if err != nil {
			return err
		}
		for _, c := range codes {
			if err := p.pairCode(ctx, out, d, name, c, fits); err != nil {
				return err
			}
		}
	}
	for _, decoder := range p.Decoders {
		if !fits[decoder] {
			return fmt.Errorf("decoder %s fits none of the codes", decoder)
		}
	}
	if len(out.sides) == 0 {
		return fmt.Errorf("nothing is left to compute: %s", strings.Join(out.LeftOut, "; "))
	}
	return nil
}

// pairCode pairs a code with the decoders that fit it, and marks them in fits.
func (p *Plan) pairCode(ctx context.Context, out *Problems, d *Definition, name string, c *code.Code, fits map[string]bool) error {
	s := p.Scenario
	identity, err := identify(ctx, name, c)
	if err != nil {
		return err
	}
	weights, err := s.Weights(c.Levels())
	if err != nil {
		return err
	}
	var models scenario.Lines
	seen := map[string]bool{}
	for _, wanted := range p.Decoders {
		decoder, err := s.Decoder(wanted, c)
		if errors.Is(err, decode.ErrUnfit) {
			out.leave("%s of %d levels, which %s does not fit", name, c.Levels(), wanted)
			continue
		}
		if err != nil {
			return err
		}
		fits[wanted] = true
		if seen[decoder.Name()] { // auto is one of the others
			continue
		}
		seen[decoder.Name()] = true
		if models == nil {
			if models, err = p.Plane.Of(ctx, c); err != nil {
				return err
			}
		}
		methods, err := p.methodsFor(ctx, c, decoder, out)
		if err != nil {
			return err
		}
		if len(methods) == 0 {
			continue
		}
		out.sides = append(out.sides, side{c, decoder, models, weights})
		d.Pairs = append(d.Pairs, Pair{
			Code: name, Identity: identity, Levels: c.Levels(), Bits: c.Bits(),
			Decoder: decoder.Name(), Outputs: s.OutputsOf(c, decoder), Methods: methods,
		})
	}
	return nil
}

// leave notes a pair or a method that is left out.
func (p *Problems) leave(format string, a ...any) {
	p.LeftOut = append(p.LeftOut, fmt.Sprintf(format, a...))
}

// openLevels opens a code at each number of levels of the plan. A file has its own.
func (p *Plan) openLevels(name string, out *Problems) (codes []*code.Code, err error) {
	if !code.IsFile(name) {
		for _, l := range p.Levels {
			c, err := code.New(name, l)
			if err != nil {
				return nil, err
			}
			codes = append(codes, c)
		}
		return codes, nil
	}
	if codes, err = scenario.OpenCodes([]string{name}, scenario.Sizes{Real: p.Scenario.ReadsReal(p.Decoders...)}); err != nil {
		return nil, err
	}
	own := codes[0].Levels()
	if !slices.Contains(p.Levels, own) {
		return nil, fmt.Errorf(`%s has %d levels, which "levels" does not have`, name, own)
	}
	for _, l := range p.Levels {
		if l != own {
			out.leave("%s at %d levels, of which it has %d", name, l, own)
		}
	}
	return codes, nil
}

// identify returns which code it is: its name, or the hash of the matrix in its file, whatever
// the file's format and path are.
func identify(ctx context.Context, name string, c *code.Code) (string, error) {
	if !code.IsFile(name) {
		return name, nil
	}
	digest := sha256.New()
	row := make([]byte, 0, 8*c.Bits())
	for i := range c.Levels() {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		row = row[:0]
		for k := range c.Bits() {
			row = binary.BigEndian.AppendUint64(row, math.Float64bits(c.At(i, k)+0)) // no −0
		}
		digest.Write(row)
	}
	return fmt.Sprintf("sha256:%s %dx%d", hex.EncodeToString(digest.Sum(nil)), c.Levels(), c.Bits()), nil
}

// methodsFor returns the methods of the plan that have a value for a code and a decoder.
func (p *Plan) methodsFor(ctx context.Context, c *code.Code, d decode.Decoder, out *Problems) ([]scenario.Method, error) {
	shape := p.Scenario.Shape(c, d, p.Plane.Kind())
	var methods []scenario.Method
	for _, m := range p.Methods {
		var err error
		switch m {
		case scenario.Bound, scenario.Exact:
			_, err = m.MeanOf(ctx, shape)
		default:
			if limit := shape.MaxSamples(); p.Sampling.RelErr == 0 && p.Sampling.Samples > limit {
				err = fmt.Errorf(`"samples" is %d: at most %d keep the sums of squares of %s within 64 bits`, p.Sampling.Samples, limit, c.Name())
			}
		}
		switch {
		case errors.Is(err, theory.ErrNoClosedForm):
			out.leave("%s of %d levels with %s has no %s value", c.Name(), c.Levels(), d.Name(), m)
		case err != nil:
			return nil, err
		default:
			methods = append(methods, m)
		}
	}
	return methods, nil
}

// sampling says how the cells are sampled.
func (d Definition) sampling() scenario.Sampling {
	return scenario.Sampling{Samples: d.Samples, RelErr: d.RelErr, MaxSamples: d.MaxSamples, Within: d.Within, Seed: d.Seed}
}
