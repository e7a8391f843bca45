package compare_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"belsim/errmodel/perceived"
	"belsim/montecarlo"
	"belsim/montecarlo/compare"
	"belsim/montecarlo/scenario"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// TestFinite: whatever the error model and its parameters are, at the ends of their ranges, in them
// or far outside, a comparison of any code and decoder gives numbers, or an error.
func TestFinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	path := filepath.Join(t.TempDir(), "e.csv")
	count, compared := 200, 0
	if os.Getenv("BELSIM_LONG") != "" {
		count = 5000
	}
	value := func() float64 {
		if rng.IntN(3) == 0 {
			return []float64{5e-324, 0x1p-1022, 1e-300, 1e-160, 1e-12, 1e-6, 0.5, 1, 65536, 1e9, 1e155, math.MaxFloat64,
				math.Inf(1), math.NaN(), 0, -1}[rng.IntN(16)]
		}
		return math.Exp(-3 + 6*rng.Float64())
	}
	for range count {
		levels := 2 + rng.IntN(12)
		c := must.Get(code.New([]string{"unary", "johnson", "gray", "onehot", "hadamard", "b1jdj"}[rng.IntN(6)], levels))(t)
		s := scenario.New(nil)
		switch rng.IntN(4) {
		case 0:
			s.Model = scenario.Mixture{R: value(), Sigma: value()}
		case 1:
			text := ""
			for range levels {
				for k := range c.Bits() {
					if k > 0 {
						text += ","
					}
					text += fmt.Sprint([]float64{0, 1, 5e-324, 1e-300, 1e-17, 0.5, 1 - 0x1p-53, 0.3}[rng.IntN(8)])
				}
				text += "\n"
			}
			must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
			s.Model = scenario.Table{Path: path}
		default:
			s.Model = scenario.Perceived{Workers: 1, Model: perceived.Model{Noise: value(), Misfit: value(),
				Cutoff: value(), Training: perceived.BCE}}
		}
		s.Outputs = []scenario.Outputs{scenario.AutoOutputs, scenario.Bits, scenario.Logits}[rng.IntN(3)]
		s.Temperature = value()
		draw := scenario.Sampling{Samples: 64, Seed: rng.Uint64(), Within: 1}
		candidates, err := compare.NewCandidates(t.Context(), s, []*code.Code{c},
			decode.Names()[rng.IntN(len(decode.Names())):][:1], draw)
		if err != nil {
			continue
		}
		found := must.Get(compare.Rank(t.Context(), s, scenario.Run{Backend: montecarlo.CPU{Workers: 1}, Workers: 1},
			candidates, draw))(t)
		p, r := candidates.Problems[0], found.Results[0]
		what := fmt.Sprintf("%s of %d levels, %s, %v, %s: %+v", r.Code, levels, r.Decoder, s, s.Outputs, r)
		compared++
		most := float64(levels) + 0.5
		if !(r.Mean >= 0 && r.Mean <= most && r.StdErr >= 0 && r.StdErr <= most && r.Within >= 0 && r.Within <= 1 &&
			r.WorstMean >= 0) || math.IsInf(r.RMS, 0) {
			t.Errorf("sampled: %s", what)
		}
		if _, err := scenario.BoundOf(p); err == nil && !(r.Bound >= 0) || err != nil &&
			(!errors.Is(err, theory.ErrNoClosedForm) || !table.Missing(r.Bound)) {
			t.Errorf("bound: %s", what)
		}
		if _, err := scenario.ExactOf(t.Context(), p); err == nil && !(r.Exact >= 0 && r.Exact <= most) &&
			r.ExactLo == nil {
			t.Errorf("exact: %s", what)
		}
	}
	if compared < count/5 {
		t.Errorf("%d comparisons", compared)
	}
}
