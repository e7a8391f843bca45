package perceived

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/decode"
)

// draw draws one input of a network by its law, step by step: the perceived label of a level, a
// logit for each bit, and the hard decisions.
func draw(rng *rand.Rand, n *Network, level int, z []float64) (word []uint64) {
	n.Logits(z, float64(level)+n.Noise()*rng.NormFloat64())
	word = make([]uint64, len(n.c.Word(0)))
	for k, sd := range n.residualSD {
		z[k] += sd * rng.NormFloat64()
		if z[k] > 0 {
			word[k/64] |= 1 << (k % 64)
		}
	}
	return word
}

// TestSamples compares the errors over the nodes, and the table of error probabilities, with plain
// samples. Levels and perceived labels of the nodes are spread evenly, so that chance moves their
// means by no more than those of as many samples. There are some 60 numbers, so that a false alarm
// at 5.5 standard errors comes in one of 4·10⁵ runs.
func TestSamples(t *testing.T) {
	const levels, samples = 32, 1 << 14
	prior := theory.Uniform(levels)
	rng := rand.New(rand.NewPCG(5, 6))
	for i, m := range []Model{
		{Noise: 1.6, Misfit: 0.25, Training: BCE}, {Noise: 0.4, Misfit: 0.25, Training: BCE}, // large logits
		{Noise: 1.2, Misfit: 0.5, Training: CE}, {Noise: 0.9, Misfit: 0.1, Training: L1},
	} {
		for _, name := range []string{"unary", "johnson", "hexj", "hadamard"}[:4-i] {
			t.Run(fmt.Sprintf("%s, %v", name, m), func(t *testing.T) {
				n := learn(t, m, name, levels, prior)
				of := decodings(t, n.c)
				errs, wrong, z := make([][]float64, len(of)), make([]float64, samples), make([]float64, n.c.Bits())
				for s := range samples {
					level := 1 + s%levels
					word := draw(rng, n, level, z)
					for k := range z {
						if word[k/64]>>(k%64)&1 == 1 != n.c.Bit(level-1, k) {
							wrong[s]++
						}
					}
					for j, d := range of {
						answer := decode.Value(d.Decoder, word)
						if d.Soft {
							answer = d.Decoder.(decode.LogitDecoder).DecodeLogits(z)
						}
						errs[j] = append(errs[j], math.Abs(answer-float64(level)))
					}
				}
				check := func(what string, x []float64, got float64, nodes float64) {
					mean, sd := stat.MeanStdDev(x, nil)
					if most := 5.5 * sd * math.Sqrt(1./samples+nodes); !(math.Abs(got-mean) <= most) {
						t.Errorf("%s: %v, but %v ± %v of samples", what, got, mean, most/5.5)
					}
				}
				nodes := must.Get(NewNodes(ManyNodes, prior, n.c.Bits(), Seed))(t)
				got := must.Get(nodes.moments(t.Context(), 0, n, of))(t)
				for j, d := range of {
					check(fmt.Sprintf("%s, soft: %v", d.Decoder.Name(), d.Soft), errs[j], got.means[j], 1./ManyNodes)
				}
				check("wrong bits over the nodes", wrong, got.wrong, 1./ManyNodes)
				check("wrong bits of the table", wrong, mat.Sum(n)/levels, 0)
			})
		}
	}
}
