package assess

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/fitdecoder"
	"belsim/errmodel/forecast"
	"belsim/errmodel/observed"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// TestDirectText: a network is better or worse than direct regression where 1.96 standard errors
// tell them apart.
func TestDirectText(t *testing.T) {
	for direct, want := range map[float64]string{1.2: "better", 1.19: "not told apart", 0.81: "not told apart", 0.8: "worse"} {
		n := seenNetwork(t, "unary", 8, []uint64{9, 0, 0, 0, 0, 0, 0, 9}, 0, 0)
		n.source.Labels.Levels, n.options.Baseline.Error = 8, direct
		f := &Fit{LevelWidth: 1, Decoders: []DecoderRow{{Network: 1, Observed: 1, StdErr: 0.1}}}
		f.Direct = must.Get(f.besideDirect(n))(t)
		if got := f.directText(); !strings.Contains(got, "this network is "+want) {
			t.Errorf("direct regression %v: %q, want %q", direct, got, want)
		}
	}
	for text, want := range map[string]Baseline{"": {}, "0.5": {Error: 0.5}, "d.npz:x": {File: "d.npz:x"}} {
		must.Equal(t, text, want, must.Get(ParseBaseline(text))(t))
	}
	for _, text := range []string{"0", "-1", "NaN", "Inf"} {
		if _, err := ParseBaseline(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

// TestPaired: predictions of direct regression are compared by sample. They err with the network,
// so the difference is known far better than each error. Those outside of the range count as they
// are, and what clipping them gives is said beside it.
func TestPaired(t *testing.T) {
	folder := t.TempDir()
	o := easy.save(t, folder, "z")
	f := recommended(t).Fit
	best := f.Decoders[bestDecoder(f.Decoders)]
	labels := labelsOf(t, o, best.Decoder, best.Outputs == "logits")
	y, direct := easy.targets(), mat.NewDense(easy.samples, 1, nil)
	for _, tt := range []struct {
		file string
		off  float64 // of the prediction, from the network's answer towards the target
		want string
	}{
		{"same.npy", 0, "not told apart from it: as much error (standard error 0 %, paired by sample)."}, {"nearer.npy", 0.05, "worse: "},
		{"nearer.csv", 0.05, "worse: "}, {"further.npy", -0.05, "better: "},
	} {
		sum, clipped, outside := 0.0, 0.0, uint64(0)
		for i, v := range labels {
			x := v + tt.off*(y.At(i, 0)-v)
			clipped += math.Abs(min(max(x, 1), 16) - y.At(i, 0))
			if x == 1 && tt.file == "further.npy" {
				x, outside = -3, outside+1
			}
			sum += math.Abs(x - y.At(i, 0))
			direct.Set(i, 0, x)
		}
		o.Baseline.File = filepath.Join(folder, tt.file)
		if filepath.Ext(tt.file) == ".csv" {
			f := must.Get(os.Create(o.Baseline.File))(t)
			must.Succeed(t, errors.Join(arrayfile.WriteCSV(t.Context(), f, direct), f.Close()))
		} else {
			save(t, o.Baseline.File, direct)
		}
		f := judge(t, o).Fit
		says(t, f.Verdict, tt.want)
		mean, d := sum/float64(len(labels)), f.Direct
		want := *d
		want.Error, want.Difference, want.Told, want.Outside = mean, d.Network-d.Error, tt.off != 0, nil
		if outside > 0 {
			want.Outside = &observed.Outside{Count: outside, Error: mean, Clipped: clipped / float64(len(labels))}
		}
		same(t, tt.file, want, *d, nearly)
		must.Within(t, tt.file+": the standard error of the difference", d.DifferenceErr, -1, d.StdErr)
	}
	o.Baseline.File, o.FitDecoder = filepath.Join(folder, "same.npy"), true
	d := judge(t, o).Fit.Direct
	want := *d
	want.Difference, want.Decoder = d.Network-d.Error, "fitted"
	same(t, "the fitted decoder", want, *d, nearly)
	must.Within(t, "the standard error of its difference", d.DifferenceErr, 0, d.StdErr)
	o.FitDecoder = false
	column := func(n int, first ...float64) []float64 { return append(first, make([]float64, n-len(first))...) }
	for k, rows := range [][]float64{column(2), column(easy.samples + 1), column(easy.samples, 1, 2, math.NaN()),
		column(easy.samples, math.Inf(1)), column(easy.samples, 1, 1e300), column(easy.samples)} { // zeros are no levels
		o.Baseline.File = save(t, filepath.Join(folder, "wrong.npy"), mat.NewDense(len(rows), 1, rows))
		refuses(t, o, "wrong.npy")
		if k < 2 {
			o.Baseline.File = filepath.Join(folder, "wrong.csv")
			must.Succeed(t, os.WriteFile(o.Baseline.File, []byte(strings.Repeat("1\n", len(rows))), 0o600))
			refuses(t, o, "wrong.csv")
		}
	}
	o.Baseline.File = save(t, filepath.Join(folder, "wide.npy"), mat.NewDense(easy.samples, 2, nil))
	refuses(t, o, "want one prediction for each sample")
}

// labelsOf are the answers of a decoder.
func labelsOf(t *testing.T, o Options, name string, logits bool) []float64 {
	t.Helper()
	c := must.Get(code.New(o.Code, o.Levels))(t)
	d := must.Get(o.Decoders.New(name, c, decode.Options{}))(t)
	z := must.Get(arrayfile.ReadFile(o.Outputs))(t)
	n, _ := z.Dims()
	sample := observed.NewSample(c.Bits(), decode.NewCorrelations(c))
	out := make([]float64, n)
	for i := range out {
		sample.Set(z.RawRowView(i))
		out[i] = sample.Label(observed.Decoding{Decoder: d, Soft: logits})
	}
	return out
}

// TestDecisionText says each decision, and the fitted decoder first where that gains more.
func TestDecisionText(t *testing.T) {
	const fitted, keep, train = "read this network with the fitted decoder", "keep johnson", "train "
	gain := func(gain float64, better bool) *Fitted {
		return &Fitted{Judgement: fitdecoder.Judgement{Better: better, Gain: gain, BaselineErr: 2}}
	}
	stay, next := forecast.Decision{Action: "stay", Ended: true}, forecast.Decision{Action: "train", Gain: 0.08, Better: 1}
	next.Design.Code, next.Design.Training, next.Design.Decoder = "unary", "bce", "gen"
	further := next
	further.Action, further.Gain = "stay", 0.06
	for _, tt := range []struct {
		d      forecast.Decision
		fitted *Fitted
		want   string
	}{
		{next, nil, train}, {next, gain(0.1, true), train}, {stay, nil, keep}, {stay, gain(0.0199, true), keep},
		{stay, gain(0.0201, true), fitted}, {stay, gain(0.1, false), keep}, {further, gain(0.1, true), fitted},
	} {
		if got := decisionText(&tt.d, tt.fitted, "johnson"); !strings.HasPrefix(got, tt.want) && (tt.want != keep ||
			!strings.Contains(got, keep) || strings.HasPrefix(got, fitted)) {
			t.Errorf("%+v: %q, want %q", tt.d, got, tt.want)
		}
	}
}
