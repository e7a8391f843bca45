// Package fitdecoder fits decoders to the outputs of a trained network, and keeps them in files.
//
// [Fit] chooses a decoder by cross-validation, and says how large its error is on samples that were
// not used to fit it. Its candidates are the baseline decoders, a temperature for the posterior of
// gen-ex, bits whose probabilities are recalibrated, and a model of the outputs at every level. A
// [Decoder] is what is chosen. All candidates have one form: scores that are affine in the outputs
// and in a curve of them, and a rule that makes a label of the scores. [Decoder.Write] writes it,
// and [Read] reads it back.
package fitdecoder

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/observed"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Decoder is a decoder of M outputs into L levels. Level n has the score
//
//	s_n = b_n + Σ_k W[n,k]·z_k + Σ_k V[n,k]·asinh(z_k/c_k)
//
// with logits z_k, or ±1 for bits, and a rule makes a label of the scores: the logarithms of the
// levels' probabilities, up to a constant. Without a curve, V is zero. The labels of the levels are
// numbers that ascend. A Decoder is immutable and safe for concurrent use.
type Decoder struct {
	affine *decode.Affine // its weights are W, or W and V beside each other
	bits   int
	scale  []float64  // c, of length M; nil without a curve
	wide   *mat.Dense // the weights, transposed: features × L
	logits bool       // it reads logits; else it reads signs
	about  About
}

// About says what a decoder is, and what it was fitted to.
type About struct {
	Kind    string  `json:"kind" doc:"what the decoder is: gen, gen-ex, bel-u, temperature, recalibrated, affine or curved"`
	Rule    string  `json:"rule" doc:"what it makes of the probabilities of the levels: map, median or mean"`
	Reads   string  `json:"reads" doc:"what it reads: bits or logits"`
	Code    string  `json:"code" doc:"code of the network, a name or a file"`
	Levels  int     `json:"levels" doc:"number of levels L"`
	Bits    int     `json:"bits" doc:"number of bits M"`
	Samples int     `json:"samples" doc:"samples that it was fitted to"`
	Error   float64 `json:"error" doc:"mean |label − target| on samples that were not used to fit it, in levels"`
	StdErr  float64 `json:"stderr" doc:"standard error of error"`
}

// ReadsLogits reports whether the decoder reads logits.
func (a About) ReadsLogits() bool { return a.Reads == "logits" }

// Text says for people what the decoder is.
func (a About) Text() string {
	switch a.Kind {
	case KindTemperature:
		return "gen-ex with a fitted temperature (" + a.Rule + ")"
	case KindRecalibrated:
		return "recalibrated bits (" + a.Rule + ")"
	case KindAffine, KindCurved:
		return "a fitted " + a.Kind + " decoder (" + a.Rule + ")"
	}
	return a.Kind + " on " + a.Reads
}

// The kinds of decoders that Fit chooses among, besides the names of decoders of package decode,
// from the simplest to the richest.
const (
	KindTemperature  = "temperature"  // the posterior of gen-ex at a temperature
	KindRecalibrated = "recalibrated" // the same, with an affine map of the logit of every bit
	KindAffine       = "affine"       // outputs of a level are normal; affine in the outputs
	KindCurved       = "curved"       // the same of the outputs' asinh, which bends large ones
)

// newDecoder returns a decoder. weights are W or nil, curved are V or nil; values are the labels of
// the levels, nil for 1 … L. It keeps its arguments.
func newDecoder(rule decode.Rule, weights, curved *mat.Dense, offsets, scale, values []float64, logits bool, about About) (*Decoder, error) {
	if weights == nil || weights.IsEmpty() {
		return nil, errors.New("a decoder needs a matrix of levels × bits")
	}
	levels, bits := weights.Dims()
	all := weights
	if curved != nil {
		if l, m := curved.Dims(); l != levels || m != bits || len(scale) != bits {
			return nil, fmt.Errorf("the curved part of a decoder is %d × %d with %d scales; want %d × %d and %d", l, m, len(scale), levels, bits, bits)
		}
		for k, c := range scale {
			if !(c > 0) || math.IsInf(c, 0) {
				return nil, fmt.Errorf("scale of bit %d is %v; want a positive finite number", k+1, c)
			}
		}
		all = &mat.Dense{}
		all.Augment(weights, curved)
	} else {
		scale = nil
	}
	affine, err := decode.NewAffine(rule, all, offsets, values)
	if err != nil {
		return nil, err
	}
	about.Rule, about.Levels, about.Bits, about.Reads = string(rule), levels, bits, observed.Decoding{Soft: logits}.Outputs()
	return &Decoder{affine: affine, bits: bits, scale: scale, wide: mat.DenseCopyOf(all.T()), logits: logits, about: about}, nil
}

