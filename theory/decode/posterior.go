package decode

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/matrix"
	"belsim/theory/base/memory"
	"belsim/theory/base/position"
	"belsim/theory/code"
)

// Model is what a decoder can know of the classifiers of a code of L levels and M bits.
type Model struct {
	Prior  []float64 // the probability of each label, length L, up to a factor; nil: all alike
	Logits bool      // the decoder reads logits, else bits
	// Rule makes the label of the posterior: "" stands for Median.
	Rule Rule
	// Cost is what an answer costs where the label is level n, from 1, for the rule Least.
	Cost func(n int, answer float64) float64
	// Errors has the error probabilities e[n,k], L × M, of bits that err independently. Their
	// logits are normal as MeanLogit has them.
	Errors mat.Matrix
	// Seen is W, L × L: the bits of label n are read at level ξ with the probability W[n,ξ], and
	// Errors are given ξ; nil where every label sends its own bits.
	Seen *mat.Dense
}

// Informed is a decoder that depends on the error model of the classifiers. A Registry gives it a model that suits all
// codes: bits that err with the probability 10⁻³ each.
type Informed interface {
	Decoder
	// Inform returns the same decoder for another model. The error says what is wrong with the
	// model.
	Inform(m Model) (Decoder, error)
}

// Posterior decodes by the posterior of the level given the outputs, the model of the classifiers
// and the prior of the labels:
//
//	P(n | outputs) ∝ π_n · P(outputs | n).
//
// The label is that of a Rule, by default the median, which has the smallest mean |error| of all decoders that read the
// same outputs of these classifiers; on a circle, the smallest mean distance along it. It is immutable and safe for
// concurrent use.
//
// Where bits err independently, the logarithms of the probabilities are affine in the outputs (see
// Affine). Levels at which an output is impossible, because e is 0 or 1, are left out. Where it is
// impossible at every level, the levels with the fewest impossible bits remain, and the other bits
// decide among them. The decoder of bits reads the signs of logits.
type Posterior struct {
	code   *code.Code
	model  Model
	affine *Affine
	sure   *sure     // bits that are certain; nil where there are none
	prior  []float64 // logarithms, where the bits of a label may be those of another level
}

// Best is the name of a Posterior, whose rule suits the cost of answers.
const Best = "best"

// expected is a Posterior that answers with the mean, a real number.
type expected struct{ *Posterior }

var (
	_ Informed    = (*Posterior)(nil)
	_ RealDecoder = expected{}
)

// bestEntry is the entry of a Posterior.
var bestEntry = Entry{
	Name: Best, Logits: true, Informed: true,
	New: func(c *code.Code, _ Options) (Decoder, error) { return NewPosterior(c, Model{}) },
}

// usualError is the error probability of every bit where nothing is known.
const usualError = 1e-3

// NewPosterior returns the decoder of a code. Where the model has no Errors, every bit errs with the
// probability 10⁻³. The error says what does not fit, or is no probability;
// it is a *memory.Error where L × M numbers do not fit in memory.
func NewPosterior(c *code.Code, m Model) (*Posterior, error) {
	if c.Real() {
		return nil, fmt.Errorf("%w: %s knows the bits of codes, and %s holds real numbers", ErrUnfit, Best, c.Name())
	}
	if err := memory.Check(fmt.Sprintf("the decoder %s of %s", Best, c.Name()),
		memory.Product(c.Levels(), c.Bits(), 8)); err != nil {
		return nil, err
	}
	prior, err := logPrior(m.Prior, c.Levels())
	if err != nil {
		return nil, err
	}
	if m.Rule == "" {
		m.Rule = Median
	}
	p := &Posterior{code: c, model: m}
	if m.Seen != nil {
		p.prior, prior = prior, make([]float64, c.Levels())
	}
	read := p.readBits
	if m.Logits {
		read = p.readLogits
	}
	if err := read(prior); err != nil {
		return nil, err
	}
	return p, nil
}

// logPrior returns the logarithms of the probabilities of the labels.
func logPrior(prior []float64, levels int) ([]float64, error) {
	out := make([]float64, levels)
	if prior == nil {
		return out, nil
	}
	if len(prior) != levels {
		return nil, fmt.Errorf("prior of %d labels for a code of %d levels", len(prior), levels)
	}
	total := 0.0
	for i, p := range prior {
		if !(p >= 0) || math.IsInf(p, 0) {
			return nil, fmt.Errorf("prior of level %s is %v; want a number of 0 or more", position.At(i+1), p)
		}
		total += p
		out[i] = math.Log(p)
	}
	if !(total > 0) {
		return nil, fmt.Errorf("prior adds up to %v; want a positive number", total)
	}
	return out, nil
}

// errors calls f with each error probability, row by row.
func (p *Posterior) errors(f func(i, k int, e float64)) error {
	e, c := p.model.Errors, p.code
	row := slices.Repeat([]float64{usualError}, c.Bits())
	var err error
	for i := range c.Levels() {
		if e != nil {
			if err = c.CheckTable(e); err == nil {
				row, err = matrix.Probabilities(row, i, e)
			}
		}
		if err != nil {
			return err
		}
		for k, v := range row {
			f(i, k, v)
		}
	}
	return nil
}

// readLogits makes the scores of logits Z_k ~ N(m[n,k], 1), m[n,k] = ±MeanLogit(e[n,k]) with the
// sign of the bit: Σ_k m[n,k]·z_k − m[n,k]²/2.
func (p *Posterior) readLogits(offsets []float64) error {
	weights := mat.NewDense(p.code.Levels(), p.code.Bits(), nil)
	err := p.errors(func(i, k int, e float64) {
		m := MeanLogit(e)
		offsets[i] -= m * m / 2
		if !p.code.Bit(i, k) {
			m = -m
		}
		weights.Set(i, k, m)
	})
	p.affine = &Affine{p.model.Rule, weights, offsets}
	return err
}

