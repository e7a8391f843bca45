package montecarlo_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"belsim/errmodel"
	"belsim/errmodel/perceived"
	"belsim/montecarlo"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// randomProblem is a code under a random model: a mixture, or a network that was trained in some
// way. Outputs are logits, or bits.
func randomProblem(t *testing.T, rng *rand.Rand, name, decoder string, levels int, network,
	hard bool) *montecarlo.Problem {
	t.Helper()
	c := must.Get(code.New(name, levels))(t)
	p := &montecarlo.Problem{Code: c, Decoder: must.Get(decode.New(decoder, c))(t), Seed: rng.Uint64(), Within: 1}
	if network {
		m := perceived.Model{Noise: math.Pow(10, -1.7+2.3*rng.Float64()), Misfit: math.Pow(10, -2+3*rng.Float64()),
			Training: perceived.BCE}
		if rng.IntN(2) == 0 {
			m.Training = perceived.CE
		}
		p.Errors = must.Get(m.Learn(t.Context(), 0, c, theory.Uniform(levels)))(t)
		p.Kind = map[bool]montecarlo.Kind{true: montecarlo.PerceivedBits, false: montecarlo.PerceivedLogits}[hard]
		return p
	}
	sigma := math.Pow(10, -0.5+rng.Float64())
	r := 2 * sigma * math.Pow(10, -9*rng.Float64()*rng.Float64()) / float64(1+c.TransitionCount())
	p.Errors = must.Get(errmodel.NewMixture(t.Context(), c, r, sigma))(t)
	p.Kind = map[bool]montecarlo.Kind{true: montecarlo.DenseBits, false: montecarlo.IndependentLogits}[hard]
	return p
}

// TestSigns: where a code has all words, gen decodes logits by their signs, and so as it decodes
// bits: the means differ by chance and by the rounding of logits. By Gauss's law at 1e−9 for each
// of 240 problems.
func TestSigns(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for k := range 240 {
		name, levels := "unary", 2
		if k%2 == 1 {
			name, levels = []string{"gray", "binary", "johnson"}[k/2%3], 4
		}
		network := k%4 < 2
		soft := randomProblem(t, rng, name, "gen", levels, network, false)
		hard := *soft
		if hard.Kind = montecarlo.DenseBits; network {
			hard.Kind = montecarlo.PerceivedBits
		}
		hard.Seed++
		const n = 1 << 13
		all := sampleAll(t, soft, n)
		for i, s := range sampleAll(t, &hard, n) {
			rounding := must.Get(soft.Rounding(t.Context(), i))(t)
			// and rare errors, of which few are seen
			most := 6.2*math.Hypot(s.StdErr(), all[i].StdErr()) + rounding + 40./n
			if off := math.Abs(all[i].Mean() - s.Mean()); off > most {
				t.Errorf("%s, %v, level %d: %v by logits, %v by bits; want at most %v between them", name, soft.Errors,
					i+1, all[i].Mean(), s.Mean(), most)
			}
		}
	}
}

// TestFewSamples: standard errors of few samples of a level with parts are not too small. Of 2,400
// means at most 7 % are more than 1.96 standard errors off, where 5 % would be usual: a false alarm
// has a probability below 1e−5.
func TestFewSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	misses, means := 0.0, 0.0
	for range 40 {
		levels := 4 + rng.IntN(13)
		p := randomProblem(t, rng, []string{"unary", "onehot"}[rng.IntN(2)], []string{"gen", "gen-ex"}[rng.IntN(2)],
			levels, true, rng.IntN(2) == 0)
		prior := theory.Uniform(levels)
		truth := montecarlo.Average(prior, sampleAll(t, p, 1<<12))
		for _, n := range []uint64{2, 5, 20, 63, 64, 100} {
			for range 10 {
				p.Seed = rng.Uint64()
				o := montecarlo.Average(prior, sampleAll(t, p, n))
				if means++; math.Abs(o.Mean-truth.Mean) > 1.96*math.Hypot(o.StdErr, truth.StdErr) {
					misses++
				}
			}
		}
	}
	if misses > 0.07*means {
		t.Errorf("%v of %v means are more than 1.96 standard errors off", misses, means)
	}
}
