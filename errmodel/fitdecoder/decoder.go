// Package fitdecoder fits decoders to the outputs of a trained network, and keeps them in files.
//
// [Fit] chooses a decoder by cross-validation, and says how large its error is on samples that were
// not used to fit it. Its candidates are the baseline decoders, a temperature for the posterior of
// gen-ex, and a model of the outputs at every level. A
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
	rule    decode.Rule
	weights *mat.Dense // W, L × M
	curved  *mat.Dense // V, L × M; zero without a curve
	scale   []float64  // c, of length M; one without a curve
	offsets []float64  // b, of length L
	values  []float64  // the labels of the levels, of length L
	logits  bool       // it reads logits; else it reads signs
	about   About

	features *mat.Dense // W, and V where there is a curve, beside each other and transposed: M or 2M × L
}

// About says what a decoder is, and what it was fitted to.
type About struct {
	Kind    string  `json:"kind" doc:"what the decoder is: gen, gen-ex, bel-u, temperature or curved"`
	Rule    string  `json:"rule" doc:"what it makes of the probabilities of the levels: map, median or mean"`
	Reads   string  `json:"reads" doc:"what it reads: bits or logits"`
	Code    string  `json:"code" doc:"code of the network, a name or a file"`
	Levels  int     `json:"levels" doc:"number of levels L"`
	Bits    int     `json:"bits" doc:"number of bits M"`
	Samples int     `json:"samples" doc:"samples that it was fitted to"`
	Error   float64 `json:"error" doc:"mean |label − target| on samples that were not used to fit it, in levels"`
	StdErr  float64 `json:"stderr" doc:"standard error of error"`
	Unit    string  `json:"unit" doc:"of what it returns: levels, from 1, or labels"`
}

// Text says for people what the decoder is.
func (a About) Text() string {
	switch a.Kind {
	case KindTemperature:
		return "gen-ex with a fitted temperature (" + a.Rule + ")"
	case KindCurved:
		return "a fitted " + a.Kind + " decoder (" + a.Rule + ")"
	}
	return a.Kind + " on " + a.Reads
}

// The kinds of decoders that Fit chooses among, besides the names of decoders of package decode,
// from the simplest to the richest.
const (
	KindTemperature = "temperature" // the posterior of gen-ex at a temperature
	KindCurved      = "curved"      // the outputs' asinh, which bends large ones, is normal at a level
)

// complete checks a decoder whose arrays are set, of the sizes that the weights say, and fills in what
// follows from them. Without scales it has no curve, and without values its labels are 1 … L.
func (d *Decoder) complete() error {
	if err := d.rule.Check(); err != nil {
		return err
	}
	levels, bits := d.weights.Dims()
	if d.scale == nil {
		d.curved, d.scale = mat.NewDense(levels, bits, nil), slices.Repeat([]float64{1}, bits)
	}
	if d.values == nil {
		d.values = Spread(levels, 1, float64(levels))
	}
	if l, m := d.curved.Dims(); l != levels || m != bits {
		return fmt.Errorf("the curved part of a decoder is %d × %d; want %d × %d", l, m, levels, bits)
	}
	for _, numbers := range [][]float64{d.weights.RawMatrix().Data, d.curved.RawMatrix().Data, d.offsets} {
		if slices.ContainsFunc(numbers, notFinite) {
			return errors.New("a decoder has a weight that is not finite")
		}
	}
	for k, c := range d.scale {
		if !(c > 0) || notFinite(c) {
			return fmt.Errorf("scale of bit %d is %v; want a positive finite number", k+1, c)
		}
	}
	for i, v := range d.values {
		if notFinite(v) || i > 0 && v <= d.values[i-1] {
			return fmt.Errorf("label of level %d is %v; want finite numbers that ascend", i+1, v)
		}
	}
	all := d.weights
	if mat.Max(d.curved) != 0 || mat.Min(d.curved) != 0 {
		all = &mat.Dense{}
		all.Augment(d.weights, d.curved)
	}
	d.features = mat.DenseCopyOf(all.T())
	d.about.Rule, d.about.Levels, d.about.Bits, d.about.Reads = string(d.rule), levels, bits, observed.Decoding{Soft: d.logits}.Outputs()
	return nil
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// About returns what the decoder is.
func (d *Decoder) About() About { return d.about }

// Dims returns the numbers of levels L and bits M.
func (d *Decoder) Dims() (levels, bits int) { return d.weights.Dims() }

// WithRange returns the same decoder with the labels of levels evenly from lo to hi.
func (d *Decoder) WithRange(lo, hi float64) (*Decoder, error) {
	out := *d
	out.values = Spread(len(d.offsets), lo, hi)
	return &out, out.complete()
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
	z := make([]float64, len(d.scale))
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
	width, levels := d.features.Dims()
	row, features, bits := make([]float64, levels), make([]float64, width), len(d.scale)
	for i := range dst {
		sample := z[i*bits : (i+1)*bits]
		if copy(features, sample); width > bits {
			bend(features[bits:], sample, d.scale)
		}
		copy(row, d.offsets)
		for k, f := range features {
			axpy(row, f, d.features.RawRowView(k))
		}
		if slices.ContainsFunc(row, notFinite) {
			dst[i] = math.NaN()
			continue
		}
		switch d.rule {
		case decode.MAP:
			dst[i] = d.rule.Label(row, d.values)
		case decode.Mean:
			_, dst[i] = posteriorLabels(row, d.values)
		default:
			median, _ := posteriorLabels(row, d.values)
			dst[i] = d.values[median]
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
