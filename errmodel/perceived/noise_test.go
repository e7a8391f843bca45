package perceived

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"belsim/errmodel/observed"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/decode"
)

// TestSolveNoise has targets that are out of reach or none, errors of the model, and roots at a step and near an end.
func TestSolveNoise(t *testing.T) {
	identity := func(s float64) (float64, error) { return s, nil }
	for _, target := range []float64{1e-9, 17} {
		if _, err := solveNoise(16, target, identity); !errors.Is(err, ErrNoNoise) {
			t.Errorf("error %v: %v, want ErrNoNoise", target, err)
		}
	}
	for _, target := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := solveNoise(16, target, identity); err == nil || errors.Is(err, ErrNoNoise) {
			t.Errorf("error %v is taken: %v", target, err)
		}
	}
	// An error that steps has its root at the step.
	for _, step := range []float64{0.3, 1.234, 2.5, 9} {
		got := must.Get(solveNoise(16, 1, func(s float64) (float64, error) {
			if s < step {
				return 0, nil
			}
			return 5, nil
		}))(t)
		must.Within(t, "a step, over where it is", got/step, 1-1e-4, 1+1e-4)
	}
	// The search may begin at an end, and go inward.
	for _, inward := range []struct{ slope, root float64 }{{2, 10}, {0.5, 1.2 * smallestNoise(16)}} {
		got := must.Get(solveNoise(16, inward.slope*inward.root, func(s float64) (float64, error) {
			return inward.slope * s, nil
		}))(t)
		must.Within(t, "a root, over where it is", got/inward.root, 1-1e-4, 1+1e-4)
	}
}

// TestOnUnary compares the expected distances of the answers of gen and bel-u with a sum over all words, and with
// the decoders themselves.
func TestOnUnary(t *testing.T) {
	const levels = 9
	c := named(t, "unary", levels)
	gen := must.Get(decode.New("gen", c))(t)
	for _, s := range []float64{0.4, 3} {
		n := learn(t, Model{Noise: s, Misfit: 0.8, Training: BCE}, "unary", levels, nil)
		g, count := newOnUnary(n), must.Get(decode.New("bel-u", c))(t)
		wrong := make([]float64, levels-1)
		for _, y := range []float64{-2, 1, 2.3, 4.5, 7.49, 14} {
			n.WrongTo(wrong, 3, y)
			want := make([][4]float64, levels)
			for word := range uint64(1 << (levels - 1)) {
				p := 1.0
				for k, e := range wrong {
					if c.Bit(3, k) == (word>>k&1 == 1) {
						e = 1 - e
					}
					p *= e
				}
				answer, ones := gen.Decode([]uint64{word}), count.Decode([]uint64{word})
				for i := range want {
					for j, e := range []int{answer - i - 1, ones - i - 1} {
						want[i][2*j] += p * math.Abs(float64(e))
						want[i][2*j+1] += p * float64(e*e)
					}
				}
			}
			g.see(y)
			for i, v := range want {
				gen, count := g.gen(float64(i+1)), g.count(float64(i+1))
				got := [4]float64{gen.mean, gen.square, count.mean, count.square}
				if floats.Distance(got[:], v[:], 1) > 1e-12*levels*levels {
					t.Errorf("s = %v, perceived label %v: errors %v of level %d, want %v", s, y, got, i+1, v)
				}
			}
		}
	}
}

// TestNoiseOf: the noise leads back to the error of unary that a forecast has. ln s is found to
// noiseTolerance, and errors from 0.05 levels on grow by less than its sixth power. Around real labels
// the noise is less than around levels, because quantization is a part of the error.
func TestNoiseOf(t *testing.T) {
	const levels = 32
	prior := theory.Uniform(levels)
	whole := must.Get(NewNodes(ManyNodes, prior, levels-1, Seed))(t)
	few := [2]*Nodes{whole, whole.Real([]Uniform{{0.5, levels + 0.5, 1}})}
	gen := []observed.Decoding{{Decoder: must.Get(decode.New("gen", named(t, "unary", levels)))(t)}}
	for _, mae := range []float64{0.06, 0.4, 1.3} {
		var s [2]float64
		for i, nodes := range few {
			if i == 1 && mae < 0.25 { // less than quantization
				continue
			}
			m := Model{Misfit: DefaultMisfit, Within: WithinLevel * float64(i)}
			s[i] = must.Get(m.NoiseOf(t.Context(), 2, nodes, mae))(t)
			p := m
			p.Noise, p.Training = s[i], BCE
			got := must.Get(nodes.Errors(t.Context(), 0, learn(t, p, "unary", levels, prior), gen))(t)[0]
			if math.Abs(got/mae-1) > 6*noiseTolerance {
				t.Errorf("s = %v gives %v, want %v", s[i], got, mae)
			}
		}
		// Rounding makes the squared error of levels 2/π·(s² − 1/12), by the midpoint rule, and
		// that of real labels 2/π·(s² + 1/12).
		if off := math.Sqrt(s[0]*s[0]-2./12) / s[1]; mae > 1 && math.Abs(off-1) > 0.01 {
			t.Errorf("error %v: s = %v around levels, and %v around real labels", mae, s[0], s[1])
		}
	}
	m := Model{Misfit: DefaultMisfit}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.NoiseOf(ended, 1, few[1], 1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
	if _, err := m.NoiseOf(t.Context(), 1, few[0], 25); !errors.Is(err, ErrNoNoise) {
		t.Errorf("%v, want ErrNoNoise", err)
	}
}
