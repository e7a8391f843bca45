package assess

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

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
	// The other network knows the label better, and has fewer bits.
	gray := must.Get(code.New("gray", 64))(t)
	targets := must.Get(arrayfile.ReadFile(o.Targets))(t)
	rng, z := rand.New(rand.NewPCG(1, 1)), mat.NewDense(2500, 6, nil)
	for i := range 2500 {
		level := min(max(int(math.Round((targets.At(i, 0)-2.5)/1.8*63+0.8*rng.NormFloat64())), 0), 63)
		for k := range 6 {
			sign := -1.0
			if gray.Bit(level, k) {
				sign = 1
			}
			z.Set(i, k, sign*(2+0.5*rng.NormFloat64()))
		}
	}
	o.Others = []Other{{Code: "gray", Outputs: save(t, filepath.Join(t.TempDir(), "gray.npy"), z)}}
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
			want.Network, want.Observed = 1, f.Error
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
	err := Decode(t.Context(), Options{Outputs: "bits:" + o.Outputs}, path, 0, io.Discard, "csv", nil, nil)
	if err == nil {
		t.Error("bits were decoded by a decoder of logits")
	} else {
		says(t, err.Error(), "the decoder reads logits or probabilities, and these outputs are bits")
	}
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
	if err := Decode(t.Context(), o, "gen", 2, io.Discard, "npy", nil, nil); err == nil ||
		!strings.Contains(err.Error(), "the decoder gen has no calibration") {
		t.Error(err)
	}
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
