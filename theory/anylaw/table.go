package anylaw

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/code"
	"belsim/theory/decode"
)

// Table is a joint law of the bits at each level. As a matrix it is the table of the error
// probabilities of each bit.
type Table struct {
	*mat.Dense
	Laws []Law // by row; nil where no law is known, and no bit errs
}

// sumError is how far the probabilities of a law may add up to something else than 1. Searches end
// at 1e-10.
const sumError = 1e-6

// NewTable checks the laws of a code of so many bits, and makes the probabilities of each add up to
// 1.
func NewTable(bits int, laws []Law) (*Table, error) {
	t := &Table{mat.NewDense(len(laws), bits, nil), make([]Law, len(laws))}
	for i, law := range laws {
		sum := 0.0
		for _, p := range law {
			last := -1
			for _, k := range p.Bits {
				if k <= last || k >= bits {
					return nil, fmt.Errorf("level %d: bits that err are not in 1 to %d and ascending", i+1, bits)
				}
				last = k
			}
			if !(p.Probability >= 0 && p.Probability <= 1+sumError) {
				return nil, fmt.Errorf("level %d: %v is no probability; want a number from 0 to 1", i+1, p.Probability)
			}
			sum += p.Probability
		}
		if law != nil && !(math.Abs(sum-1) <= sumError) {
			return nil, fmt.Errorf("level %d: the probabilities of the law add up to %v; want 1", i+1, sum)
		}
		row := t.RawRowView(i)
		for _, p := range law {
			if p.Probability == 0 {
				continue
			}
			p.Probability /= sum
			t.Laws[i] = append(t.Laws[i], p)
			for _, k := range p.Bits {
				row[k] = min(1, row[k]+p.Probability)
			}
		}
	}
	return t, nil
}

// Answers are what a decoder answers to each pattern of row i, in levels.
func (t *Table) Answers(c *code.Code, d decode.Decoder, i int) []float64 {
	out := make([]float64, len(t.Laws[i]))
	for j, p := range t.Laws[i] {
		word := append([]uint64(nil), c.Word(i)...)
		for _, k := range p.Bits {
			word[k/64] ^= 1 << (k % 64)
		}
		out[j] = decode.Value(d, word)
	}
	return out
}

// Moments are the exact means of |error| and of its square at row i; NaN where no law is known.
func (t *Table) Moments(c *code.Code, d decode.Decoder, i int) (mean, square float64) {
	if t.Laws[i] == nil {
		return math.NaN(), math.NaN()
	}
	for j, answer := range t.Answers(c, d, i) {
		p, err := t.Laws[i][j].Probability, math.Abs(answer-float64(i+1))
		mean, square = math.FMA(p, err, mean), math.FMA(p, err*err, square)
	}
	return mean, square
}
