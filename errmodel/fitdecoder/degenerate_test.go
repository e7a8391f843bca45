package fitdecoder

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"belsim/errmodel/observed"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// degenerateValues are labels of eight levels that are nearly refused, and even ones.
func degenerateValues() map[string]code.Values {
	out := map[string]code.Values{"even": nil, "symexp": {-1e10, -1e5, -9, 0, 1, 100, 1e6, 1e10}}
	out["near"] = code.Values{0, 2e-12, 1, 2, 3, 4, 5, 6}
	out["far"] = code.Values{1, 2, 3, 4, 5, 6, 7, 5e12}
	for name, width := range map[string]float64{"tiny": 0x1p-479, "huge": 0x1p476} {
		v := make(code.Values, 8)
		for i := range v {
			v[i] = width * (float64(i) + float64(i*i)/9)
		}
		out[name] = v
	}
	out["offset"] = code.Values{1e15, 1e15 + 1, 1e15 + 3, 1e15 + 4, 1e15 + 5, 1e15 + 6, 1e15 + 7, 1e15 + 8}
	return out
}

// degenerateOutputs are outputs of a sample's word, as training that failed gives them.
func degenerateOutputs(rng *rand.Rand) map[string]func(sample int, bit float64) float64 {
	return map[string]func(sample int, bit float64) float64{
		"all zero":    func(int, float64) float64 { return 0 },
		"all one":     func(int, float64) float64 { return 1 },
		"perfect":     func(_ int, bit float64) float64 { return bit },
		"inverted":    func(_ int, bit float64) float64 { return -bit },
		"huge":        func(_ int, bit float64) float64 { return bit * 0x1p479 },
		"one is huge": func(i int, bit float64) float64 { return bit * math.Exp2(float64(i/59*479)) },
		"tiny":        func(_ int, bit float64) float64 { return bit * 0x1p-479 },
		"noise":       func(int, float64) float64 { return rng.NormFloat64() },
		"two values":  func(i int, _ float64) float64 { return float64(i % 2) },
	}
}

// TestDegenerate: codes × labels of levels × outputs that no training should give: a fit is refused,
// or its errors are numbers, and intervals of whatever outputs hold their own label.
func TestDegenerate(t *testing.T) {
	const samples = 60
	for _, name := range []string{"unary", "johnson", "hexj", "hadamard", "onehot"} {
		for called, v := range degenerateValues() {
			c := must.Get(code.New(name, 8))(t)
			if v != nil {
				must.Succeed(t, v.Check(8))
				c = c.Placed(v)
			}
			rng := rand.New(rand.NewPCG(56, 26))
			for what, output := range degenerateOutputs(rng) {
				for _, levels := range []int{2, 8} { // that occur
					s := &observed.Samples{Bits: c.Bits()}
					for i := range samples {
						row := rng.IntN(levels)
						s.Level, s.Exact = append(s.Level, row+1), append(s.Exact, c.Place(row))
						for k := range c.Bits() {
							s.Outputs = append(s.Outputs, output(i, 2*c.Value(row, k)-1))
						}
					}
					checkDegenerate(t, fmt.Sprintf("%s, %s, %s, %d levels", name, called, what, levels), c, v, s)
				}
			}
		}
	}
}

func checkDegenerate(t *testing.T, name string, c *code.Code, v code.Values, s *observed.Samples) {
	t.Helper()
	decodings := must.Get(observed.Decodings(decode.Builtin(), c, observed.Logits, decode.Options{}))(t)
	r, err := Fit(t.Context(), 1, Input{Code: c, Samples: s, Logits: true, Decodings: decodings, Values: v,
		BitByBit: true})
	if err != nil {
		t.Logf("%s: %v", name, err)
		return
	}
	for _, x := range []float64{r.Error, r.StdErr, r.BaselineErr, r.Gain, r.Intervals.Width, r.Intervals.Winkler} {
		if notFinite(x) {
			t.Errorf("%s: %v, %v", name, r.Judgement, r.Intervals)
			return
		}
	}
	for _, x := range r.Intervals.Samples {
		if !(x.Lower <= x.Label && x.Label <= x.Upper) {
			t.Errorf("%s: %+v", name, x)
			return
		}
	}
	lower, upper, err := r.Decoder.Interval(0.9)
	must.Succeed(t, err)
	for i := range s.Len() {
		z := s.Row(i)
		label, lo, hi := r.Decoder.DecodeLogits(z), lower.(bound).DecodeLogits(z), upper.(bound).DecodeLogits(z)
		if !math.IsNaN(label) && !(lo <= label && label <= hi) {
			t.Errorf("%s: row %d: %v to %v around %v", name, i, lo, hi, label)
			return
		}
	}
}
