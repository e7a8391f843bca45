// Package fitdecoder fits decoders to the outputs of a trained network, and keeps them in files. Their
// intervals are those of cross-conformal prediction (Vovk, Ann. Math. Artif. Intell. 74, 2015).
//
// [Fit] chooses a decoder by cross-validation, and says how large its error is on samples that were
// not used to fit it. Its candidates are the baseline decoders, a temperature for the posterior of
// gen-ex, and a model of the outputs at every level. A
// [Decoder] is what is chosen. All candidates have one form: scores that are affine in the outputs,
// and a rule that makes a label of the scores. [Decoder.Write] writes it, and [Read] reads it back.
package fitdecoder

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/observed"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Decoder is a decoder of M outputs into L levels: scores that are affine in the outputs, logits or
// ±1 for bits, and a rule that makes a label of them. The scores are the logarithms of the levels'
// probabilities, up to a constant. The labels of the levels are numbers that ascend. A Decoder is
// immutable and safe for concurrent use.
type Decoder struct {
	scores *decode.Affine
	values []float64    // the labels of the levels, of length L
	within []float64    // the variances of labels within them
	logits bool         // it reads logits; else it reads signs
	circle *code.Circle // of the levels, whose labels are even; nil on a line
	about  About

	calibration
	sorted bool // sigma is that of the sorted sigmoids, not of the scores
}

var _ decode.RealDecoder = (*Decoder)(nil)

// About says what a decoder is, and what it was fitted to.
type About struct {
	// what the decoder is: gen, gen-ex, bel-u, offset, offset-slope, temperature or affine
	Kind  string `json:"kind"`
	Rule  string `json:"rule"`
	Reads string `json:"reads"`
	// code of the network, a name or a file
	Code   string `json:"code"`
	Levels int    `json:"levels"`
	Bits   int    `json:"bits"`
	// samples that it was fitted to
	Samples int `json:"samples"`
	// mean |label − target| on samples that were not used to fit it, in unit
	Error  float64 `json:"error"`
	StdErr float64 `json:"stderr"`
	// the labels of the levels are offset + slope times those of the range, all in levels; missing where the
	// kind has none
	Offset float64 `json:"offset,omitempty"`
	Slope  float64 `json:"slope,omitempty"`
	// probabilities of the levels are those of the scores times Power: dependent bits make the scores themselves
	// too sure. Files that have none stand for 1
	Power float64 `json:"power,omitempty"`
	// of what it returns: levels, from 1, or labels
	Unit string `json:"unit"`
	// level 1 follows level L: labels are from that of level 1 to below one level above that of level L
	Circular bool `json:"circular,omitempty"`
}

// Text says for people what the decoder is.
func (a About) Text() string {
	switch a.Kind {
	case KindOffset, KindLine:
		return fmt.Sprintf("a plain decoder with a fitted %s (%s of %s)", strings.Replace(a.Kind, "-", " and ", 1), a.Rule,
			a.Reads)
	case KindTemperature:
		return "gen-ex with a fitted temperature (" + a.Rule + ")"
	case KindAffine:
		return "a fitted affine decoder (" + a.Rule + ")"
	}
	return a.Kind + " on " + a.Reads
}

// The kinds of decoders that Fit chooses among, besides the names of decoders of package decode,
// from the simplest to the richest.
const (
	KindOffset      = "offset"       // a baseline decoder, and a number that is added to its labels
	KindLine        = "offset-slope" // the same, once they are multiplied by another one
	KindTemperature = "temperature"  // the posterior of gen-ex at a temperature
	KindAffine      = "affine"       // the outputs of a level are normal
)

