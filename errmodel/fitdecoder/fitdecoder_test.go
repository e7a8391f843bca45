package fitdecoder_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/fitdecoder"
	"belsim/errmodel/observed"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

func mustCode(t testing.TB, name string, levels int) *code.Code {
	t.Helper()
	return must.Get(code.New(name, levels))(t)
}

// draw draws samples of a network. Every sample has a noisy label, its target with noise; the
// logit of a bit is a smoothed code word there, with noise that is as large as misfit, and times a
// scale.
func draw(c *code.Code, n int, noise, misfit, scale float64, seed uint64) *observed.Samples {
	rng := rand.New(rand.NewPCG(seed, 7))
	levels, m := c.Dims()
	s := &observed.Samples{Bits: m, All: n}
	for range n {
		y := 1 + rng.Float64()*float64(levels-1)
		at := y + noise*rng.NormFloat64()
		s.Exact, s.Level = append(s.Exact, y), append(s.Level, int(math.Round(y)))
		for k := range m {
			sum, total := 0.0, 0.0
			for i := range levels {
				w := math.Exp(-0.5 * (float64(i+1) - at) * (float64(i+1) - at))
				total += w
				sum += w * c.Value(i, k)
			}
			p := 0.02 + 0.96*sum/max(total, 1e-300)
			s.Outputs = append(s.Outputs, scale*(math.Log(p/(1-p))+misfit*rng.NormFloat64()))
		}
	}
	return s
}

// signs are the same samples with hard decisions.
func signs(s *observed.Samples) *observed.Samples {
	out := *s
	out.Outputs = slices.Clone(s.Outputs)
	for i, v := range out.Outputs {
		out.Outputs[i] = math.Copysign(1, v)
	}
	return &out
}

func fit(t testing.TB, workers int, c *code.Code, s *observed.Samples, k observed.Kind,
	values []float64) *fitdecoder.Result {
	t.Helper()
	decodings := must.Get(observed.Decodings(decode.Builtin(), c, k, decode.Options{}))(t)
	return must.Get(fitdecoder.Fit(context.Background(), workers,
		fitdecoder.Input{Code: c, Samples: s, Logits: !k.Hard(), Decodings: decodings, Values: values}))(t)
}

// written is the path of a decoder's file, and its content.
func written(t testing.TB, d *fitdecoder.Decoder) (path string, content []byte) {
	t.Helper()
	var b bytes.Buffer
	must.Succeed(t, d.Write(&b))
	path = filepath.Join(t.TempDir(), "d.npz")
	must.Succeed(t, os.WriteFile(path, b.Bytes(), 0o600))
	return path, b.Bytes()
}

// labels are what a decoder makes of samples.
func labels(d *fitdecoder.Decoder, s *observed.Samples) []float64 {
	out := make([]float64, s.Len())
	for i := range out {
		out[i] = d.DecodeLogits(s.Row(i))
	}
	return out
}

// errors is the |error| of a decoding for samples.
func errors(t testing.TB, c *code.Code, s *observed.Samples, r observed.Decoding) observed.Error {
	t.Helper()
	var sums observed.Sums
	for i, v := range must.Get(s.Labels(t.Context(), 0, c, []observed.Decoding{r}))(t) {
		sums.Add(math.Abs(v - s.Exact[i]))
	}
	return sums.Error()
}

