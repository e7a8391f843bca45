package assess_test

import (
	"bytes"
	"context"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/montecarlo"
	"belsim/montecarlo/assess"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

const fittedExample = "../../testdata/decoders/"

// TestFitDecoder: the fit of the example network has a fitted decoder that is better, the verdict
// says so, and several networks get one each.
func TestFitDecoder(t *testing.T) {
	ctx := context.Background()
	o := assess.Options{
		Code: "b2jdj", Levels: 64, Targets: fittedExample + "targets.npy", Outputs: fittedExample +
			"outputs.npy", Range: assess.LabelRange{Lo: 2.5, Hi: 4.3},
		Temperature: 1, Samples: 2, Seed: 1, Decoders: decode.Builtin(), FitDecoder: true,
	}
	// The other network knows the label better, and has fewer bits.
	gray := must.Get(code.New("gray", 64))(t)
	targets := must.Get(arrayfile.OpenRows(fittedExample + "targets.npy"))(t)
	defer targets.Close()
	rng := rand.New(rand.NewPCG(1, 1))
	z, y := mat.NewDense(2500, 6, nil), make([]float64, 1)
	for i := range 2500 {
		must.Succeed(t, targets.Next(y))
		level := min(max(int(math.Round((y[0]-2.5)/1.8*63+0.8*rng.NormFloat64())), 0), 63)
		for k := range 6 {
			sign := -1.0
			if gray.Bit(level, k) {
				sign = 1
			}
			z.Set(i, k, sign*(2+0.5*rng.NormFloat64()))
		}
	}
	var array bytes.Buffer
	must.Succeed(t, arrayfile.WriteNPY(ctx, &array, z))
	other := filepath.Join(t.TempDir(), "gray.npy")
	must.Succeed(t, os.WriteFile(other, array.Bytes(), 0o600))
	o.Others = []assess.Other{{Code: "gray", Outputs: other}}
	s := must.Get(assess.Run(ctx, o, scenario.Run{Backend: montecarlo.CPU{}}, nil))(t)
	f := s.Fit.Fitted
	if !f.Better || f.Kind != "affine" || f.Samples != 2500 || math.Abs(f.Error*63/1.8-1.314) > 0.01 ||
		f.Gain < 2*f.GainSE || f.Interval[0] >= f.Error || len(f.Kinds) != 3 || len(f.Notes) != 0 {
		t.Errorf("%+v", f)
	}
	if text := s.Opening[0]; !strings.HasPrefix(text,
		"The network's best decoder is a fitted affine decoder (mean): on samples that it was not fitted to, it is wrong by 0.037") {
		t.Error(text)
	}
	checkIntervals(t, s.Fit)
	var file bytes.Buffer
	must.Succeed(t, s.Decoder.Write(&file))
	// Its labels are those of the file that is kept, as far as processors agree.
	path := filepath.Join(t.TempDir(), "d.npz")
	must.Succeed(t, os.WriteFile(path, file.Bytes(), 0o600))
	o.Outputs = fittedExample + "more.npy"
	got, want := labels(t, o, path), labels(t, o, fittedExample+"decoder.npz")
	for i, v := range got {
		if math.Abs(v-want[i]) > 1e-6 || v < 2.5 || v > 4.3 {
			t.Fatalf("sample %d is %v, want %v", i+1, v, want[i])
		}
	}
	checkColumns(t, o, path, got)
	o.Range = assess.LabelRange{Lo: 1, Hi: 64}
	inLevels := labels(t, o, path)
	o.Code, o.Range = "b2jdj", assess.LabelRange{}
	named := labels(t, o, "gen-ex")
	o.Range = assess.LabelRange{Lo: 0, Hi: 126}
	doubled := labels(t, o, "gen-ex")
	far := 0
	for i, v := range inLevels {
		if math.Abs((v-1)/63*1.8+2.5-got[i]) > 1e-9 || math.Abs(doubled[i]-2*(named[i]-1)) > 1e-9 {
			t.Fatalf("sample %d: %v and %v, %v and %v", i+1, v, got[i], named[i], doubled[i])
		}
		if math.Abs(named[i]-v) > 8 {
			far++
		}
	}
	if far > 30 {
		t.Errorf("%d of 300 labels of gen-ex are far from the fitted ones", far)
	}
	if err := assess.Decode(ctx, assess.Options{Outputs: "bits:" + fittedExample + "more.npy"}, path, 0, io.Discard,
		"csv", nil, nil); err == nil ||
		!strings.Contains(err.Error(), "the decoder reads logits or probabilities, and these outputs are bits") {
		t.Errorf("bits for a decoder of logits: %v", err)
	}

	// Each network has one.
	fitted := 0
	for _, r := range s.Fit.Networks {
		if r.Code == "b2jdj" && r.Decoder == "fitted" {
			fitted++
			if !r.Best || r.Seeds != 1 || math.Abs(r.Observed-s.Fit.Fitted.Error) > 1e-9 {
				t.Errorf("%+v", r)
			}
		}
	}
	if fitted != 1 {
		t.Errorf("%d rows of fitted decoders in %+v", fitted, s.Fit.Networks)
	}
}

// checkIntervals: the numbers of a fit's intervals are those of its samples, in label units, and
// hold 0.9 within five standard errors.
func checkIntervals(t *testing.T, f *assess.Fit) {
	t.Helper()
	i := f.Fitted.Intervals
	inside, width, winkler, samples := 0.0, 0.0, 0.0, i.Samples(f)
	for _, x := range samples {
		if x.Lower < 2.5 || x.Upper > 4.3+1e-12 {
			t.Fatalf("%v to %v", x.Lower, x.Upper)
		}
		outside := max(x.Lower-x.Target, x.Target-x.Upper, 0)
		if outside == 0 {
			inside += 1. / 2500
		}
		width += (x.Upper - x.Lower) / 2500
		winkler += (x.Upper - x.Lower + 20*outside) / 2500
	}
	rows, held := uint64(0), 0.0
	for k, r := range i.Levels {
		if r.From > r.To || k > 0 && r.From != i.Levels[k-1].To+1 || r.Coverage < r.Interval[0] ||
			r.Coverage > r.Interval[1] || r.Samples < 100 {
			t.Errorf("%+v", r)
		}
		rows, held = rows+r.Samples, held+r.Coverage*float64(r.Samples)/2500
	}
	if len(samples) != 2500 || i.Calibration != 2500 || rows != 2500 || i.Levels[len(i.Levels)-1].To != 64 ||
		math.Abs(i.Coverage-0.9) > 5*i.CoverageSE ||
		max(math.Abs(inside-i.Coverage), math.Abs(held-i.Coverage), math.Abs(width-i.Width),
			math.Abs(winkler-i.Winkler)) > 1e-9 || i.Worst > i.Coverage || i.Winkler > i.Constant {
		t.Errorf("%+v; the samples have %v, %v and %v", i, inside, width, winkler)
	}
}

// checkColumns: with a confidence, decode writes the same labels, between their ends, and the same
// numbers in both formats.
func checkColumns(t *testing.T, o assess.Options, decoder string, labels []float64) {
	t.Helper()
	confidence, folder := 0.9, t.TempDir()
	o.Confidence = &confidence
	var all [2]*mat.Dense
	for i, format := range []string{"npy", "csv"} {
		var b bytes.Buffer
		must.Succeed(t, assess.Decode(t.Context(), o, decoder, 2, &b, format, nil, nil))
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
	if err := assess.Decode(t.Context(), o, "gen", 2, io.Discard, "npy", nil, nil); err == nil ||
		!strings.Contains(err.Error(), "the decoder gen has no calibration") {
		t.Error(err)
	}
}

// labels decodes outputs into a file, and reads it.
func labels(t *testing.T, o assess.Options, decoder string) []float64 {
	t.Helper()
	ctx := context.Background()
	var text, array bytes.Buffer
	path := filepath.Join(t.TempDir(), "labels.npy")
	for format, b := range map[string]*bytes.Buffer{"csv": &text, "npy": &array} {
		must.Succeed(t, assess.Decode(ctx, o, decoder, 2, b, format, nil, nil))
	}
	must.Succeed(t, os.WriteFile(path, array.Bytes(), 0o600))
	rows := must.Get(arrayfile.OpenRows(path))(t)
	defer rows.Close()
	n, _ := rows.Dims()
	out := make([]float64, n)
	for i := range out {
		must.Succeed(t, rows.Next(out[i:i+1]))
	}
	if lines := strings.Count(text.String(), "\n"); n != 300 || lines != n {
		t.Fatalf("%d labels and %d lines for 300 samples", n, lines)
	}
	return out
}
