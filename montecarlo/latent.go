package montecarlo

import (
	"fmt"
	"math"

	"belsim/montecarlo/tables"
	"belsim/theory/decode"
)

// Latent is the model of logits that has exactly the error probabilities of a problem. Logits are
// independent. Logit k is
//
//	Z_k = s_k·Φ⁻¹(1 − e[n,k]) + ε_k,  ε_k ~ N(0, 1),
//
// with s_k = ±1 the true bit and e clamped to [1e−12, 1 − 1e−12]. Only gen-ex has a
// temperature that multiplies logits; other decoders do not use it.
type Latent struct {
	// Hard makes the outputs the signs of the logits. Bits with e ≤ 1e−12 never
	// err then.
	Hard bool
	// Continuous, when set, makes labels real. The labels of level n are uniform on [n−½,n+½],
	// and the bits err with the probabilities at the label itself. The labels are the middles
	// of Strata equal parts of the level.
	Continuous Profile
	// Perceived, when set, makes the bits those of a network that knows one number, the
	// perceived label ŷ = y + s·ξ of a label y, ξ ~ N(0, 1). Given ŷ the bits err
	// independently. Where Hard is set, their probabilities are WrongTo; else the logits are
	//
	//	Z_k = f_k(ŷ) + sd_k·ε_k,  ε_k ~ N(0, 1).
	//
	// ξ takes the means of Strata equally probable parts of its law (tables.PerceivedLabel).
	// Only whether Continuous is set matters then, not its probabilities.
	Perceived decode.Network
}

// Profile gives error probabilities for real labels.
type Profile interface {
	// AtLabel sets dst, of length M, to the probabilities at a label y in
	// [½, L+½], levels.
	AtLabel(dst []float64, y float64)
}

// realFraction is the number of binary digits of a level in which real errors are counted.
// Decoders that answer with real numbers have real errors, and all decoders have them when
// labels are continuous.
const realFraction = 16

// Fraction returns Sums.Fraction of the problem: the number of binary digits after the point
// of an error in levels.
func (p *Problem) Fraction() uint8 {
	if decode.Real(p.Decoder) || p.Latent != nil && p.Latent.Continuous != nil {
		return realFraction
	}
	return 0
}

func (p *Problem) validateLatent() error {
	l := p.Latent
	if l == nil {
		if decode.Real(p.Decoder) || p.Code.Real() {
			return fmt.Errorf("sampling %s with decoder %s needs the model of its logits", p.Code.Name(), p.Decoder.Name())
		}
		return nil
	}
	if !l.Hard && !decode.ReadsLogits(p.Decoder) {
		return fmt.Errorf("decoder %s reads bits, not logits", p.Decoder.Name())
	}
	if err := p.validatePerceived(); err != nil {
		return err
	}
	if p.Code.Bits() >= 1<<16 {
		return fmt.Errorf("%s has %d bits; logits are sampled for at most %d", p.Code.Name(), p.Code.Bits(), 1<<16-1)
	}
	if p.Code.Real() && p.Code.Bits() > 1<<15 {
		return fmt.Errorf("%s has %d columns; logits of codes of real numbers are sampled for at most %d", p.Code.Name(), p.Code.Bits(), 1<<15)
	}
	return nil
}

// validatePerceived checks the model of a perceived label, where there is one.
func (p *Problem) validatePerceived() error {
	l := p.Latent
	if l.Perceived == nil {
		return nil
	}
	if p.Code.Real() {
		return fmt.Errorf("%s holds real numbers: the model of a perceived label is for codes of zeros and ones", p.Code.Name())
	}
	if n := len(l.Perceived.ResidualSD()); n != p.Code.Bits() {
		return fmt.Errorf("a network of %d bits for %s, which has %d", n, p.Code.Name(), p.Code.Bits())
	}
	if s := l.Perceived.Noise(); !(s >= 0) || math.IsInf(s, 0) {
		return fmt.Errorf("label noise s = %v levels: want a finite number, zero or more", s)
	}
	return nil
}

// LogitTables prepares to make what sampling the rows of a problem with logits takes
// besides random numbers, for backends.
func (p *Problem) LogitTables() *tables.LogitMaker {
	m := tables.Model{Code: p.Code, Errors: p.Errors, Hard: p.Latent.Hard, Continuous: p.Latent.Continuous, Perceived: p.Latent.Perceived}
	m.Temperature, m.Correlates = correlated(p.Decoder)
	if a, ok := scoresOf(p); ok {
		m.Scores = &tables.Scores{Weights: a.Weights(), Offsets: a.Offsets(), Light: lightScore(a.Rule(), p.Code.Levels())}
	}
	return tables.NewLogitMaker(m)
}
