package montecarlo

import (
	"context"
	"fmt"
	"math"

	"belsim/montecarlo/tables"
	"belsim/theory/anylaw"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Kind says what the outputs of the classifiers are.
//
// Independent bits err with the probabilities Problem.Errors. Sampling the few that err is fast,
// and it is for decoders that answer with levels, and codes of zeros and ones. Dense bits have the
// same law, and are sampled one by one, many samples at once (tables.Flips): a bit with e ≤ 1e−12
// never errs. Backends sample independent bits so where they err often. A logit is
//
//	Z_k = s_k·Φ⁻¹(1 − e[n,k]) + ε_k,  ε_k ~ N(0, 1),
//
// with s_k = ±1 the true bit and e clamped to [1e−12, 1 − 1e−12]. Only gen-ex has a temperature
// that multiplies logits.
//
// With a perceived label, outputs are those of a network that knows one number: ŷ = y + s·ξ for a
// label y, ξ ~ N(0, 1). Given ŷ bits err independently, with the probabilities
// decode.Network.WrongTo, and logits are
//
//	Z_k = f_k(ŷ) + sd_k·ε_k,  ε_k ~ N(0, 1).
//
// ξ takes the means of Strata equally probable parts of its law (decode.PerceivedLabel).
type Kind = tables.Kind

// The kinds of outputs.
const (
	IndependentBits   = tables.IndependentBits
	DenseBits         = tables.DenseBits
	IndependentLogits = tables.IndependentLogits
	PerceivedBits     = tables.PerceivedBits
	PerceivedLogits   = tables.PerceivedLogits
)

// realFraction is the number of binary digits of a level in which real errors are counted. Decoders
// that answer with real numbers have real errors, and so have uneven levels, whose errors are those
// of places.
const realFraction = 16

// Fraction returns Sums.Fraction of the problem: the number of binary digits after the point
// of an error in levels.
func (p *Problem) Fraction() uint8 {
	if decode.Real(p.Decoder) || p.Code.Uneven() {
		return realFraction
	}
	return 0
}

// near is the largest |error| that is counted in Sums.Within: θ, and half a unit of the sums. Real
// labels that are decoded to θ itself differ from it by the rounding of their weights, which is in
// single precision.
func (p *Problem) near() float64 { return float64(p.Within) + math.Ldexp(0.5, -int(p.Fraction())) }

// validateKind checks whether outputs of the kind can be sampled.
func (p *Problem) validateKind() error {
	c := p.Code
	perceived, network := p.Errors.(decode.Network)
	_, joint := p.Errors.(*anylaw.Table)
	switch {
	case joint && (!p.Kind.Hard() || c.Uneven()):
		return fmt.Errorf("decoder %s of %s: a joint law is of bits, and of even levels; want outputs that are bits",
			p.Decoder.Name(), c.Name())
	case p.Kind == IndependentBits && (decode.Real(p.Decoder) || c.Real()):
		return fmt.Errorf("sampling %s with decoder %s needs the model of its logits", c.Name(), p.Decoder.Name())
	case p.Kind == IndependentBits && c.Uneven():
		return fmt.Errorf("%s has uneven levels, whose bits are sampled one by one", c.Name())
	case p.Kind.Perceived() && c.Uneven():
		return fmt.Errorf("%s has uneven levels: the model of a perceived label is for even ones", c.Name())
	case p.Kind == IndependentBits:
		return nil
	case !p.Kind.Hard() && !decode.ReadsLogits(p.Decoder):
		return fmt.Errorf("decoder %s reads bits, not logits", p.Decoder.Name())
	case p.Kind.Perceived() && !network:
		return fmt.Errorf("%T is no table of a perceived label", p.Errors)
	case p.Kind.Perceived():
		if err := validatePerceived(c, perceived); err != nil {
			return err
		}
	}
	if c.Bits() >= 1<<16 {
		return fmt.Errorf("%s has %d bits; logits are sampled for at most %d", c.Name(), c.Bits(), 1<<16-1)
	}
	if c.Real() && c.Bits() > 1<<15 {
		return fmt.Errorf("%s has %d columns; logits of codes of real numbers are sampled for at most %d", c.Name(),
			c.Bits(), 1<<15)
	}
	return nil
}

// validatePerceived checks the model of a perceived label.
func validatePerceived(c *code.Code, l decode.Network) error {
	if c.Real() {
		return fmt.Errorf("%s holds real numbers: the model of a perceived label is for codes of zeros and ones",
			c.Name())
	}
	if n := len(l.ResidualSD()); n != c.Bits() {
		return fmt.Errorf("a network of %d bits for %s, which has %d", n, c.Name(), c.Bits())
	}
	if s := l.Noise(); !(s >= 0) || math.IsInf(s, 0) {
		return fmt.Errorf("label noise s = %v levels: want a finite number, zero or more", s)
	}
	return nil
}

// Rounding returns how far the rounding of logits may move the expectation of |error| of row i
// where their signs decide, in levels: none is wrong by more than all levels. It is 0 for hard
// outputs.
func (p *Problem) Rounding(ctx context.Context, i int) (float64, error) {
	if p.Kind.Hard() {
		return 0, nil
	}
	t, err := p.LogitTables().Row(ctx, i)
	if err != nil {
		return 0, err
	}
	return t.SignRounding() * float64(p.Code.Levels()-1), nil
}

// LogitTables prepares to make what sampling the rows of a problem takes besides random numbers,
// for backends. The problem is valid, and not of IndependentBits.
func (p *Problem) LogitTables() *tables.LogitMaker {
	m := tables.Model{Code: p.Code, Kind: p.Kind, Errors: p.Errors}
	m.Perceived, _ = p.Errors.(decode.Network)
	m.Temperature, m.Correlates = p.correlated()
	if a, ok := scoresOf(p); ok {
		m.Scores = a
	}
	return tables.NewLogitMaker(m)
}
