package decode

import (
	"math"

	"belsim/theory/code"
)

// Distribution makes probabilities of the L levels from the logits of a code. They are 0 or more, and
// add up to 1. There are two:
//
//   - the posterior of gen-ex, P(n) ∝ exp(τ·Σ_k z_k·C[n,k]): a softmax over the levels, and for bits
//     that were trained one by one their product, given that they are a code word;
//   - of unary bits that were trained one by one, 1/(1+exp(−z_k)) = P(label > k): the differences of
//     these, once isotonic has made them descend.
type Distribution struct {
	genEx      GenEx
	cumulative bool
}

// NewDistribution returns the distribution whose mean a decoder of a code answers with: gen-ex, or
// bel-u, which knows the probabilities of its bits. ok is false for other decoders.
func NewDistribution(c *code.Code, by Decoder) (d Distribution, ok bool) {
	switch by := by.(type) {
	case GenEx:
		return Distribution{genEx: by}, true
	case cumulative:
		return Distribution{cumulative: true}, true
	case BelU:
		return Distribution{cumulative: by.bits == c.Levels()-1}, by.bits == c.Levels()-1
	}
	return Distribution{}, false
}

// Decoder is the name of the decoder whose distribution it is.
func (d Distribution) Decoder() string {
	if d.cumulative {
		return BelU{}.Name()
	}
	return GenEx{}.Name()
}

// To sets p, of length L, to the probabilities of M logits, whose weights by gen-ex and their total
// are asked for where they are needed: see GenEx.Weigh.
func (d Distribution) To(p, z []float64, weigh func(by GenEx) (weights []float64, total float64)) {
	if d.cumulative {
		above := p[:len(z)]
		for k, v := range z {
			above[k] = Sigmoid(v)
		}
		isotonic(above)
		before := 1.0
		for k, v := range above {
			p[k], before = before-v, v
		}
		p[len(z)] = before
		return
	}
	weights, total := weigh(d.genEx)
	for i, w := range weights {
		p[i] = w / total
	}
}

// cumulative is gen-ex of a head of the unary code whose logits are those of P(label > k): the mean
// of the levels, whose probabilities are the differences of these. τ multiplies the logits.
type cumulative struct{ genEx GenEx }

var _ LogitDecoder = cumulative{}

// CumulativeEntry is the entry of gen-ex for a head of the unary code whose outputs are P(label >
// k), as those of CORN.
func CumulativeEntry() Entry {
	return Entry{Name: GenEx{}.Name(), Logits: true, New: func(c *code.Code, o Options) (Decoder, error) {
		d, err := NewGenEx(c, o.Temperature)
		return cumulative{d}, err
	}}
}

// Name implements Decoder.
func (d cumulative) Name() string { return d.genEx.Name() }

// Decode implements Decoder: Value, rounded.
func (d cumulative) Decode(word []uint64) int { return round(d.Value(word)) }

// Value implements RealDecoder.
func (d cumulative) Value(word []uint64) float64 {
	return d.DecodeLogits(signs(word, d.genEx.code.Bits()))
}

// DecodeLogits implements LogitDecoder, in O(L).
func (d cumulative) DecodeLogits(z []float64) float64 {
	p, scaled := make([]float64, len(z)+1), make([]float64, len(z))
	for k, v := range z {
		scaled[k] = d.genEx.temperature * v
	}
	Distribution{cumulative: true}.To(p, scaled, nil)
	for i := range p {
		p[i] = math.Log(p[i])
	}
	_, mean := GenEx{d.genEx.code, 1}.Weigh(p, p, p[place(p)])
	return mean
}

// Softmax makes scores, logarithms of probabilities up to a constant, probabilities.
func Softmax(scores []float64) {
	total := Weigh(scores)
	for i := range scores {
		scores[i] /= total
	}
}

// isotonic makes numbers the nearest ones in least squares that do not ascend: isotonic regression,
// by pooling adjacent violators. It keeps their sum.
func isotonic(v []float64) {
	type block struct {
		mean float64
		n    int
	}
	blocks := make([]block, 0, len(v))
	for _, x := range v {
		last := block{x, 1}
		for i := len(blocks) - 1; i >= 0 && blocks[i].mean <= last.mean; i-- {
			n := blocks[i].n + last.n
			last = block{blocks[i].mean + (last.mean-blocks[i].mean)*float64(last.n)/float64(n), n}
			blocks = blocks[:i]
		}
		blocks = append(blocks, last)
	}
	v = v[:0]
	for _, b := range blocks {
		for range b.n {
			v = append(v, b.mean)
		}
	}
}

// Quantile is the first level, from row 0, up to which the probability is q or more; roundings of
// 10⁻⁹ count for it. At ½ it is the label of the rule Median.
func Quantile(p []float64, q float64) (row int) {
	upto := 0.0
	for row = range p[:len(p)-1] {
		if upto += p[row]; upto >= q-equalScores*q {
			return row
		}
	}
	return len(p) - 1
}
