package assess

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/head"
	"belsim/errmodel/observed"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

const fittedExample = "../../testdata/decoders/"

// TestFitDecoder: the fit of the example network has a fitted decoder that is better, the verdict
// says so, and several networks get one each. What it decodes are the labels of the repository.
func TestFitDecoder(t *testing.T) {
	o := Options{
		Code: "b2jdj", Levels: 64, Targets: fittedExample + "targets.npy", Outputs: fittedExample + "outputs.npy",
		Range: LabelRange{Lo: 2.5, Hi: 4.3}, Temperature: 1, Decoders: decode.Builtin(),
		FitDecoder: true,
	}
	s := judge(t, o)
	f := s.Fit.Fitted
	want := *f
	want.Better, want.Kind, want.Samples, want.Notes = true, "affine", 2500, nil
	same(t, "the fitted decoder", want, *f, cmpopts.EquateEmpty())
	same(t, "the number of kinds", 5, len(f.Kinds))
	must.Within(t, "its error in levels", f.Error*63/1.8, 1.304, 1.324)
	must.Within(t, "its error", f.Error, f.Interval[0], f.Interval[1])
	must.Within(t, "its gain", f.Gain, 2*f.GainSE, f.BaselineErr)
	must.Within(t, "baseline − error − gain", f.BaselineErr-f.Error-f.Gain, -1e-12, 1e-12)
	says(t, s.Fit.Verdict, "The network's best decoder is a fitted affine decoder (mean): on samples that it was not "+
		"fitted to, it is wrong by 0.037")
	fitted := 0
	for _, r := range s.Fit.Decoders {
		if r.Code == "b2jdj" && r.Decoder == "fitted" {
			fitted++
			want := r
			want.Observed = f.Error
			same(t, "its row", want, r, nearly)
		}
	}
	same(t, "rows of fitted decoders", 1, fitted)
	var file bytes.Buffer
	must.Succeed(t, s.Decoder.Write(&file))
	path := filepath.Join(t.TempDir(), "d.npz")
	must.Succeed(t, os.WriteFile(path, file.Bytes(), 0o600))
	o.Outputs = fittedExample + "more.npy"
	got, stored := labels(t, o, path), labels(t, o, fittedExample+"decoder.npz")
	for i, v := range got { // as far as processors agree
		if math.Abs(v-stored[i]) > 1e-6 || v < 2.5 || v > 4.3 {
			t.Fatalf("sample %d is %v, want %v", i+1, v, stored[i])
		}
	}
	checkColumns(t, o, path, got)
}

// TestDecode: labels of a fitted decoder and of a named one are in the unit of the range, or levels.
func TestDecode(t *testing.T) {
	const path = fittedExample + "decoder.npz"
	o := Options{Outputs: fittedExample + "more.npy", Levels: 64, Temperature: 1, Decoders: decode.Builtin()}
	own := labels(t, o, path)
	o.Range = LabelRange{Lo: 1, Hi: 64}
	inLevels := labels(t, o, path)
	o.Code, o.Range = "b2jdj", LabelRange{}
	named := labels(t, o, "gen-ex")
	o.Range = LabelRange{Lo: 0, Hi: 126}
	doubled := labels(t, o, "gen-ex")
	far := 0
	for i, v := range inLevels {
		if math.Abs((v-1)/63*1.8+2.5-own[i]) > 1e-9 || math.Abs(doubled[i]-2*(named[i]-1)) > 1e-9 {
			t.Fatalf("sample %d: %v and %v, %v and %v", i+1, v, own[i], named[i], doubled[i])
		}
		if math.Abs(named[i]-v) > 8 {
			far++
		}
	}
	if far > 30 {
		t.Errorf("%d of 300 labels of gen-ex are far from the fitted ones", far)
	}
	must.Refused(t, Decode(t.Context(), Options{Outputs: "bits:" + o.Outputs}, path, 0, io.Discard, "csv", nil, nil),
		"the decoder reads logits or probabilities, and these outputs are bits")
}

