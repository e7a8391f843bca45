package theory

import (
	"context"
	"fmt"

	"belsim/theory/code"
	"belsim/theory/decode"
)

// outcomes has the label that a decoder gives for each of the 2^M outputs.
type outcomes struct {
	code  *code.Code
	label []float64 // by packed output
}

const (
	maxOutcomeBits = 20
	maxOutcomeWork = 1 << 31 // comparisons of an output with a code word
)

// Enumerable returns an error that wraps ErrNoClosedForm where a code has too many outputs for a
// decoder to be asked for the labels of them all.
func Enumerable(c *code.Code, d decode.Decoder) error {
	m := c.Bits()
	work := c.Levels() << min(m, 40)
	_, informed := d.(decode.Informed)
	if decode.Real(d) || c.Real() || informed {
		work *= m + 10 // a product a bit and an exponential, not one comparison
	}
	if m > maxOutcomeBits || work > maxOutcomeWork {
		return fmt.Errorf("%w: an exact value for decoder %s takes all 2^%d outputs for %d levels, and only up to 2^%d are enumerated",
			ErrNoClosedForm, d.Name(), m, c.Levels(), maxOutcomeBits)
	}
	return nil
}

func newOutcomes(ctx context.Context, c *code.Code, d decode.Decoder) (*outcomes, error) {
	if err := Enumerable(c, d); err != nil {
		return nil, err
	}
	m := c.Bits()
	t := &outcomes{c, make([]float64, 1<<m)}
	word := make([]uint64, 1)
	for w := range t.label {
		if w%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		word[0] = uint64(w)
		t.label[w] = decode.Value(d, word)
	}
	return t, nil
}

// exact sums over all outputs, O(2^M) a row.
func (t *outcomes) exact() momentsOf {
	prob := make([]float64, len(t.label))
	zero, one := make([]float64, t.code.Bits()), make([]float64, t.code.Bits())
	return func(_ context.Context, i int, e []float64) (Moments, error) { // at most 2²⁰ outputs
		word := t.code.Word(i)[0]
		for k, p := range e {
			zero[k], one[k] = 1-p, p
			if word>>k&1 == 1 {
				zero[k], one[k] = p, 1-p
			}
		}
		OutputProbabilities(prob, zero, one)
		// Pairwise in effect: one partial sum for each of the high halves of
		// the outputs.
		var m Moments
		const run = 1 << 8
		for start := 0; start < len(prob); start += run {
			var part Moments
			end := min(start+run, len(prob))
			for w := start; w < end; w++ {
				err := t.label[w] - float64(i+1)
				part.Mean += max(err, -err) * prob[w]
				part.MeanSquare += err * err * prob[w]
			}
			m.Mean += part.Mean
			m.MeanSquare += part.MeanSquare
		}
		return m, nil
	}
}

// OutputProbabilities sets dst, of length 2^M, to the probabilities of all outputs of M
// independent bits: entry w is the probability of the output whose bit k is w>>k&1. Bit k is
// zero with probability zero[k] and one with probability one[k]. The probabilities for k bits
// give the probabilities for k+1 bits, so the cost is O(2^M).
func OutputProbabilities(dst, zero, one []float64) {
	dst[0] = 1
	for k, z := range zero {
		o, half := one[k], 1<<k
		for w, q := range dst[:half] {
			dst[half+w] = q * o
			dst[w] = q * z
		}
	}
}
