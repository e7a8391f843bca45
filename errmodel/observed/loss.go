package observed

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"belsim/theory"
	"belsim/theory/base/memory"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

// lossSums add up the bound of theory.LossWeights, in levels.
type lossSums struct {
	code    *code.Code
	weights *mat.Dense        // nil where gen reads no logits of single bits, or they would take long
	tau     float64           // 0 before the first batch, which chooses it
	sums    [lossColumns]Sums // of the bounds for τ, and for 1
}

// lossColumns is how many bounds a sample has.
const lossColumns = 2

// mostLossWork is the largest L²·M/64 for which the weights are computed.
const mostLossWork = 1 << 22

func newLossSums(c *code.Code, of *Source, decodings []Decoding) *lossSums {
	s := &lossSums{code: c}
	levels := c.Levels()
	if of.Kind.Hard() || of.Together || c.Real() || memory.Product(levels, levels, len(c.Word(0))) > mostLossWork ||
		!slices.ContainsFunc(decodings, func(d Decoding) bool { return d.Soft && decode.Is[decode.Gen](d.Decoder) }) {
		return s
	}
	s.weights = theory.LossWeights(c, cost.OfCode(c))
	return s
}

// judge sets the bounds of a sample.
func (s *lossSums) judge(dst []float64, level int, z []float64) {
	if s.weights != nil {
		dst[0], dst[1] = s.of(s.tau, level, z), s.of(1, level, z)
	}
}

// add adds the bounds of a sample.
func (s *lossSums) add(bounds []float64) {
	for i := range s.sums {
		s.sums[i].Add(bounds[i])
	}
}

// of is the bound of a sample at a temperature.
func (s *lossSums) of(tau float64, level int, z []float64) float64 {
	sum, w := 0.0, s.weights.RawRowView(level-1)
	for k, u := range z {
		if !s.code.Bit(level-1, k) {
			u = -u
		}
		sum += w[k] * decode.Softplus(-tau*u)
	}
	return sum / math.Ln2
}

// choose sets the temperature to the power of √2 of the smallest bound of some samples of a batch. Every
// temperature gives a bound, for it changes no answer of gen.
func (s *lossSums) choose(b *batch, m int) {
	if s.weights == nil || s.tau > 0 || b.n == 0 {
		return
	}
	const most = 256
	least := math.Inf(1)
	for i := -16; i <= 16; i++ {
		tau, sum := math.Exp2(float64(i)/2), 0.0
		for j := 0; j < b.n; j += 1 + b.n/most {
			sum += s.of(tau, b.level[j], b.z[j*m:(j+1)*m])
		}
		if sum < least || s.tau == 0 {
			s.tau, least = tau, sum
		}
	}
}

// bound is the smaller mean; NaN where there is none.
func (s *lossSums) bound() float64 {
	if s.weights == nil {
		return math.NaN()
	}
	return min(s.sums[0].Error().Mean, s.sums[1].Error().Mean)
}
