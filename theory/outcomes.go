package theory

import (
	"fmt"

	"belsim/theory/code"
	"belsim/theory/decode"
)

// outcomes is what a decoder makes of every one of the 2^M outputs.
type outcomes struct {
	code  *code.Code
	label []float64 // by packed output
}

const (
	maxOutcomeBits = 20
	maxOutcomeWork = 1 << 31 // comparisons of an output with a code word
)

func newOutcomes(c *code.Code, d decode.Decoder) (*outcomes, error) {
	m := c.Bits()
	work := c.Levels() << min(m, 40)
	if _, ok := d.(decode.GenEx); ok || c.Real() {
		work *= m + 10 // a product a bit and an exponential, not one comparison
	}
	if m > maxOutcomeBits || work > maxOutcomeWork {
		return nil, fmt.Errorf("%w: an exact value for decoder %s takes all 2^%d outputs for %d levels, and only up to 2^%d are enumerated",
			ErrNone, d.Name(), m, c.Levels(), maxOutcomeBits)
	}
	t := &outcomes{c, make([]float64, 1<<m)}
	value := func(word []uint64) float64 { return float64(d.Decode(word)) }
	if x, ok := d.(decode.GenEx); ok {
		value = x.Value
	}
	word := make([]uint64, 1)
	for w := range t.label {
		word[0] = uint64(w)
		t.label[w] = value(word)
	}
	return t, nil
}

// exact sums over all outputs. The probabilities of the outputs of k bits give
// those of k+1 bits, so a row costs O(2^M).
func (t *outcomes) exact() func(i int, e []float64) Moments {
	prob := make([]float64, len(t.label))
	return func(i int, e []float64) Moments {
		prob[0] = 1
		word := t.code.Word(i)[0]
		for k, p := range e {
			one := p
			if word>>k&1 == 1 {
				one = 1 - p
			}
			zero := 1 - p
			if word>>k&1 == 1 {
				zero = p
			}
			half := 1 << k
			for w, q := range prob[:half] {
				prob[half+w] = q * one
				prob[w] = q * zero
			}
		}
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
		return m
	}
}