// readBits makes the scores of bits z_k = ±1: half of the logarithm of P(z_k = 1)/P(z_k = −1)
// times z_k, and half of the logarithm of their product. Certain bits have no part in them.
func (p *Posterior) readBits(offsets []float64) error {
	c := p.code
	weights := mat.NewDense(c.Levels(), c.Bits(), nil)
	err := p.errors(func(i, k int, e float64) {
		if e == 0 || e == 1 {
			if p.sure == nil {
				p.sure = newSure(c)
			}
			p.sure.set(i, k, c.Bit(i, k) == (e == 0))
			return
		}
		right, wrong := math.Log1p(-e), math.Log(e)
		offsets[i] += (right + wrong) / 2
		w := (right - wrong) / 2
		if !c.Bit(i, k) {
			w = -w
		}
		weights.Set(i, k, w)
	})
	p.affine = &Affine{p.model.Rule, weights, offsets}
	return err
}

// sure are the bits that are certain at each level.
type sure struct {
	words int
	mask  []uint64 // by level and word: the certain bits
	value []uint64 // what they are
}

func newSure(c *code.Code) *sure {
	words := (c.Bits() + 63) / 64
	return &sure{words, make([]uint64, words*c.Levels()), make([]uint64, words*c.Levels())}
}

func (s *sure) set(i, k int, one bool) {
	at, bit := i*s.words+k/64, uint64(1)<<(k%64)
	s.mask[at] |= bit
	if one {
		s.value[at] |= bit
	}
}

// impossible is the number of bits of a word that level i+1 cannot give.
func (s *sure) impossible(i int, word []uint64) int {
	n := 0
	for j, w := range word[:s.words] {
		at := i*s.words + j
		n += bits.OnesCount64((w ^ s.value[at]) & s.mask[at])
	}
	return n
}

// leave sets the scores of all levels to −Inf but of those with the fewest impossible bits.
func (s *sure) leave(scores []float64, word []uint64) {
	least := math.MaxInt
	counts := make([]int, len(scores))
	for i := range scores {
		counts[i] = s.impossible(i, word)
		if !math.IsInf(scores[i], -1) {
			least = min(least, counts[i])
		}
	}
	for i, n := range counts {
		if n > least {
			scores[i] = math.Inf(-1)
		}
	}
}

// Name implements Decoder.
func (p *Posterior) Name() string { return Best }

// Circular reports whether the levels are on a circle.
func (p *Posterior) Circular() bool { return p.code.Circular() }

// Inform implements Informed. With the rule Mean the decoder is a RealDecoder.
func (p *Posterior) Inform(m Model) (Decoder, error) {
	out, err := NewPosterior(p.code, m)
	if err == nil && m.Rule == Mean {
		return expected{out}, nil
	}
	return out, err
}

// Value implements RealDecoder.
func (d expected) Value(word []uint64) float64 { return d.label(signs(word, d.code.Bits()), word) }

// Scores returns the decoder as scores of the levels that are affine in the outputs. ok is false
// where it is more than that, because bits are certain.
func (p *Posterior) Scores() (a *Affine, ok bool) { return p.affine, p.sure == nil && p.prior == nil }

// label decodes M outputs; word has their signs, or is nil.
func (p *Posterior) label(z []float64, word []uint64) float64 {
	scores := make([]float64, len(p.affine.Offsets))
	p.affine.ScoresTo(scores, z)
	if p.sure != nil {
		p.sure.leave(scores, word)
	}
	if p.prior != nil {
		scores = p.mixed(scores)
	}
	if p.model.Rule == Least {
		return leastCost(scores, p.model.Cost)
	}
	var values []float64 // of levels: 1 … L
	if p.model.Rule == Mean {
		values = p.code.Places()
	}
	return p.model.Rule.Label(scores, values, p.code.Circle())
}

// leastCost is the level of the smallest mean cost, the first of equal ones.
func leastCost(scores []float64, cost func(n int, answer float64) float64) float64 {
	total := Weigh(scores)
	at, least := 1, math.Inf(1)
	for m := 1; m <= len(scores); m++ {
		sum := 0.0
		for i, w := range scores {
			if w > 0 {
				sum += w * cost(i+1, float64(m))
			}
		}
		if sum < least-equalScores*total {
			at, least = m, sum
		}
	}
	return float64(at)
}

// mixed are the scores of the labels, ln π_n + ln Σ_ξ W[n,ξ]·exp(score of ξ).
func (p *Posterior) mixed(scores []float64) []float64 {
	out, most := make([]float64, len(scores)), slices.Max(scores)
	for n := range out {
		sum := 0.0
		for x, w := range p.model.Seen.RawRowView(n) {
			if w > 0 {
				sum += w * math.Exp(scores[x]-most)
			}
		}
		out[n] = p.prior[n] + math.Log(sum)
	}
	return out
}

// Decode implements Decoder, in O(L·M).
func (p *Posterior) Decode(word []uint64) int {
	return round(p.label(signs(word, p.code.Bits()), word))
}

// DecodeLogits implements LogitDecoder, in O(L·M).
func (p *Posterior) DecodeLogits(z []float64) float64 {
	if p.model.Logits {
		return p.label(z, nil)
	}
	word := make([]uint64, (len(z)+63)/64)
	for k, v := range z {
		if v > 0 {
			word[k/64] |= 1 << (k % 64)
		}
	}
	return p.label(signs(word, len(z)), word)
}
