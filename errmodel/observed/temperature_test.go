package observed

import (
	"math"
	"math/rand/v2"
	"testing"

	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// TestTemperature: logits that are probabilities of the targets have the temperature 1, and multiplied by a number they have this number. Of bits
// that are one in half of the samples, logits with the variance μ² and the means ±μ²/2 are such; of levels, any are from which the
// level is drawn. The distance allowed is four standard errors, of the information in the samples: one false alarm in 15,000.
func TestTemperature(t *testing.T) {
	c := must.Get(code.New("johnson", 16))(t)
	rng := rand.New(rand.NewPCG(1, 2))
	const samples = 4000
	for _, levels := range []bool{false, true} {
		for _, factor := range []float64{0.3, 1, 4} {
			s := &Samples{Bits: c.Bits()}
			scores, to := make([]float64, c.Levels()), decode.NewCorrelations(c)
			for range samples {
				z, level := make([]float64, c.Bits()), 1+rng.IntN(c.Levels())
				for k := range z {
					const mu = 2
					z[k] = mu * rng.NormFloat64()
					if !levels && c.Bit(level-1, k) {
						z[k] += mu * mu / 2
					} else if !levels {
						z[k] -= mu * mu / 2
					}
				}
				if to.To(scores, z); levels {
					level = drawn(scores, rng)
				}
				for k := range z {
					z[k] *= factor
				}
				s.Level, s.Outputs = append(s.Level, level), append(s.Outputs, z...)
			}
			_, information := s.slopeOfBits(c, nil, 1/factor)
			got := s.BitTemperature(c, nil)
			if levels {
				_, information = s.slopeOfLevels(c, 1/factor)
				got = s.LevelTemperature(c, 1)
				// Trained with τ = 1/factor, these logits are right.
				if v := s.LevelTemperature(c, 1/factor); math.Abs(v*factor/got-1) > 1e-6 {
					t.Errorf("factor %v: %v, with its inverse as τ %v", factor, got, v)
				}
			}
			se := factor / math.Sqrt(information)
			if !(math.Abs(math.Log(got/factor)) < 4*se) || se > 0.05 {
				t.Errorf("levels %v: %v ± %.2g, want %v", levels, got, se*factor, factor)
			}
		}
	}
}

// drawn is a level from 1, with the probabilities of a softmax.
func drawn(scores []float64, rng *rand.Rand) int {
	best, level := math.Inf(-1), 0
	for i, v := range scores {
		if v -= math.Log(rng.ExpFloat64()); v > best { // a Gumbel number more
			best, level = v, i+1
		}
	}
	return level
}

// TestNoTemperature: logits that are never wrong have no temperature, for the larger they are the better.
func TestNoTemperature(t *testing.T) {
	c := must.Get(code.New("unary", 4))(t)
	s := &Samples{Bits: 3}
	for level := 1; level <= 4; level++ {
		s.Level = append(s.Level, level)
		for k := range 3 {
			z := -1.0
			if c.Bit(level-1, k) {
				z = 1
			}
			s.Outputs = append(s.Outputs, z)
		}
	}
	if bits, levels := s.BitTemperature(c, nil), s.LevelTemperature(c, 1); !math.IsNaN(bits) || !math.IsNaN(levels) {
		t.Errorf("%v of bits, %v of levels", bits, levels)
	}
}