// TestPower: of networks whose bits depend on each other, 85 to 95 % of targets that did not fit the decoder lie
// within the central 90 % of its probabilities; without the power, 51 to 84 % do.
func TestPower(t *testing.T) {
	for file, at := range map[string]struct{ lo, hi float64 }{
		"weather-unary": {10, 101}, "diamonds-unary": {2.5, 4.3}, "flights-johnson": {-60, 90}, "bikes-b1jdj": {1, 26},
	} {
		_, name, _ := strings.Cut(file, "-")
		read := func(array string) *mat.Dense {
			return must.Get(arrayfile.ReadFile("../../testdata/faults/" + file + ".npz:" + array))(t)
		}
		targets, outputs := read("targets").RawMatrix().Data, read("outputs")
		parts := [2]observed.Samples{{Bits: outputs.RawMatrix().Cols}, {Bits: outputs.RawMatrix().Cols}}
		for i, y := range targets {
			if s := &parts[i%2]; y >= at.lo && y <= at.hi {
				exact := 1 + 31*(y-at.lo)/(at.hi-at.lo)
				s.Exact, s.Level = append(s.Exact, exact), append(s.Level, int(math.Round(exact)))
				s.Outputs = append(s.Outputs, outputs.RawRowView(i)...)
			}
		}
		d := fit(t, 0, mustCode(t, name, 32), &parts[0], observed.Logits, nil).Decoder
		inside, p, sample := 0.0, make([]float64, 32), observed.NewSample(parts[1].Bits, nil)
		for i, y := range parts[1].Exact {
			sample.Set(parts[1].Row(i))
			d.ProbabilitiesTo(p, sample)
			row := 0
			for row < 31 && math.Abs(d.Label(row+1)-y) < math.Abs(d.Label(row)-y) {
				row++
			}
			below := floats.Sum(p[:row])
			inside += max(0, min(below+p[row], 0.95)-max(below, 0.05)) / p[row] // the PIT is even within the level
		}
		if share := inside / float64(parts[1].Len()); share < 0.85 || share > 0.95 {
			t.Errorf("%s: the central 90 %% hold %v, at power %v", file, share, d.About().Power)
		}
	}
}

// TestFit judges fitted decoders by 4000 new samples: the error of nested cross-validation is the
// error there, within five standard errors of the difference (false alarms below 10⁻⁵ for all
// together), and no fitted decoder is worse than the best baseline decoder by more than two of
// them. Codes of many transitions gain much.
func TestFit(t *testing.T) {
	for _, tt := range []struct {
		name          string
		scale, misfit float64
		most          float64 // of fitted over baseline
		bits          bool
	}{
		{"unary", 1, 0.3, 1.02, false}, {"binary", 1, 1.5, 0.92, false}, {"hexj-nr", 6, 1.5, 0.95, false},
		{"binary", 1, 1.5, 0.97, true}, {"unary", 1, 1, 1.02, true}, {"onehot", 0.2, 1, 0.99, false},
	} {
		c := mustCode(t, tt.name, 16)
		train, test := draw(c, 800, 1, tt.misfit, tt.scale, 1), draw(c, 4000, 1, tt.misfit, tt.scale, 2)
		kind := observed.Logits
		if tt.bits {
			train, test, kind = signs(train), signs(test), observed.Bits
		}
		r := fit(t, 0, c, train, kind, nil)
		got := errors(t, c, test, must.Get(r.Decoder.Decoding(kind))(t))
		before := errors(t, c, test, r.Baseline).Mean
		must.Near(t, fmt.Sprintf("%+v: error of new samples", tt), r.Error, got.Mean, 5*math.Hypot(got.StdErr, r.StdErr))
		if got.Mean > before+2*got.StdErr || got.Mean/before > tt.most {
			t.Errorf("%+v: %s has %v, %s has %v", tt, r.Decoder.About().Text(), got, r.Baseline.Decoder.Name(), before)
		}
		must.Equal(t, fmt.Sprintf("%+v: better", tt), r.Kind != r.Baseline.Decoder.Name(), r.Better)
		must.Equal(t, fmt.Sprintf("%+v: notes", tt), []string{}, r.Notes)
	}
}

