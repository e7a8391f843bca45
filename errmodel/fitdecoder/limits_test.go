package fitdecoder

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/observed"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// TestNoFiniteLabel: weights may be finite, and the scores of a sample not. The error says which
// sample.
func TestNoFiniteLabel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "z.csv")
	must.Succeed(t, os.WriteFile(path, []byte("0,0\n0,3\n"), 0o600))
	weights := mat.NewDense(3, 2, nil)
	weights.Set(2, 1, 1e308)
	for _, rule := range decode.Rules() {
		d := &Decoder{scores: &decode.Affine{Rule: rule, Weights: weights, Offsets: make([]float64, 3)}, logits: true,
			about: About{Kind: KindAffine}}
		must.Succeed(t, d.complete())
		rows := must.Get(arrayfile.OpenRows(path))(t)
		defer rows.Close()
		s := &observed.Source{Outputs: rows, Kind: observed.Logits}
		err := s.Decode(context.Background(), 1, nil,
			observed.LabelsOf([]observed.Decoding{{Decoder: d, Soft: true}}), func([]float64) error { return nil }, nil)
		if err == nil || !strings.HasPrefix(must.Text(err), path+": row 2: the decoder affine computes no finite label") {
			t.Errorf("%s: %v", rule, err)
		}
	}
}

// TestRank: of n residuals, an interval has the ⌈(n+1)(1+c)/2⌉-th from either end, in exact
// arithmetic; where n is less it is refused, and the sentence says how many are enough, and up to
// which confidence.
func TestRank(t *testing.T) {
	const parts = 10000
	residuals := make([]float64, 30000)
	for i := range residuals {
		residuals[i] = float64(i + 1)
	}
	for _, confidence := range []float64{0, 1, math.NaN()} {
		if _, _, err := (&Decoder{calibration: calibration{residuals: residuals}}).Interval(confidence); err == nil {
			t.Errorf("confidence %v is taken", confidence)
		}
	}
	rng := rand.New(rand.NewPCG(46, 2))
	for range 20000 {
		n, c := 1+rng.IntN(1<<(1+rng.IntN(15)))%len(residuals), 1+rng.IntN(parts-1)
		if rng.IntN(3) == 0 {
			c = parts - 1 - rng.IntN(20)
		}
		rank := ((n+1)*(parts+c) + 2*parts - 1) / (2 * parts)
		confidence := float64(c) / parts
		lo, hi, ok := quantiles(residuals[:n], confidence)
		if ok != (rank <= n) || ok && (hi != float64(rank) || lo != float64(n+1-rank)) {
			t.Fatalf("n = %d, confidence %v: %v and %v, %v; want rank %d", n, confidence, lo, hi, ok, rank)
		}
		if ok {
			continue
		}
		d := &Decoder{calibration: calibration{residuals: residuals[:n]}}
		_, _, err := d.Interval(confidence)
		least, most := 0, 0.0
		if _, failed := fmt.Sscanf(err.Error(),
			fmt.Sprintf("confidence %v needs %%d calibration samples, and the decoder has %d: want at most %%f",
				confidence, n), &least, &most); failed != nil {
			t.Fatal(err)
		}
		_, _, enough := quantiles(residuals[:least], confidence)
		_, _, few := quantiles(residuals[:least-1], confidence)
		_, _, small := quantiles(residuals[:n], most)
		if !enough || few || !small && most > 0 || most >= confidence {
			t.Fatalf("n = %d: %v, and that is %v, %v, %v", n, err, enough, few, small)
		}
	}
}

// TestTooLarge: outputs are modelled up to L·M² of 2²⁸. Above, a decoder is chosen without a model.
func TestTooLarge(t *testing.T) {
	for levels, want := range map[int]bool{256: false, 257: true} {
		if tooLarge(levels, 1024) != want {
			t.Errorf("%d levels of 1024 bits are too large: %v", levels, !want)
		}
	}
	const levels, bits = 257, 1024
	rng := rand.New(rand.NewPCG(48, 1))
	words := mat.NewDense(levels, bits, nil)
	words.Apply(func(_, _ int, _ float64) float64 { return float64(rng.IntN(2)) }, words)
	c := must.Get(code.FromMatrix("random", words))(t)
	s := &observed.Samples{Bits: bits}
	for range Least {
		i := rng.IntN(levels)
		s.Level, s.Exact = append(s.Level, i+1), append(s.Exact, float64(i+1))
		for k := range bits {
			s.Outputs = append(s.Outputs, 2*words.At(i, k)-1)
		}
	}
	gen := observed.Decoding{Decoder: must.Get(decode.New("gen", c))(t)}
	r := must.Get(Fit(t.Context(), 0, Input{Code: c, Samples: s, Decodings: []observed.Decoding{gen}}))(t)
	if last := r.Kinds[len(r.Kinds)-1].Kind; len(r.Notes) != 2 || r.Error != 0 || last != KindTemperature {
		t.Errorf("%q, with an error of %v; the richest kind is %s", r.Notes, r.Error, last)
	}
}

// TestChoose: a richer decoder is better by more than a standard error. Of two gains the mean is so
// where both are positive.
func TestChoose(t *testing.T) {
	f := &fitting{Input: Input{Code: &code.Code{}, Samples: &observed.Samples{Exact: []float64{0, 0}}},
		all: []candidate{{stage: baseline}, {stage: temperature}}}
	for second, want := range map[float32]int{4.99: 1, 5.01: 0} {
		parts := []*part{{samples: []int{0, 1}, labels: []float32{5, 5, 1, second}}}
		must.Equal(t, fmt.Sprintf("chosen of gains of 4 and %v", 5-second), want, f.choose(parts))
	}
}

// TestUnary: the sigmoids of unary are those of all levels but one, and no others.
func TestUnary(t *testing.T) {
	for bits, want := range map[int]bool{3: true, 4: false} { // the fourth is always 0
		words := mat.NewDense(4, bits, nil)
		words.Apply(func(i, k int, _ float64) float64 { return float64(min(1, max(0, i-k))) }, words)
		must.Equal(t, fmt.Sprintf("%d bits are unary", bits), want, unary(must.Get(code.FromMatrix("u", words))(t)))
	}
}

// TestConstantOutput: an output that never varies leaves the affine decoder its fit.
func TestConstantOutput(t *testing.T) {
	m := newMoments(3, 2, false)
	for i := range 60 {
		x := []float64{float64(i%3) + 0.1*float64(i%7), 0}
		m.add(x, float64(1+i%3), 3)
		m.n++
		m.square.SymRankOne(m.square, 1, mat.NewVecDense(2, x))
	}
	if m.posterior(1) == nil {
		t.Error("an output of 0 leaves no fit")
	}
}
