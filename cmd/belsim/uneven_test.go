package main

import (
	"context"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/assess"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
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
	t.Chdir(t.TempDir())
	_, _, network := smallNetwork(t)
	v := make([]float64, 16)
	for i := range v {
		v[i] = 2.5 + float64(i)*1.8/15
	}
	writeColumn(t, "even.csv", v...)
	var printed, decoder, labels [2]string
	for i, values := range []string{"2.5:4.3", "even.csv"} {
		args := slices.Clone(network)
		args[slices.Index(args, "--range")+1] = values
		printed[i] = mustRun(t, append(args, "--fit-decoder", "-o", "d.npz")...)
		mustRun(t, "decode -q --decoder gen-ex --code johnson --levels 16 --outputs z.npy -o l.csv --range "+values)
		decoder[i], labels[i] = content(t, "d.npz"), content(t, "l.csv")
	}
	if printed[0] != printed[1] || decoder[0] != decoder[1] || labels[0] != labels[1] {
		t.Errorf("fit prints\n%s\nwith a range, and with its values\n%s", printed[0], printed[1])
	}
}

// TestUnevenValues: what commands say of levels that are not even, against sums over what decode
// writes.
func TestUnevenValues(t *testing.T) {
	inFolderWithData(t)
	y, _, network := smallNetwork(t)
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
	}
	mustRun(t, "decode -q --decoder d.npz --outputs "+outputs+" --confidence 0.9 -o i.npy")
	own := readColumn(t, "d.npz:values") // v, or with an offset
	if all := readColumn(t, "i.npy"); slices.Min(all) < own[0] || slices.Max(all) > own[15] {
		t.Error("intervals leave the labels of the levels")
	}
}

// TestSpacings: the files of levels have the values that are chosen. Package assess tests these.
func TestSpacings(t *testing.T) {
	t.Chdir(t.TempDir())
	var y []float64
	for i := range 10000 { // of a long tail, with many zeros
		y = append(y, max(0, math.Exp(3*float64(i)/10000)-2))
	}
	writeColumn(t, "long.csv", y...)
	var s assess.Spacings
	runJSON(t, &s, "levels --targets long.csv --levels 8 --baseline 0.5 -o v.csv -o v.npy -o v.png")
	for _, r := range s.Results {
		want := r
		want.Quantization = quantization(y, r.Values)
		want.Forecast = math.Hypot(want.Quantization, 0.5)
		must.Equal(t, "row", want, r, cmpopts.EquateApprox(5e-10, 0))
	}
	if v := readColumn(t, "v.csv"); !slices.Equal(v, readColumn(t, "v.npy")) || !slices.Equal(v, s.Results[1].Values) ||
		!s.Results[1].Chosen {
		t.Errorf("%v, want %v", v, s.Results[1].Values)
	}
	mustRun(t, "levels --targets long.csv --levels 8 --baseline 50 --range 0:20 -o v.csv")
	if v := readColumn(t, "v.csv"); v[7] != 20 || v[1] != 20./7 {
		t.Errorf("%v, want even levels", v)
	}
}