// checkColumns: with a confidence, decode writes the same labels, between their ends, and the same
// numbers in both formats.
func checkColumns(t *testing.T, o Options, decoder string, labels []float64) {
	t.Helper()
	confidence, folder := 0.9, t.TempDir()
	o.Confidence = &confidence
	var all [2]*mat.Dense
	for i, format := range []string{"npy", "csv"} {
		var b bytes.Buffer
		must.Succeed(t, Decode(t.Context(), o, decoder, 2, &b, format, nil, nil))
		content, headed := strings.CutPrefix(b.String(), "label,lower,upper\n")
		if headed != (format == "csv") {
			t.Errorf("%.40q", b.String())
		}
		path := filepath.Join(folder, "l."+format)
		must.Succeed(t, os.WriteFile(path, []byte(content), 0o600))
		all[i] = must.Get(arrayfile.ReadFile(path))(t)
	}
	if !mat.Equal(all[0], all[1]) {
		t.Error("the formats differ")
	}
	for i, v := range labels {
		if row := all[0].RawRowView(i); row[0] != v || !(row[1] < v && v < row[2]) {
			t.Fatalf("sample %d: %v, want the label %v", i+1, row, v)
		}
	}
	must.Refused(t, Decode(t.Context(), o, "gen", 2, io.Discard, "npy", nil, nil), "the decoder gen has no calibration")
}

// labels decodes outputs into a file, and reads it.
func labels(t *testing.T, o Options, decoder string) []float64 {
	t.Helper()
	var text, array bytes.Buffer
	path := filepath.Join(t.TempDir(), "labels.npy")
	for format, b := range map[string]*bytes.Buffer{"csv": &text, "npy": &array} {
		must.Succeed(t, Decode(t.Context(), o, decoder, 2, b, format, nil, nil))
	}
	must.Succeed(t, os.WriteFile(path, array.Bytes(), 0o600))
	out := mat.Col(nil, 0, must.Get(arrayfile.ReadFile(path))(t))
	if lines := strings.Count(text.String(), "\n"); len(out) != 300 || lines != 300 {
		t.Fatalf("%d labels and %d lines for 300 samples", len(out), lines)
	}
	return out
}

// TestErrorQuantiles: of 65 levels two share a row, and the last one stands alone; errors are in the
// unit of the targets.
func TestErrorQuantiles(t *testing.T) {
	n := seenNetwork(t, "unary", 65, nil, 0, 0)
	n.source.Labels = observed.Labels{Levels: 65, Real: true, Lo: 0, Hi: 256}
	n.decodings = []observed.Decoding{observed.Prediction()}
	spreads := make([]observed.Spread, 33)
	for i := range spreads {
		for range 100 {
			spreads[i].Add(0.5)
		}
	}
	n.seen.Spreads, n.seen.Labels = [][]observed.Spread{spreads}, make([]observed.Error, 1)
	got := errorQuantiles(n)
	all := Quantiles{2, 2, 2}
	must.Equal(t, "of all", all, got.Quantiles, cmpopts.EquateApprox(1e-9, 0))
	must.Equal(t, "the last rows", []LevelQuantiles{{63, 64, 100, all}, {65, 65, 100, all}}, got.Rows[31:],
		cmpopts.EquateApprox(1e-9, 0))
}