// TestCorrections: where targets lie half a level above the answers of a network, or are stretched by 2 %, a fitted
// offset, or an offset and a slope, has the error of the network as it was, also in a file and in another range.
func TestCorrections(t *testing.T) {
	c := mustCode(t, "johnson", 64)
	train, test := draw(c, 1500, 1, 0.3, 1, 1), draw(c, 4000, 1, 0.3, 1, 2)
	before := fit(t, 0, c, train, observed.Logits, nil).BaselineErr
	for kind, moved := range map[string]func(y float64) float64{
		fitdecoder.KindOffset: func(y float64) float64 { return y + 0.5 },
		fitdecoder.KindLine:   func(y float64) float64 { return 1 + (y-1)*1.02 },
	} {
		wrong := *train
		wrong.Exact = nil
		for _, y := range train.Exact {
			wrong.Exact = append(wrong.Exact, moved(y))
		}
		r := fit(t, 0, c, &wrong, observed.Logits, nil)
		if !strings.HasPrefix(r.Kind, kind) {
			t.Errorf("%s, want %s", r.Kind, kind)
		}
		must.Within(t, kind+": baseline error", r.BaselineErr, 1.05*before, 2*before)
		path, _ := written(t, r.Decoder)
		read := must.Get(fitdecoder.Read(path))(t)
		tens := must.Get(read.WithValues(fitdecoder.Evenly(64, 10, 640)))(t)
		var off observed.Sums
		inTens := labels(tens, test)
		for i, v := range labels(read, test) {
			off.Add(math.Abs(v - moved(test.Exact[i])))
			must.Within(t, kind+": label in another range", inTens[i]-10*v, -1e-9, 1e-9)
		}
		must.Within(t, kind+": error by cross-validation", r.Error, 0.98*before, 1.02*before)
		must.Within(t, kind+": error of new samples", off.Error().Mean, 0.95*before, 1.05*before)
	}
}

// TestWorkers: any number of workers gives the same bytes, and a decoder comes back from its file.
func TestWorkers(t *testing.T) {
	c := mustCode(t, "hexj-nr", 16)
	s := draw(c, 300, 1, 1.5, 3, 3)
	values := fitdecoder.Evenly(16, 2.5, 4)
	for _, kind := range []observed.Kind{observed.Logits, observed.Bits} {
		samples := s
		if kind.Hard() {
			samples = signs(s)
		}
		fitted := fit(t, 1, c, samples, kind, values).Decoder
		path, content := written(t, fitted)
		if _, other := written(t, fit(t, 3, c, samples, kind, values).Decoder); !bytes.Equal(content, other) {
			t.Fatalf("%s: the file depends on the number of workers", kind)
		}
		d := must.Get(fitdecoder.Read(path))(t)
		got := labels(d, samples)
		if _, again := written(t, d); !slices.Equal(got, labels(fitted, samples)) || !bytes.Equal(again, content) {
			t.Errorf("%s: the decoder of the file gives other labels or bytes", kind)
		}
		if slices.Min(got) < 2.5 || slices.Max(got) > 4.0001 {
			t.Errorf("%s: labels from %v to %v, want 2.5 to 4", kind, slices.Min(got), slices.Max(got))
		}
		if _, err := d.Decoding(observed.Bits); (err == nil) != kind.Hard() {
			t.Errorf("%s reads bits: %v", kind, err)
		}
		wide := must.Get(d.WithValues(fitdecoder.Evenly(16, 0, 150)))(t)
		z := samples.Row(0)
		must.Near(t, string(kind)+": label in another range", (d.DecodeLogits(z)-2.5)*100, wide.DecodeLogits(z), 1e-9)
	}
}

// TestBaseline: the baseline decoders keep their labels in the form of a fitted one.
func TestBaseline(t *testing.T) {
	c := mustCode(t, "unary", 8)
	// All words of 7 bits, each some times, with its own number of ones: bel-u has no error.
	s := &observed.Samples{Bits: 7}
	for range 2 {
		for w := range 128 {
			ones := 0
			for k := range 7 {
				bit := w >> k & 1
				ones += bit
				s.Outputs = append(s.Outputs, float64(2*bit-1))
			}
			s.Level, s.Exact = append(s.Level, ones+1), append(s.Exact, float64(ones+1))
		}
	}
	r := fit(t, 0, c, s, observed.Bits, nil)
	if r.Better || r.Decoder.Name() != "bel-u" || r.Error != 0 {
		t.Errorf("%s has the error %v", r.Decoder.About().Text(), r.Error)
	}
	for i, v := range labels(r.Decoder, s) {
		if v != s.Exact[i] {
			t.Fatalf("%v is %v, want %v", s.Row(i), v, s.Exact[i])
		}
	}
}

