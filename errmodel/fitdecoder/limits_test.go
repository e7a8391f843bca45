package fitdecoder

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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
	for _, rule := range []decode.Rule{decode.MAP, decode.Median, decode.Mean} {
		d := &Decoder{scores: &decode.Affine{Rule: rule, Weights: weights, Offsets: make([]float64, 3)}, logits: true,
			values: Evenly(3, 1, 3), about: About{Kind: KindAffine}}
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

// unevenNetwork has outputs of unary whose labels are labels of uneven levels. A shift of all
// outputs misleads decoders that know the code alone.
func unevenNetwork(c *code.Code, v code.Values, n int, shift float64, seed uint64) *observed.Samples {
	rng, levels := rand.New(rand.NewPCG(seed, 46)), c.Levels()
	s := &observed.Samples{Bits: c.Bits(), All: n}
	for range n {
		t := float64(levels-1) * rng.Float64()
		i := min(int(t), levels-2)
		y := v[i] + (t-float64(i))*(v[i+1]-v[i])
		place := 1 + (y-v[0])*float64(levels-1)/(v[levels-1]-v[0])
		row, _ := c.Nearest(place)
		s.Level, s.Exact, s.Direct = append(s.Level, row+1), append(s.Exact, place), append(s.Direct, 0)
		seen := t + 0.7*rng.NormFloat64()
		for k := range c.Bits() {
			s.Outputs = append(s.Outputs, 3*(seen-float64(k)-0.5)+shift)
		}
	}
	return s
}

// TestUneven: with uneven levels the error and the intervals of a fitted decoder are, in label
// units, what fresh samples show: a mean is beyond 5 standard errors, and so a coverage, with a
// probability of 6e-7. The residuals are those of the decoder's own sigma.
func TestUneven(t *testing.T) {
	const count = 1500
	v := make(code.Values, 16)
	for i := range v {
		v[i] = math.Pow(1.5, float64(i))
	}
	c := must.Get(code.New("unary", len(v)))(t).Placed(v)
	width := (v[15] - v[0]) / 15
	decodings := must.Get(observed.Decodings(decode.Builtin(), c, observed.Logits, decode.Options{}))(t)
	for _, tt := range []struct {
		shift float64
		kind  string
	}{{0, "gen-ex"}, {9, KindAffine}} {
		samples := unevenNetwork(c, v, count, tt.shift, 1)
		in := Input{Code: c, Samples: samples, Logits: true, Decodings: decodings, Values: v, Width: width}
		r := must.Get(Fit(context.Background(), 2, in))(t)
		if got := r.Decoder.About().Kind; tt.kind == KindAffine && got != tt.kind {
			t.Errorf("shift %v: %s, want %s", tt.shift, got, tt.kind)
		}
		fresh := unevenNetwork(c, v, count, tt.shift, 2)
		lower, upper, err := r.Decoder.Interval(0.9)
		must.Succeed(t, err)
		var sum, inside, known observed.Sums
		for i, place := range fresh.Exact {
			y, z := v[0]+(place-1)*width, fresh.Row(i)
			sum.Add(math.Abs(r.Decoder.DecodeLogits(z) - y))
			in := 0.0
			if lower.(bound).DecodeLogits(z) <= y && y <= upper.(bound).DecodeLogits(z) {
				in = 1
			}
			inside.Add(in)
			// what the network has seen, for who knows how it makes its outputs
			seen := min(max((z[0]-tt.shift)/3+0.5, 0), 15)
			k := min(int(seen), 14)
			known.Add(math.Abs(v[k] + (seen-float64(k))*(v[k+1]-v[k]) - y))
		}
		e, share := sum.Error(), inside.Error()
		must.Near(t, fmt.Sprintf("shift %v: error of fresh samples", tt.shift), r.Error, e.Mean, 5*math.Hypot(e.StdErr, r.StdErr))
		if e.Mean > 1.05*known.Error().Mean {
			t.Errorf("shift %v: an error of %v, where %v can be reached", tt.shift, e, known.Error())
		}
		if math.Abs(share.Mean-0.9) > 5*math.Sqrt(0.9*0.1*2/count) { // of the calibration and of the fresh samples
			t.Errorf("shift %v: intervals of 90 %% hold %v", tt.shift, share)
		}
		if !r.Better { // the residuals of a decoder that nobody fitted are known
			var residuals []float64
			for i, place := range samples.Exact {
				z := samples.Row(i)
				residuals = append(residuals, (v[0]+(place-1)*width-r.Decoder.DecodeLogits(z))/r.Decoder.sigma(z))
			}
			slices.Sort(residuals)
			for i, want := range r.Decoder.residuals {
				if math.Abs(residuals[i]-want) > 1e-4*max(1, math.Abs(want)) { // labels and variances were float32
					t.Fatalf("residual %d is %v, and by the decoder's sigma %v", i, want, residuals[i])
				}
			}
		}
	}
	// Baseline decoders, which are not fitted: in levels they have the spreads of their own labels.
	in := Input{Code: c, Samples: unevenNetwork(c, v, 50, 0, 3), Logits: true, Decodings: decodings, Values: v}
	f := &fitting{Input: in, levels: 16, m: 15}
	f.all = f.candidates()
	sample := observed.NewSample(15, nil)
	for _, of := range f.all {
		if of.stage != baseline {
			break
		}
		d, levels := must.Get(f.decoder(of, nil, v, About{}))(t), must.Get(f.decoder(of, nil, f.places(), About{}))(t)
		for i := range 50 {
			sample.Set(in.Samples.Row(i))
			z := sample.Outputs(d.logits)
			got := levels.spread(z)
			got.variance, got.within = got.variance*width*width, got.within*width*width
			if diff := cmp.Diff(d.spread(z), got, cmp.AllowUnexported(spread{}),
				cmpopts.EquateApprox(1e-9, 1e-9*width*width)); diff != "" {
				t.Fatalf("%s, sample %d: (-want +got)\n%s", d.Name(), i, diff)
			}
		}
	}
}

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
	names := []string{"unary", "hexj"}
	if os.Getenv("BELSIM_LONG") != "" {
		names = append(names, "johnson", "hadamard", "onehot")
	}
	for _, name := range names {
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