// TestProbabilities: what fit judges is what decode writes: probabilities that add up to 1, of unary
// bits trained one by one by bel-u and else by gen-ex; quantiles are labels of theirs; and the best
// decoder of hard bits has none.
func TestProbabilities(t *testing.T) {
	o := small(t)
	o.Range = LabelRange{Lo: 10, Hi: 80}
	targets := must.Get(arrayfile.ReadFile(o.Targets))(t)
	targets.Apply(func(_, _ int, v float64) float64 { return 10 * v }, targets)
	o.Targets = save(t, filepath.Join(t.TempDir(), "y.npy"), targets)
	z := must.Get(arrayfile.ReadFile(o.Outputs))(t)
	n, m := z.Dims()
	z.Apply(func(_, _ int, v float64) float64 { return math.Copysign(1, v) }, z)
	hard := o
	hard.Outputs = save(t, filepath.Join(t.TempDir(), "z.npy"), z)
	if p := judge(t, hard).Fit.Probabilities; p != nil {
		t.Errorf("bits have probabilities: %+v", p)
	}
	decoded := func(decoder string) *mat.Dense {
		file := filepath.Join(t.TempDir(), "out.npy")
		out := must.Get(os.Create(file))(t)
		must.Succeed(t, errors.Join(Decode(t.Context(), o, decoder, 1, out, "npy", nil, func(string) {}), out.Close()))
		return must.Get(arrayfile.ReadFile(file))(t)
	}
	for training, decoder := range map[head.Training]string{head.BCE: "bel-u", head.CE: "gen-ex"} {
		o.Training = training
		f := judge(t, o).Fit
		p, quantiles, means := decoded("probabilities:"+decoder), decoded("quantiles:0.25,0.5:"+decoder), decoded("gen-ex")
		crps := 0.0
		for i := range n {
			row, upto, mean := p.RawRowView(i), 0.0, 0.0
			for k, v := range row {
				label := 10 * float64(k+1)
				mean += v * label
				if at := quantiles.At(i, 1); v > 0 && (upto < 0.5-1e-6) != (label <= at) {
					t.Fatalf("sample %d: the median is %v of %v", i, at, row)
				}
				if upto += v; k < m {
					above := 0.0
					if targets.At(i, 0) <= label {
						above = 1
					}
					crps += 10 * (upto - above) * (upto - above)
				}
			}
			if floats.Min(row) < 0 || math.Abs(upto-1) > 1e-10 {
				t.Fatalf("sample %d: %v", i, row)
			}
			if decoder == "gen-ex" && math.Abs(mean-means.At(i, 0)) > 1e-9 {
				t.Fatalf("sample %d: mean %v, gen-ex %v", i, mean, means.At(i, 0))
			}
		}
		if got := f.Probabilities; got == nil || got.Decoder != decoder || math.Abs(got.CRPS-crps/float64(n)) > 1e-10 {
			t.Errorf("%s: %+v, want CRPS %v", decoder, got, crps/float64(n))
		}
	}
	for decoder, of := range map[string]Options{"probabilities": hard, "probabilities:gen": o} {
		err := Decode(t.Context(), of, decoder, 1, io.Discard, "csv", nil, func(string) {})
		says(t, must.Text(err), "no probabilities of levels")
	}
	same(t, "decoder by itself", decoded("probabilities:bel-u"), decoded("probabilities"))
}

// round has the options of a network on a circle of 0 to 360 degrees, with its targets and outputs.
func round(t *testing.T, name string, levels int, y, z mat.Matrix) Options {
	t.Helper()
	dir := t.TempDir()
	return Options{Code: name, Levels: levels, Circular: true, Range: LabelRange{Lo: 0, Hi: 360}, Temperature: 1,
		Targets: save(t, filepath.Join(dir, "y.npy"), y), Outputs: save(t, filepath.Join(dir, "z.npy"), z),
		Decoders: decode.Builtin()}
}

// TestSeam: a softmax head that is wrong by 4 degrees over the seam, either way, is wrong by 4 degrees,
// and targets beyond the range go round.
func TestSeam(t *testing.T) {
	y, z := mat.NewDense(400, 1, nil), mat.NewDense(400, 90, nil) // levels are 4 degrees apart
	for i := range 400 {
		level := i % 90
		y.Set(i, 0, float64(4*level)+360*float64(i%3-1))
		answer := level + 1 - 2*(i%2)
		for n := range 90 { // as near to the answer on either side
			z.Set(i, n, -3*math.Abs(math.Remainder(float64(n-answer), 90)))
		}
	}
	f := judge(t, round(t, "softmax", 90, y, z)).Fit
	for _, row := range f.Decoders {
		if row.Outputs == decode.Logits {
			must.Within(t, row.Decoder, row.Observed, 4-1e-9, 4+1e-9)
		}
	}
	same(t, "the width of a level", 4.0, f.LevelWidth)
	same(t, "rows of logits", 3, len(f.Decoders))
}

// TestAngles: angles that are read on a line are told to lie on a circle, and those that are read so are not.
func TestAngles(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	y, z := mat.NewDense(1000, 1, nil), mat.NewDense(1000, 60, nil) // levels are 6 degrees apart
	for i := range 1000 {
		y.Set(i, 0, 360*rng.Float64())
		answer := y.At(i, 0)/6 + 3*rng.NormFloat64()
		for n := range 60 {
			off := math.Remainder(float64(n)-answer, 60) / 3
			z.Set(i, n, -off*off/2)
		}
	}
	o := round(t, "softmax", 60, y, z)
	same(t, "findings on a circle", 0, len(judge(t, o).Fit.Findings))
	o.Circular = false
	says(t, judge(t, o).Fit.Verdict, "one point, as angles have them", "--circular")
}

