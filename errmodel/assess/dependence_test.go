package assess

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/forecast"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
)

// TestOneHot: bits of one-hot that were trained by themselves are zero in every sample, and their
// logits tell the level.
func TestOneHot(t *testing.T) {
	for _, levels := range []int{8, 16} {
		d := easy
		d.code, d.levels = "onehot", levels
		s := judge(t, d.save(t, t.TempDir(), "z"))
		if says(t, s.Fit.Verdict, "best decoder is"); len(s.Fit.Dead) != 0 || strings.Contains(s.Fit.Verdict, "guess") {
			t.Errorf("%d levels: %q, dead %v", levels, s.Fit.Verdict, s.Fit.Dead)
		}
	}
}

// TestMistaken: outputs and targets that stand in another way than the code's are told so, and
// those that stand as they should are not.
func TestMistaken(t *testing.T) {
	negated := func(z []float64) { floats.Scale(-1, z) }
	const inverted, reversed, turned = "The outputs are inverted", "The levels are reversed", "The columns stand in reverse order"
	for i, tt := range []struct {
		code     string
		change   func(z []float64)
		reversed bool // the levels
		want     string
	}{
		// by turns two noises
		{"johnson", negated, false, inverted}, {"hadamard", negated, false, inverted},
		{"gray", negated, false, inverted}, {"onehot", slices.Reverse[[]float64], false, reversed},
		{"gray", nil, true, reversed}, {"b1jdj", nil, true, reversed}, {"unary", nil, true, inverted},
		{"unary", slices.Reverse[[]float64], false, turned}, // the number of ones is right
		{"b1jdj", nil, false, ""}, {"gray", nil, false, ""}, {"b1jdj", nil, false, ""}, {"hadamard", nil, false, ""},
		{"gray", nil, false, ""}, {"hadamard", nil, false, ""},
	} {
		d := easy
		d.code, d.change, d.noise = tt.code, tt.change, []float64{0.9, 1.5}[i%2]
		o := d.save(t, t.TempDir(), "z")
		if tt.reversed {
			y := d.targets()
			y.Apply(func(_, _ int, v float64) float64 { return float64(d.levels+1) - v }, y)
			o.Targets = save(t, o.Targets, y)
		}
		text := judge(t, o).Fit.Verdict
		says(t, text, tt.want)
		if strings.Contains(text, "once that is mended") != (tt.want != "") {
			t.Errorf("%s, noise %v: %q, want %q", tt.code, d.noise, text, tt.want)
		}
	}
}

// TestMoved: a column that stands elsewhere is no dead one: whose bit it tells is said.
func TestMoved(t *testing.T) {
	d := easy
	d.code = "unary"
	d.change = func(z []float64) { z[0], z[14] = z[14], z[0] }
	text := judge(t, d.save(t, t.TempDir(), "z")).Fit.Verdict
	if says(t, text, "read like bits", "Next: check the order of the columns"); strings.Contains(text, "dead") {
		t.Errorf("%q", text)
	}
}

// TestShuffled: an output of several, and another network, whose samples are in another order than
// the targets are told so.
func TestShuffled(t *testing.T) {
	dir := t.TempDir()
	o, unary := easy.save(t, dir, "z"), easy
	unary.code = "unary"
	z := must.Get(arrayfile.ReadFile(unary.save(t, dir, "unary").Outputs))(t)
	n, columns := z.Dims()
	other := mat.NewDense(n, columns, nil)
	for i, j := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		other.SetRow(i, z.RawRowView(j))
	}
	shuffled := save(t, filepath.Join(dir, "shuffled.npy"), other)
	o.Others = []Other{{Code: "unary", Outputs: shuffled}}
	whole := judge(t, o)
	says(t, whole.Fit.Verdict, "shuffled.npy is left out of the forecasts: the error is that of guessing")
	if last := whole.Fit.Decoders[len(whole.Fit.Decoders)-1]; last.Network != 2 || last.Known {
		t.Errorf("forecasts rest on %+v", last)
	}
	if !whole.Fit.Perceived.Describes {
		t.Errorf("%+v", whole.Fit.Perceived)
	}
	o.Others[0].Outputs = filepath.Join(dir, "unary.npy")
	if text := judge(t, o).Fit.Verdict; strings.Contains(text, "is left out") {
		t.Errorf("%q", text)
	}
	o.Code, o.Outputs, o.Others = "unary", shuffled, nil
	text := strings.Join(NewSeveral([]*Report{whole, judge(t, o)}).Verdict, " ")
	says(t, text, "Output 2: the error is that of guessing", "check the order of samples", "describes 1 of the 2 outputs")
	if strings.Contains(text, "Output 1:") {
		t.Errorf("%q", text)
	}
}

// TestJudge: what is close to the model, and what is far.
func TestJudge(t *testing.T) {
	for distance, want := range map[float64]string{2.9: "behaves as if", 3.1: "does not behave"} {
		var p PerceivedFit
		p.judge(&forecast.Comparison{Distance: distance})
		if p.Describes != (distance < 3) || !strings.HasPrefix(p.Verdict, "The network "+want) {
			t.Errorf("%v: %+v", distance, p)
		}
	}
}

// TestCurve: profiles have the curve of the model that describes the network, and where the data
// reject the label, the mixture's.
func TestCurve(t *testing.T) {
	d := easy
	o := d.save(t, t.TempDir(), "z")
	o.Bits = []int{1, 2, 3, 4, 5, 6, 7, 8}
	r := judge(t, o)
	says(t, r.Fit.Curve, "one noisy label")
	// Their means are the rates of the model by transitions, over the same prior.
	sums, bits := map[int]float64{}, map[int]float64{}
	for k, p := range r.Fit.Profiles {
		transitions := len(r.network.transitions[k])
		bits[transitions]++
		sums[transitions] += floats.Dot(r.Fit.smoothed(), p.Fitted)
	}
	for _, rate := range r.Fit.Perceived.Rates {
		if got := sums[rate.Transitions] / bits[rate.Transitions]; math.Abs(got-rate.Model) > 1e-12 {
			t.Errorf("%d transitions: the curves have the mean %v, the model %v", rate.Transitions, got, rate.Model)
		}
	}
	d.change = func(z []float64) { floats.Scale(0.05, z) }
	f := judge(t, d.save(t, t.TempDir(), "z")).Fit
	if says(t, f.Curve, "Gaussian mixture: r = "); len(f.Profiles[0].Fitted) == 0 {
		t.Error("no curve")
	}
}