// About returns what the decoder is.
func (d *Decoder) About() About { return d.about }

// Dims returns the numbers of levels L and bits M.
func (d *Decoder) Dims() (levels, bits int) {
	levels, _ = d.affine.Dims()
	return levels, d.bits
}

// Values returns the labels of the levels, of length L; nil stands for 1 … L. It must not be
// changed.
func (d *Decoder) Values() []float64 { return d.affine.Values() }

// WithRange returns the same decoder with the labels of levels evenly from lo to hi.
func (d *Decoder) WithRange(lo, hi float64) (*Decoder, error) {
	levels, _ := d.Dims()
	affine, err := decode.NewAffine(d.affine.Rule(), d.affine.Weights(), d.affine.Offsets(), Spread(levels, lo, hi))
	out := *d
	out.affine = affine
	return &out, err
}

// Spread returns n numbers, evenly from lo to hi.
func Spread(n int, lo, hi float64) []float64 {
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

// Decode implements decode.Decoder: the bits of the word are outputs of ±1.
func (d *Decoder) Decode(word []uint64) int {
	z := make([]float64, d.bits)
	for k := range z {
		z[k] = -1
		if word[k/64]>>(k%64)&1 == 1 {
			z[k] = 1
		}
	}
	return int(math.Round(d.DecodeLogits(z)))
}

// DecodeLogits implements decode.LogitDecoder.
func (d *Decoder) DecodeLogits(z []float64) float64 {
	var label [1]float64
	d.LabelsTo(label[:], z)
	return label[0]
}

// LabelsTo implements observed.BlockDecoder, in O(N·L·M). A label is NaN where a score is no finite
// number.
func (d *Decoder) LabelsTo(dst, z []float64) {
	levels, width := d.affine.Dims()
	row, features := make([]float64, levels), make([]float64, width)
	values := d.affine.Values()
	for i := range dst {
		sample := z[i*d.bits : (i+1)*d.bits]
		copy(features, sample)
		bend(features[d.bits:], sample, d.scale)
		copy(row, d.affine.Offsets())
		for k, f := range features {
			axpy(row, f, d.wide.RawRowView(k))
		}
		if slices.ContainsFunc(row, func(s float64) bool { return math.IsNaN(s) || math.IsInf(s, 0) }) {
			dst[i] = math.NaN()
			continue
		}
		switch rule := d.affine.Rule(); rule {
		case decode.MAP:
			dst[i] = rule.Label(row, values)
		case decode.Mean:
			_, dst[i] = posteriorLabels(row, values)
		default:
			median, _ := posteriorLabels(row, values)
			dst[i] = float64(median + 1)
			if values != nil {
				dst[i] = values[median]
			}
		}
	}
}

// asinh is math.Asinh in less time, with an error of some 10⁻¹⁶. It is ln(a + √(a²+1)) with the sign
// of its argument, and the logarithm of (1+f)/(1−f), a number between √½ and √2 times a
// power of 2, is the series of 2·atanh f.
func asinh(x float64) float64 {
	a := math.Abs(x)
	if a > 1e8 { // its square may be no number
		return math.Copysign(math.Log(a)+math.Ln2, x)
	}
	bits := math.Float64bits(a + math.Sqrt(a*a+1))
	exponent := float64(int64(bits>>52) - 1023)
	m := math.Float64frombits(bits&(1<<52-1) | 1023<<52)
	if m > math.Sqrt2 {
		m, exponent = m/2, exponent+1
	}
	f := (m - 1) / (m + 1) // at most 0.1716
	q := f * f
	series := 1 + q*(1./3+q*(1./5+q*(1./7+q*(1./9+q*(1./11+q*(1./13+q*(1./15+q*(1./17+q*(1./19)))))))))
	return math.Copysign(exponent*math.Ln2+2*f*series, x)
}

// codeWeights are the code words as weights, L × M, times a factor.
func codeWeights(c *code.Code, factor float64) *mat.Dense {
	levels, m := c.Dims()
	w := mat.NewDense(levels, m, nil)
	w.Apply(func(i, k int, _ float64) float64 { return factor * c.Value(i, k) }, w)
	return w
}
