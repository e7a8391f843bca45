package montecarlo

import (
	"fmt"

	"belsim/montecarlo/tables"
	"belsim/theory/decode"
)

// Kind says what the outputs of the classifiers are, and so how they are sampled.
//
// Independent bits err with the probabilities Problem.Errors. Sampling the few that err is fast.
// Dense bits have the same law, and are sampled one by one, many samples at once (tables.Flips): a
// bit with e ≤ 1e−12 never errs. Backends sample independent bits so where they err often, and for
// decoders that answer with real numbers. A logit is
//
//	Z_k = s_k·Φ⁻¹(1 − e[n,k]) + ε_k,  ε_k ~ N(0, 1),
//
// with s_k = ±1 the true bit and e clamped to [1e−12, 1 − 1e−12]. Only gen-ex has a temperature
// that multiplies logits.
type Kind uint8

// The kinds of outputs.
const (
	IndependentBits Kind = iota
	DenseBits
	IndependentLogits
)

// Hard reports whether outputs are bits.
func (k Kind) Hard() bool { return k != IndependentLogits }

// sampled is the kind by which a problem is sampled.
func (p *Problem) sampled() Kind {
	if p.Kind == IndependentBits && (decode.Real(p.Decoder) || p.errsOften()) {
		return DenseBits
	}
	return p.Kind
}

// realFraction is the number of binary digits of a level in which real errors are counted. Decoders
// that answer with real numbers have real errors.
const realFraction = 16

// Fraction returns Sums.Fraction of the problem: the number of binary digits after the point
// of an error in levels.
func (p *Problem) Fraction() uint8 {
	if decode.Real(p.Decoder) {
		return realFraction
	}
	return 0
}

// mostBits is the largest number of bits that are sampled one by one, or as logits.
const mostBits = 1<<16 - 1

// validateKind checks whether outputs of the kind can be sampled.
func (p *Problem) validateKind() error {
	switch c := p.Code; {
	case c.Real() || c.Uneven():
		return fmt.Errorf("%s is not sampled: want a code of zeros and ones, of even levels", c.Name())
	case p.Kind == IndependentLogits && !decode.ReadsLogits(p.Decoder):
		return fmt.Errorf("decoder %s reads bits, not logits", p.Decoder.Name())
	case c.Bits() > mostBits && (p.Kind != IndependentBits || decode.Real(p.Decoder)):
		return fmt.Errorf("%s has %d bits; logits are sampled for at most %d", c.Name(), c.Bits(), mostBits)
	}
	return nil
}

// LogitTables prepares to make what sampling the rows of a problem takes besides random numbers,
// for backends. The problem is valid, and sampled by logits, or by dense bits.
func (p *Problem) LogitTables() *tables.LogitMaker {
	m := tables.Model{Code: p.Code, Hard: p.Kind.Hard(), Errors: p.Errors}
	m.Temperature, m.Correlates = p.correlated()
	if a, ok := scoresOf(p); ok {
		m.Scores = a
	}
	return tables.NewLogitMaker(m)
}

// Answer is the level whose samples Sums.Answers[i] counts. Real answers count at the nearest level.
func (p *Problem) Answer(i int) float64 {
	lo, _ := decode.Range(p.Code, p.Decoder)
	return float64(lo + i)
}

// answers is the number of different answers in Sums.Answers.
func (p *Problem) answers() int {
	lo, hi := decode.Range(p.Code, p.Decoder)
	return hi - lo + 1
}

// Counts reports whether samples tell more than the absolute error.
func (p *Problem) Counts() bool { return p.Answers || !p.Cost.Absolute() }

// counted reports whether answers are counted. The costs of levels follow from their counts, and those
// of real answers are added up instead.
func (p *Problem) counted() bool { return p.Answers || p.Counts() && !p.adds() }

// adds reports whether the costs of real answers are added up.
func (p *Problem) adds() bool { return !p.Cost.Absolute() && decode.Real(p.Decoder) }