// TestNoGain: where richer decoders gain less than a standard error, gen-ex stays, also in each
// part of the cross-validation: its labels are those of the baseline decoder up to their
// arithmetic.
func TestNoGain(t *testing.T) {
	c := mustCode(t, "johnson", 16)
	for _, tt := range []struct {
		samples int
		misfit  float64
	}{{160, 0}, {160, 0.3}, {400, 0}, {400, 0.3}} {
		r := fit(t, 0, c, draw(c, tt.samples, 1, tt.misfit, 1, 5), observed.Logits, nil)
		if r.Better || r.Decoder.Name() != "gen-ex" {
			t.Errorf("%+v: better %v, %s; want gen-ex", tt, r.Better, r.Decoder.About().Text())
		}
		must.Within(t, fmt.Sprintf("%+v: gain", tt), r.Gain, -1e-6, 1e-6)
	}
	// What all samples choose, and nested cross-validation finds no better, is not fitted.
	for seed := range uint64(30) {
		c := mustCode(t, "unary", 8)
		if r := fit(t, 0, c, draw(c, 80, 1, 0.5+float64(seed%3)/2, 1, seed), observed.Logits, nil); r.Better &&
			r.Gain <= 0 {
			t.Errorf("seed %d: %s has a gain of %v", seed, r.Decoder.About().Text(), r.Gain)
		}
	}
}