// complete checks a decoder whose arrays are set, of the sizes that the weights say, and fills in
// what follows from them.
func (d *Decoder) complete() error {
	levels, bits := d.Dims()
	d.about.Power = cmp.Or(d.about.Power, 1)
	if slices.ContainsFunc(d.scores.Weights.RawMatrix().Data, notFinite) || slices.ContainsFunc(d.scores.Offsets,
		notFinite) {
		return errors.New("a decoder has a weight that is not finite")
	}
	if err := code.Values(d.values).Check(levels); err != nil {
		return fmt.Errorf("labels of the levels: %w", err)
	}
	d.within = variancesWithin(d.values)
	if d.circle = nil; d.about.Circular {
		if d.circle = code.NewCircle(levels); !code.Values(d.values).Even() {
			return errors.New("labels of levels on a circle are not evenly spaced")
		}
	}
	d.about.Rule, d.about.Levels, d.about.Bits = string(d.scores.Rule), levels, bits
	d.about.Reads = observed.Decoding{Soft: d.logits}.Outputs()
	return nil
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// About returns what the decoder is.
func (d *Decoder) About() About { return d.about }

// ReadsDistributions reports whether outputs may be a distribution over the levels: of one-hot words,
// or of a code in a file, which is not known here.
func (d *Decoder) ReadsDistributions() bool {
	levels, bits := d.Dims()
	_, named := code.Lookup(d.about.Code)
	return levels == bits && (!named || d.about.Code == "onehot")
}

// Dims returns the numbers of levels L and bits M.
func (d *Decoder) Dims() (levels, bits int) { return d.scores.Weights.Dims() }

// WithValues returns the same decoder with other labels of the levels.
func (d *Decoder) WithValues(values []float64) (*Decoder, error) {
	out := *d
	out.values = d.about.corrected(values)
	return &out, out.complete()
}

// corrected are the labels that the levels have, of those of the range.
func (a About) corrected(values []float64) []float64 {
	if a.Slope == 0 {
		return values
	}
	out, last := slices.Clone(values), len(values)-1
	width := (values[last] - values[0]) / float64(last)
	for i, v := range out {
		out[i] = values[0] + (a.Offset+a.Slope*(1+(v-values[0])/width)-1)*width
	}
	return out
}

// Evenly returns n numbers, evenly from lo to hi.
func Evenly(n int, lo, hi float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = lo + float64(i)*(hi-lo)/float64(n-1)
	}
	return out
}

// Decoding returns the decoder for outputs of a kind. The error says that it cannot read
// them.
func (d *Decoder) Decoding(k observed.Kind) (observed.Decoding, error) {
	if d.logits && k.Hard() {
		return observed.Decoding{}, fmt.Errorf("the decoder reads logits or probabilities, and these outputs are %s", k)
	}
	return observed.Decoding{Decoder: d, Soft: d.logits}, nil
}

// Name implements decode.Decoder: the kind.
func (d *Decoder) Name() string { return d.about.Kind }

// Value implements decode.RealDecoder: the bits of the word are outputs of ±1.
func (d *Decoder) Value(word []uint64) float64 { return d.DecodeLogits(d.signs(word)) }

// signs are the outputs that stand for a word.
func (d *Decoder) signs(word []uint64) []float64 {
	_, bits := d.Dims()
	z := make([]float64, bits)
	for k := range z {
		z[k] = -1
		if word[k/64]>>(k%64)&1 == 1 {
			z[k] = 1
		}
	}
	return z
}

// Decode implements decode.Decoder.
func (d *Decoder) Decode(word []uint64) int { return int(math.Round(d.Value(word))) }

// DecodeLogits implements decode.LogitDecoder, in O(L·M). A label is NaN where a score is no finite
// number.
func (d *Decoder) DecodeLogits(z []float64) float64 {
	scores := make([]float64, len(d.values))
	d.scores.ScoresTo(scores, z)
	if slices.ContainsFunc(scores, notFinite) {
		return math.NaN()
	}
	return d.scores.Rule.Label(scores, d.values, d.circle)
}

// ProbabilitiesTo sets p, of length L, to the probabilities of the levels of a sample: 0 or more, of
// which the sum is 1, or NaN where a score is no finite number.
func (d *Decoder) ProbabilitiesTo(p []float64, s *observed.Sample) {
	d.scores.ScoresTo(p, s.Outputs(d.logits))
	floats.Scale(d.about.Power, p)
	decode.Softmax(p)
}

// Label is the label of a row, from 0.
func (d *Decoder) Label(row int) float64 { return d.values[row] }

// codeWeights are the code words as weights, L × M, times a factor.
func codeWeights(c *code.Code, factor float64) *mat.Dense {
	levels, m := c.Dims()
	w := mat.NewDense(levels, m, nil)
	w.Apply(func(i, k int, _ float64) float64 { return factor * c.Value(i, k) }, w)
	return w
}