// turning is a network of the cyclic code of 2M levels, whose labels and outputs are turned by so many
// levels: J(v+1) is J(v) one bit further, with the first bit reversed at its end.
func turning(t *testing.T, by int) Options {
	t.Helper()
	const m, samples = 16, 1500
	rng := rand.New(rand.NewPCG(3, 5))
	y, z := mat.NewDense(samples, 1, nil), mat.NewDense(samples, m, nil)
	c := must.Get(code.New("johnson", 2*m))(t)
	for i := range samples {
		place := 2 * m * rng.Float64()
		y.Set(i, 0, math.Mod(place+float64(by), 2*m)*360/(2*m))
		seen := int(math.Round(place+1.2*rng.NormFloat64())+4*m) % (2 * m)
		row := make([]float64, m)
		for k := range row {
			row[k] = 4*c.Value(seen, k) - 2 + rng.NormFloat64()
		}
		for range by {
			row = append(row[1:], -row[0])
		}
		z.SetRow(i, row)
	}
	return round(t, "johnson", 2*m, y, z)
}

// TestTurned: where labels and the outputs of a cyclic code are turned, the errors of decoders of logits
// and the mixture are as they were. Intervals hold 90 % of the
// targets to five standard errors, and those that pass the seam, which rest on the same residuals, do so
// as well.
func TestTurned(t *testing.T) {
	o := turning(t, 0)
	o.FitDecoder = true
	first := judge(t, o)
	for _, by := range []int{5, 27} {
		f := judge(t, turning(t, by)).Fit
		for i, row := range f.Decoders {
			if row.Outputs == decode.Logits {
				must.Within(t, row.Decoder, row.Observed/first.Fit.Decoders[i].Observed, 1-1e-12, 1+1e-12)
			}
		}
		must.Within(t, "r", f.R/first.Fit.R, 1-1e-9, 1+1e-9)
		must.Within(t, "σ", f.Sigma/first.Fit.Sigma, 1-1e-9, 1+1e-9)
	}
	var file bytes.Buffer
	must.Succeed(t, first.Decoder.Write(&file))
	path := filepath.Join(t.TempDir(), "d.npz")
	must.Succeed(t, os.WriteFile(path, file.Bytes(), 0o600))
	confidence := 0.9
	o.Confidence, o.Range = &confidence, LabelRange{}
	var b bytes.Buffer
	must.Succeed(t, Decode(t.Context(), o, path, 2, &b, "npy", nil, nil))
	must.Succeed(t, os.WriteFile(path+".npy", b.Bytes(), 0o600))
	labels, targets := must.Get(arrayfile.ReadFile(path+".npy"))(t), must.Get(arrayfile.ReadFile(o.Targets))(t)
	held, seam, seamHeld, sum := 0.0, 0.0, 0.0, 0.0
	samples, _ := labels.Dims()
	for i := range samples {
		label, lower, upper := labels.At(i, 0), labels.At(i, 1), labels.At(i, 2)
		if !(label >= 0 && label < 360 && lower <= label && label <= upper && upper-lower <= 360) {
			t.Fatalf("sample %d: %v in %v to %v", i+1, label, lower, upper)
		}
		off, inside := math.Remainder(targets.At(i, 0)-label, 360), 0.0
		if sum += math.Abs(off); label+off >= lower && label+off <= upper {
			inside = 1
		}
		if held += inside; lower < 0 || upper >= 360 {
			seam, seamHeld = seam+1, seamHeld+inside
		}
	}
	n := float64(samples)
	must.Within(t, "the coverage", held/n, 0.9-5*0.3/math.Sqrt(n), 0.9+5*0.3/math.Sqrt(n))
	must.Within(t, "that over the seam", seamHeld/seam, 0.9-5*0.3/math.Sqrt(seam), 1)
	must.Within(t, "the error", sum/n/first.Fit.Fitted.Error, 0.9, 1.1)
	i := first.Fit.Fitted.Intervals
	must.Within(t, "the coverage that was judged", i.Coverage, 0.9-5*i.CoverageSE, 0.9+5*i.CoverageSE)
}

// TestCircleRefuses: what knows no circle refuses it, in a sentence.
func TestCircleRefuses(t *testing.T) {
	o := turning(t, 0)
	values := o
	values.Range.Values = make(code.Values, o.Levels)
	for i := range values.Range.Values {
		values.Range.Values[i] = float64(i * i)
	}
	refuses(t, values, "levels on a circle are even: want ")
}