func TestRefusals(t *testing.T) {
	c := mustCode(t, "gray", 8)
	for n, few := range map[int]bool{50: true, 79: true, 80: false} {
		if r := fit(t, 1, c, draw(c, n, 1, 1, 1, 1), observed.Logits, nil); (len(r.Notes) == 1) != few {
			t.Errorf("%d samples for 8 levels: %q", n, r.Notes)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	decodings := must.Get(observed.Decodings(decode.Builtin(), c, observed.Logits, decode.Options{}))(t)
	for _, tt := range []struct {
		ctx     context.Context
		samples int
		want    string
	}{{t.Context(), 49, "49 samples: want at least 50"}, {cancelled, 60, context.Canceled.Error()}} {
		in := fitdecoder.Input{Code: c, Samples: draw(c, tt.samples, 1, 1, 1, 1), Logits: true, Decodings: decodings}
		must.Refuse(fitdecoder.Fit(tt.ctx, 1, in))(t, tt.want)
	}
}

// TestFiles: what has not the arrays of a decoder is refused, and the error names the file and says why.
func TestFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.npz")
	for _, missing := range []string{"", "weights", "offsets", "residuals", "rule", "checksum"} {
		var b bytes.Buffer
		z, want := arrayfile.NewNPZWriter(&b), missing
		for _, name := range []string{"weights", "offsets", "values", "residuals", "floor"} {
			if name != missing {
				must.Succeed(t, z.Column(name, []float64{1, 2, 3}))
			}
		}
		for _, name := range []string{"rule", "reads", "about", "sigmas", "checksum"} {
			if name != missing {
				must.Succeed(t, z.Text(name, "mean"))
			}
		}
		must.Succeed(t, z.Close())
		if missing == "" {
			b.Truncate(2)
			want = "not an .npz file"
		}
		must.Succeed(t, os.WriteFile(path, b.Bytes(), 0o600))
		must.Refuse(fitdecoder.Read(path))(t, want, path)
	}
}

// answers are the labels of samples, and the ends of their intervals.
func answers(t testing.TB, d *fitdecoder.Decoder, s *observed.Samples) []float64 {
	out, of := labels(d, s), ends(t, d, 0.9)
	for i := range s.Len() {
		lower, upper := of(s.Row(i))
		out = append(out, lower, upper)
	}
	return out
}

// TestDamage: no changed bit of a decoder's file changes a label or an interval, nor does an array
// of another decoder.
func TestDamage(t *testing.T) {
	c := mustCode(t, "hexj-nr", 8)
	s := draw(c, 60, 1, 1.5, 3, 3)
	d := fit(t, 0, c, s, observed.Logits, nil).Decoder
	path, file := written(t, d)
	want := answers(t, d, s)
	read := func(content []byte) (*fitdecoder.Decoder, error) {
		must.Succeed(t, os.WriteFile(path, content, 0o600))
		return fitdecoder.Read(path)
	}
	for i := 0; i < len(file); i += 3 {
		changed := bytes.Clone(file)
		changed[i] ^= 1 << (i % 8)
		if d, err := read(changed); err == nil && !slices.Equal(answers(t, d, s), want) {
			t.Errorf("byte %d changed: other answers", i)
		}
	}
	// The same arrays with other offsets, as NumPy would write them.
	z := must.Get(zip.NewReader(bytes.NewReader(file), int64(len(file))))(t)
	var mixed bytes.Buffer
	w := zip.NewWriter(&mixed)
	for _, f := range z.File {
		in := must.Get(f.Open())(t)
		content := must.Get(io.ReadAll(in))(t)
		if f.Name == "offsets.npy" {
			content[len(content)-2] ^= 1
		}
		out := must.Get(w.Create(f.Name))(t)
		out.Write(content)
	}
	must.Succeed(t, w.Close())
	must.Refuse(read(mixed.Bytes()))(t, "another checksum; 'belsim fit")
}

// ends are those of a decoder's intervals for a sample.
func ends(t testing.TB, d *fitdecoder.Decoder, confidence float64) func(z []float64) (lower, upper float64) {
	t.Helper()
	lower, upper, err := d.Interval(confidence)
	must.Succeed(t, err)
	return func(z []float64) (float64, float64) {
		return lower.(decode.LogitDecoder).DecodeLogits(z), upper.(decode.LogitDecoder).DecodeLogits(z)
	}
}

// TestIntervals: intervals of networks with random parameters hold as many new samples as they
// promise, and as many as Fit says; they widen with the confidence, hold the label from ½ on, and
// lie in the range. With n calibration samples and m new ones, the share that holds has the
// standard deviation √(c(1−c)(1/n+1/m)) around c to c + 2/(n+1). Five of them on either side, 17
// networks and three confidences give a false alarm in 30,000 runs.
func TestIntervals(t *testing.T) {
	const train, test = 300, 2000
	rng := rand.New(rand.NewPCG(46, 1))
	names, covered := []string{"unary", "johnson", "hexj-nr", "binary", "onehot", "hadamard"}, 0.0
	for i := range 17 {
		name, bits, unit := names[i%len(names)], i%5 == 4, i%3 == 2
		c := mustCode(t, name, 16)
		noise, misfit, scale := 0.3+1.5*rng.Float64(), rng.Float64(), math.Exp2(2*rng.Float64()-1)
		what := fmt.Sprintf("%s, noise %.2f, misfit %.2f, scale %.2f, bits %v", name, noise, misfit, scale, bits)
		calibration, fresh, kind := draw(c, train, noise, misfit, scale, uint64(2*i)), draw(c, test, noise, misfit,
			scale, uint64(2*i+1)), observed.Logits
		if bits {
			calibration, fresh, kind = signs(calibration), signs(fresh), observed.Bits
		}
		lo, width := 1.0, 1.0
		var values []float64
		if unit {
			lo, width = -7, 0.25
			values = fitdecoder.Evenly(16, lo, lo+15*width)
		}
		r := fit(t, 0, c, calibration, kind, values)
		j := r.Intervals
		covered += j.Coverage / 17
		se := math.Sqrt(0.09/train) * 1.5
		must.Within(t, what+": coverage", j.Coverage, max(j.Worst, 0.9-5*se), 0.9+5*se)
		must.Within(t, what+": Winkler", j.Winkler, j.Width, 1.05*j.Constant)
		must.Equal(t, what+": number of samples", train, len(j.Samples))
		within := make([][2]float64, test)
		for i := range within {
			within[i] = [2]float64{math.Inf(1), math.Inf(-1)}
		}
		for _, confidence := range []float64{0.5, 0.8, 0.95} {
			of, inside, wide := ends(t, r.Decoder, confidence), 0.0, 0.0
			for i, before := range within {
				lower, upper := of(fresh.Row(i))
				label, target := r.Decoder.DecodeLogits(fresh.Row(i)), lo+(fresh.Exact[i]-1)*width
				if lower <= target && target <= upper {
					inside++
				}
				wide += (upper - lower) / test
				if lower > before[0] || upper < before[1] || lower < lo-1e-9 || upper > lo+15*width+1e-9 || confidence > 0.9 &&
					(lower > label || label > upper) {
					t.Fatalf("%s, sample %d: %v to %v at %v, and %v before; label %v", what, i, lower, upper,
						confidence, before, label)
				}
				within[i] = [2]float64{lower, upper}
			}
			se := math.Sqrt(confidence * (1 - confidence) * (1./train + 1./test))
			// Cross-fitting with four fifths of few samples makes the intervals of fitted decoders
			// a little wide.
			most := 2./(train+1) + 5*se
			if r.Better {
				most += 0.02
			}
			if share := inside / test; share < confidence-5*se || share > confidence+most {
				t.Errorf("%s: %v hold at %v", what, share, confidence)
			}
		}
		// Another range scales all.
		a, b := ends(t, r.Decoder, 0.8), ends(t, must.Get(r.Decoder.WithValues(fitdecoder.Evenly(16, 0, 1)))(t), 0.8)
		for i := range 20 {
			al, au := a(fresh.Row(i))
			bl, bu := b(fresh.Row(i))
			if math.Abs((al-lo)/(15*width)-bl) > 1e-9 || math.Abs((au-lo)/(15*width)-bu) > 1e-9 {
				t.Fatalf("%s: %v to %v is %v to %v in another range", what, al, au, bl, bu)
			}
		}
	}
	if math.Abs(covered-0.9) > 0.03 { // 17·300 samples in folds: five times 1.5·√(0.09/5100)
		t.Errorf("Fit says that %v hold at 0.9", covered)
	}
}

// TestWidth: where a level is four units wide all errors and lengths are four times as large, and
// samples lie where they are in these units.
func TestWidth(t *testing.T) {
	c := mustCode(t, "johnson", 8)
	s := draw(c, 200, 1, 0.5, 1, 9)
	for i := range s.Exact {
		s.Direct = append(s.Direct, s.Exact[i]+0.1*float64(i%7))
	}
	in := fitdecoder.Input{Code: c, Samples: s, Logits: true,
		Decodings: must.Get(observed.Decodings(decode.Builtin(), c, observed.Logits, decode.Options{}))(t)}
	one := must.Get(fitdecoder.Fit(t.Context(), 0, in))(t)
	must.Equal(t, "the first target", s.Exact[0], one.Intervals.Samples[0].Target)
	in.Width, in.Values = 4, fitdecoder.Evenly(8, 1, 29)
	four := must.Get(fitdecoder.Fit(t.Context(), 0, in))(t)
	want, i := one, one.Intervals
	for _, length := range []*float64{&want.Error, &want.StdErr, &want.Interval[0], &want.Interval[1],
		&want.BaselineErr, &want.Gain, &want.GainSE, &want.Beside.Mean, &want.Beside.StdErr, &i.Width, &i.Winkler, &i.Constant} {
		*length *= 4
	}
	for k := range want.Kinds {
		want.Kinds[k].Error, want.Kinds[k].StdErr = 4*want.Kinds[k].Error, 4*want.Kinds[k].StdErr
	}
	for k := range i.Samples {
		for _, label := range []*float64{&i.Samples[k].Target, &i.Samples[k].Label, &i.Samples[k].Lower,
			&i.Samples[k].Upper} {
			*label = 1 + (*label-1)*4
		}
	}
	must.Equal(t, "four times the errors", want.Judgement, four.Judgement)
	must.Equal(t, "beside direct regression", want.Beside, four.Beside)
}

// TestNested: what judges a fifth of the samples does not know their targets.
func TestNested(t *testing.T) {
	c := mustCode(t, "johnson", 8)
	s := draw(c, 200, 1, 0.5, 1, 9)
	before := fit(t, 0, c, s, observed.Logits, nil).Intervals.Samples
	for i := 0; i < len(s.Exact); i += 5 {
		s.Exact[i], s.Level[i] = 9-s.Exact[i], 9-s.Level[i]
	}
	for i, after := range fit(t, 0, c, s, observed.Logits, nil).Intervals.Samples[:40] {
		before[i].Target = 9 - before[i].Target
		must.Equal(t, fmt.Sprintf("sample %d", 5*i), before[i], after)
	}
}

// TestJudged: what is said of intervals, and of intervals of one width, is so of the samples. gen-ex is
// the best here, which no fit changes, and some targets lie at the ends of the range.
func TestJudged(t *testing.T) {
	c := mustCode(t, "unary", 8)
	s := draw(c, 200, 1, 0, 1, 9)
	for i, level := range s.Level {
		s.Exact[i] = float64(level)
	}
	r := fit(t, 0, c, s, observed.Logits, nil)
	must.Equal(t, "a fitted decoder is better", false, r.Better)
	j := r.Intervals
	score := func(x fitdecoder.Interval, lower, upper float64) float64 {
		return upper - lower + 20*max(lower-x.Target, x.Target-upper, 0)
	}
	var held, width, winkler, constant float64
	for n, x := range j.Samples {
		var residuals []float64
		for k, other := range j.Samples {
			if k/40 != n/40 {
				residuals = append(residuals, other.Target-other.Label)
			}
		}
		slices.Sort(residuals)
		const rank = 153 // ⌈161 · 0.95⌉ of 160
		if x.Lower <= x.Target && x.Target <= x.Upper {
			held++
		}
		width += x.Upper - x.Lower
		winkler += score(x, x.Lower, x.Upper)
		constant += score(x, max(1, x.Label+residuals[160-rank]), min(8, x.Label+residuals[rank-1]))
		must.Within(t, "ends", x.Lower, 1, x.Upper)
		must.Within(t, "ends", x.Upper, x.Lower, 8)
	}
	must.Equal(t, "coverage, width, and scores", []float64{held / 200, width / 200, winkler / 200, constant / 200},
		[]float64{j.Coverage, j.Width, j.Winkler, j.Constant}, cmpopts.EquateApprox(1e-12, 0))
}

// TestSigma: intervals of a decoder are those of a few lines that know the file alone.
func TestSigma(t *testing.T) {
	for _, name := range []string{"unary", "johnson", "binary"} {
		for _, bitByBit := range []bool{false, true} {
			c := mustCode(t, name, 8)
			s := draw(c, 300, 1, 0.5, 1, 9)
			decodings := must.Get(observed.Decodings(decode.Builtin(), c, observed.Logits, decode.Options{}))(t)
			in := fitdecoder.Input{Code: c, Samples: s, Logits: true, Decodings: decodings, BitByBit: bitByBit,
				Values: []float64{0, 1, 2, 4, 8, 16, 32, 64}}
			d := must.Get(fitdecoder.Fit(t.Context(), 0, in))(t).Decoder
			if d.About().Reads != "logits" {
				t.Fatalf("%s reads bits", name)
			}
			path, _ := written(t, d)
			of, again := ends(t, d, 0.9), ends(t, must.Get(fitdecoder.Read(path))(t), 0.9)
			for i := range 50 {
				lower, upper := of(s.Row(i))
				wantLower, wantUpper := byHand(t, path, s.Row(i), d.DecodeLogits(s.Row(i)), bitByBit && name == "unary",
					in.Values)
				if l, u := again(s.Row(i)); l != lower || u != upper || math.Abs(lower-wantLower) > 1e-9 ||
					math.Abs(upper-wantUpper) > 1e-9 {
					t.Fatalf("%s, bit by bit %v: %v to %v, want %v to %v; from the file %v to %v", name, bitByBit,
						lower, upper, wantLower, wantUpper, l, u)
				}
			}
		}
	}
}

// byHand are the ends of an interval of 0.9, of the arrays of a file. The label is known.
func byHand(t testing.TB, path string, z []float64, label float64, sigmoids bool, values []float64) (lower,
	upper float64) {
	array := func(name string) *mat.Dense { return must.Get(arrayfile.ReadFile(path + ":" + name))(t) }
	w, b, residuals := array("weights"), array("offsets"), array("residuals").RawMatrix().Data
	levels, m := w.Dims()
	p, total, mean, variance, within := make([]float64, levels), 0.0, 0.0, 0.0, 0.0
	for n := range p {
		score := b.At(n, 0)
		for k := range m {
			score += w.At(n, k) * z[k]
		}
		p[n] = math.Exp(score)
	}
	if sigmoids { // P(level ≥ n) − P(level ≥ n + 1)
		above := []float64{1}
		for _, v := range slices.Sorted(slices.Values(z)) {
			above = slices.Insert(above, 1, 1/(1+math.Exp(-v)))
		}
		for n := range p {
			p[n] = above[n]
			if n < m {
				p[n] -= above[n+1]
			}
		}
	}
	for n := range p {
		total += p[n]
		mean += p[n] * values[n]
	}
	for n := range p {
		half := 0.0 // of the level, on either side
		for _, beside := range []int{n - 1, n + 1} {
			if beside < 0 || beside == levels {
				beside = 2*n - beside
			}
			half += math.Abs(values[beside]-values[n]) / 2
		}
		variance += p[n] / total * (values[n] - mean/total) * (values[n] - mean/total)
		within += p[n] / total * half * half / 12
	}
	sigma := math.Sqrt(variance + array("floor").At(0, 0)*within)
	rank := 286 // ⌈301 · 0.95⌉ of 300
	return min(max(label+residuals[300-rank]*sigma, values[0]),
		values[levels-1]), min(max(label+residuals[rank-1]*sigma, values[0]), values[levels-1])
}

const examples = "../../testdata/decoders/"

// TestExample: the labels are those of the NumPy lines, which made labels.npy.
func TestExample(t *testing.T) {
	d := must.Get(fitdecoder.Read(examples + "decoder.npz"))(t)
	if d.About().Kind != fitdecoder.KindAffine {
		t.Errorf("the example is %s; one with all parts shows more", d.About().Text())
	}
	outputs := must.Get(arrayfile.ReadFile(examples + "more.npy"))(t)
	labels := must.Get(arrayfile.ReadFile(examples + "labels.npy"))(t).RawMatrix().Data
	if n, _ := outputs.Dims(); n != 300 || len(labels) != n {
		t.Fatalf("%d outputs and %d labels", n, len(labels))
	}
	for i, want := range labels {
		must.Near(t, fmt.Sprintf("sample %d, which NumPy decodes", i+1), want, d.DecodeLogits(outputs.RawRowView(i)), 1e-9)
	}
}

// TestLines: the command's reference shows the lines of apply.py, which the gate runs.
func TestLines(t *testing.T) {
	read := func(path string) string { return string(must.Get(os.ReadFile(path))(t)) }
	script, reference := read(examples+"apply.py"), read("../../cmd/belsim/README.md")
	_, lines, _ := strings.Cut(script, "# NumPy\n")
	lines, _, found := strings.Cut(lines, "\n\n\n# end")
	if !found || !strings.Contains(reference, lines) {
		t.Errorf("the reference does not show these lines of apply.py:\n%s", lines)
	}
}
