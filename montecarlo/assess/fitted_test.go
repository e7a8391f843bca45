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

// TestFitDecoder: the fit of the example network has a fitted decoder that is better, the verdict says
// so, and several networks get one each.
func TestFitDecoder(t *testing.T) {
	ctx := context.Background()
	o := assess.Options{
		Code: "b2jdj", Levels: 64, Targets: fittedExample + "targets.npy", Outputs: fittedExample + "outputs.npy", Range: assess.LabelRange{Lo: 2.5, Hi: 4.3},
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
	if !f.Better || f.Kind != "affine" || f.Samples != 2500 || math.Abs(f.Error*63/1.8-1.314) > 0.01 || f.Gain < 2*f.GainSE || f.Interval[0] >= f.Error || len(f.Kinds) != 3 || len(f.Notes) != 0 {
		t.Errorf("%+v", f)
	}
	if text := s.Opening[0]; !strings.HasPrefix(text, "The network's best decoder is a fitted affine decoder (mean): on samples that it was not fitted to, it is wrong by 0.037") {
		t.Error(text)
	}
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
	if err := assess.Decode(ctx, assess.Options{Outputs: "bits:" + fittedExample + "more.npy"}, path, 0, io.Discard, "csv", nil, nil); err == nil || !strings.Contains(err.Error(), "the decoder reads logits or probabilities, and these outputs are bits") {
		t.Errorf("bits for a decoder of logits: %v", err)
	}

	// Each network has one.
	fitted := 0
	for _, r := range s.Fit.Networks {
		if r.Code == "b2jdj" && strings.HasPrefix(r.Decoder, "a fitted affine") {
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
