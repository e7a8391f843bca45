package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/assess"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/code"
)

// writeColumn writes numbers as a .csv file.
func writeColumn(t *testing.T, path string, v ...float64) {
	t.Helper()
	f := must.Get(os.Create(path))(t)
	must.Succeed(t, arrayfile.WriteCSV(context.Background(), f, mat.NewDense(len(v), 1, v)))
	must.Succeed(t, f.Close())
}

// readColumn reads numbers.
func readColumn(t *testing.T, path string) []float64 {
	t.Helper()
	return must.Get(arrayfile.ReadFile(path))(t).RawMatrix().Data
}

// quantization is the mean distance of labels from the nearest value of a level.
func quantization(labels, values []float64) (mean float64) {
	for _, label := range labels {
		least := math.Inf(1)
		for _, v := range values {
			least = min(least, math.Abs(label-v))
		}
		mean += least / float64(len(labels))
	}
	return mean
}

// TestEvenValues: the label of each level, where these are even, gives the same digits as their
// range.
func TestEvenValues(t *testing.T) {
	inFolderWithData(t)
	_, _, network := smallNetwork(t)
	ends := slices.Index(network, "--range") + 1
	v := make([]float64, 16)
	for i := range v {
		v[i] = 2.5 + float64(i)*1.8/15
	}
	writeColumn(t, "even.csv", v...)
	with := func(values string) []string {
		out := slices.Clone(network)
		out[ends] = values
		if long {
			out = append(out, "--recommend")
		}
		return append(out, "--fit-decoder", "-o", values[:3]+".npz")
	}
	a, b := mustRun(t, with(network[ends])...), mustRun(t, with("even.csv")...)
	if a != b || content(t, network[ends][:3]+".npz") != content(t, "eve.npz") {
		t.Errorf("fit prints\n%s\nwith a range, and with its values\n%s", a, b)
	}
	outputs := network[slices.Index(network, "--outputs")+1]
	for _, decoder := range []string{"gen --code johnson --levels 16", "gen-ex --code johnson --levels 16",
		"bel-j --code johnson --levels 16", "eve.npz"} {
		for _, r := range []string{network[ends], "even.csv"} {
			mustRun(t, fmt.Sprintf("decode -q --decoder %s --outputs %s --range %s -o %s.csv", decoder,
				outputs, r, r[:3]))
		}
		if content(t, network[ends][:3]+".csv") != content(t, "eve.csv") {
			t.Errorf("decode with %s gives others", decoder)
		}
	}
}

// TestUnevenValues: what commands say of levels that are not even, against sums over what decode
// writes.
func TestUnevenValues(t *testing.T) {
	inFolderWithData(t)
	y, z, network := smallNetwork(t)
	ends := slices.Index(network, "--range") + 1
	v := make([]float64, 16)
	for i := range v {
		v[i] = 2.7 + 1.5*math.Pow(float64(i)/15, 1.3)
	}
	writeColumn(t, "v.csv", v...)
	network[ends] = "v.csv"
	outputs := network[slices.Index(network, "--outputs")+1]
	mustRun(t, append(slices.Clone(network), "--fit-decoder", "-o", "d.npz", "-o", "fit.json", "-o", "fit.html",
		"-o", "fit.png")...)
	f := must.Get(assess.Read("fit.json"))(t)
	beyond, q := 0, quantization(y.RawMatrix().Data, v)
	for _, label := range y.RawMatrix().Data {
		if label < v[0] || label > v[15] {
			beyond++
		}
	}
	if math.Abs(f.Quantization/q-1) > 1e-12 {
		t.Errorf("the nearest levels are wrong by %v, want %v", f.Quantization, q)
	}
	if int(f.Beyond) != beyond || beyond == 0 || !slices.Equal(f.Values, v) {
		t.Errorf("%d beyond, values %v; want %d and %v", f.Beyond, f.Values, beyond, v)
	}
	for _, d := range f.Decoders {
		if d.Outputs == "bits" && d.Decoder != "bel-j" || d.Decoder == "fitted" {
			continue // decode reads logits, and a fitted decoder from a file
		}
		mustRun(t, "decode -q --code johnson --range v.csv -o x.npy --outputs "+outputs+" --decoder "+d.Decoder)
		found, sum := readColumn(t, "x.npy"), 0.0
		for i, label := range found {
			sum += math.Abs(label - y.At(i, 0))
			if d.Decoder != "gen-ex" && !slices.Contains(v, label) {
				t.Fatalf("%s: %v is no label of a level", d.Decoder, label)
			}
		}
		if mean := sum / float64(len(found)); math.Abs(mean/d.Observed-1) > 1e-12 {
			t.Errorf("%s errs by %v in label units, and fit says %v", d.Decoder, mean, d.Observed)
		}
		if d.Decoder == "gen-ex" { // the mean of values
			c, weight, want := must.Get(code.New("johnson", 16))(t), 0.0, 0.0
			for n := range c.Levels() {
				s := 0.0
				for k := range c.Bits() {
					s += z.At(0, k) * c.Value(n, k)
				}
				weight, want = weight+math.Exp(s), want+math.Exp(s)*v[n]
			}
			if want /= weight; math.Abs(found[0]/want-1) > 1e-12 {
				t.Errorf("gen-ex gives %v, want %v", found[0], want)
			}
		}
	}
	mustRun(t, "decode -q --decoder d.npz --outputs "+outputs+" --confidence 0.9 -o i.npy")
	if all := readColumn(t, "i.npy"); slices.Min(all) < v[0] || slices.Max(all) > v[15] {
		t.Error("intervals leave the labels of the levels")
	}
}

// TestSpacings: levels made for targets. Half of them follow the quantiles, and a label that many
// share is one level.
func TestSpacings(t *testing.T) {
	inFolderWithData(t)
	var y []float64
	for i := range 10000 { // of a long tail, with many zeros
		y = append(y, max(0, math.Exp(3*float64(i)/10000)-2))
	}
	writeColumn(t, "long.csv", y...)
	var s assess.Spacings
	runJSON(t, &s, "levels --targets long.csv --levels 8,64 --baseline 0.5")
	must.Equal(t, "rows, targets, targets beyond", [3]int{4, 10000, 5}, [3]int{len(s.Results), s.Targets, s.Beyond})
	for i, r := range s.Results {
		if err := r.Values.Check(r.Levels); err != nil || r.Values[0] != s.Range[0] ||
			r.Values[r.Levels-1] != s.Range[1] {
			t.Errorf("%d levels, %s: %v, %v", r.Levels, r.Spacing, err, r.Values)
		}
		q := quantization(y, r.Values)
		want := r
		want.Quantization, want.Forecast = q, math.Hypot(q, 0.5)
		must.Equal(t, "row", want, r, cmpopts.EquateApprox(5e-10, 0))
		if i%2 == 1 && q >= s.Results[i-1].Quantization {
			t.Errorf("%d levels, %s: quantization %v, as large as even levels'", r.Levels, r.Spacing, q)
		}
		if slices.ContainsFunc(r.Values, func(v float64) bool { return v > 0 && v < 0.001 }) {
			t.Errorf("%d levels, %s: several at the label that many share: %v", r.Levels, r.Spacing, r.Values)
		}
	}
	mustRun(t, "levels --targets long.csv --levels 8 --baseline 0.5 -o v.csv -o v.npy -o v.png")
	if v := readColumn(t, "v.csv"); !slices.Equal(v, readColumn(t, "v.npy")) || !slices.Equal(v, s.Results[1].Values) ||
		!s.Results[1].Chosen {
		t.Errorf("%v, want %v", v, s.Results[1].Values)
	}
	mustRun(t, "levels --targets long.csv --levels 8 --baseline 50 --range 0:20 -o v.csv")
	if v := readColumn(t, "v.csv"); v[7] != 20 || v[1] != 20./7 {
		t.Errorf("%v, want even levels", v)
	}
}
