package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/assess"
	"belsim/montecarlo/compare"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/code"
)

// fitOf runs a fit and reads its JSON.
func fitOf(t *testing.T, args ...string) *assess.Fit {
	t.Helper()
	f := &assess.Fit{}
	runJSON(t, f, args...)
	return f
}

// smallNetwork makes targets and logits of a network that knows a noisy label and has 16 levels of
// Johnson, and returns them and the arguments that fit them. A fit takes a tenth of the example's.
func smallNetwork(t *testing.T) (y, z *mat.Dense, args []string) {
	t.Helper()
	c := must.Get(code.New("johnson", 16))(t)
	const samples = 800
	random := rand.New(rand.NewPCG(1, 2))
	y, z = mat.NewDense(samples, 1, nil), mat.NewDense(samples, c.Bits(), nil)
	for i := range samples {
		level := 1 + 15*random.Float64()
		y.Set(i, 0, 2.5+(level-1)*1.8/15)
		noisy := level + random.NormFloat64()
		for k := range c.Bits() {
			weights := [2]float64{1e-6, 1e-6}
			for n := range c.Levels() {
				d, bit := noisy-float64(n+1), int(c.Value(n, k))
				weights[bit] += math.Exp(-d * d / 2)
			}
			z.Set(i, k, math.Log(weights[1]/weights[0]))
		}
	}
	return y, z, []string{"fit", "--code", "johnson", "--levels", "16", "--range", "2.5:4.3", "--targets",
		save(t, "y.npy", y), "--outputs", save(t, "z.npy", z)}
}

// save writes an array in the format of its name's ending.
func save(t *testing.T, path string, m mat.Matrix) string {
	t.Helper()
	f, write := must.Get(os.Create(path))(t), arrayfile.WriteNPY
	if strings.HasSuffix(path, ".csv") {
		write = arrayfile.WriteCSV
	}
	must.Succeed(t, errors.Join(write(t.Context(), f, m), f.Close()))
	return path
}

// TestFit reads back what is written.
func TestFit(t *testing.T) {
	t.Chdir(t.TempDir())
	_, _, args := smallNetwork(t)
	names := []string{"fit.json", "fit.csv", "fit.npy", "fit.png", "fit.svg", "fit.pdf", "fit.html"}
	all := slices.Clone(args)
	for _, name := range names {
		all = append(all, "-o", name)
	}
	f := fitOf(t, all...)
	want := *f
	want.Code, want.Levels, want.Bits, want.Samples, want.Outputs = "johnson", 16, 8, 800, "logits"
	want.Range, want.LevelWidth = &[2]float64{2.5, 4.3}, 1.8/15
	must.Equal(t, "fit", want, *f, cmpopts.EquateApprox(1e-15, 0), cmpopts.IgnoreUnexported(assess.Fit{}))
	decoders := ""
	for _, d := range f.Decoders {
		decoders += d.Decoder + "/" + string(d.Outputs) + " "
	}
	must.Equal(t, "decoders: all that fit, a new one too", "bel-j/bits gen/bits gen/logits gen-ex/logits ", decoders)
	for _, name := range names {
		if n := len(content(t, name)); n < 500 {
			t.Errorf("%s has %d bytes", name, n)
		}
	}
	page := content(t, "fit.html")
	if strings.Count(page, "<svg") != 3 || !strings.Contains(page, "belsim fit --code johnson") {
		t.Error("fit.html has not its three pictures and its command line")
	}
	rates := must.Get(arrayfile.ReadFile("fit.npy"))(t)
	rows := readCSV(t, "fit.csv")[1:]
	wrong := 0.0
	for i, row := range rows { // level,bit,target,samples,wrong,rate,lo,hi,fitted
		wrong += parse(t, row[4])
		want := row[5]
		if row[3] == "0" {
			want = row[8] // the model's
		}
		if got := fmt.Sprint(rates.At(i/8, i%8)); got != want {
			t.Fatalf("%s: the table has %s", row, got)
		}
	}
	if len(rows) != 16*8 || wrong != float64(f.WrongBits) {
		t.Errorf("%d rows, %v wrong outputs, want %d", len(rows), wrong, f.WrongBits)
	}
	mustRun(t, "compare johnson --levels 16 --errors fit.npy --samples 100")
	refused(t, "--bits 33: want 1 to 8, the bits of johnson", append(args, "-o", "again.png", "--bits", "7,33")...)
	again := fitOf(t, append(all, "--workers", "1")...)
	again.Command = f.Command
	if one, all := must.Get(table.JSON(again))(t), must.Get(table.JSON(f))(t); string(one) != string(all) {
		t.Errorf("on one processor: %s; on all %s", one, all)
	}
}

// TestModel has the other commands compute with a fit.
func TestModel(t *testing.T) {
	t.Chdir(t.TempDir())
	y, _, _ := smallNetwork(t)
	var levels mat.Dense
	levels.Apply(func(_, _ int, v float64) float64 { return math.Round((v-2.5)*15/1.8) + 1 }, y)
	save(t, "levels.npy", &levels)
	f := fitOf(t, "fit --code johnson --levels 16 --targets levels.npy --outputs z.npy -o fit.json")
	var c compare.Ranking
	runJSON(t, &c, "compare johnson unary --model fit.json --decoder auto --samples 500")
	for _, r := range c.Results {
		if r.Code == "johnson" && (math.Abs(float64(r.Exact/f.Mixture[0].Exact)-1) > 1e-12 ||
			r.Bound != f.Mixture[0].Bound) {
			t.Errorf("compare: exact %v, bound %v; fit: %v, %v", r.Exact, r.Bound, f.Mixture[0].Exact,
				f.Mixture[0].Bound)
		}
	}
	if *c.R != f.R || c.Levels != 16 {
		t.Errorf("r = %v, %d levels", *c.R, c.Levels)
	}
	if runJSON(t, &c, "compare johnson --model fit.json --samples 500"); c.Temperature != f.LogitScale {
		t.Errorf("τ = %v", c.Temperature)
	}
	mustRun(t, "verify --code johnson --model fit.json --samples 5000")
	prints(t, fmt.Sprintf("at the fit, r = %.4g and σ = %.4g", f.R, f.Sigma), "heatmap", "unary", "johnson", "--model",
		"fit.json", "--method", "exact", "--r", "0.5:2:6", "--sigma", "0.5:3:5", "-o", "map.svg")
}

// TestFitSeveral judges a network of three outputs, each of which has the example's bits.
func TestFitSeveral(t *testing.T) {
	inFolderWithData(t)
	y, z, alone := smallNetwork(t)
	n, m := z.Dims()
	targets := mat.NewDense(n, 3, nil)
	data := npyHead("<f4", fmt.Sprintf("%d, 3, %d", n, m))
	for i := range n {
		for k := range 3 {
			targets.Set(i, k, y.At(i, 0)*float64(k+1))
			for _, v := range z.RawRowView(i) {
				data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v)))
			}
		}
	}
	save(t, "y3.npy", targets)
	must.Succeed(t, os.WriteFile("z3.npy", data, 0o600))
	const args = "fit --code johnson --levels 16 --targets y3.npy --outputs z3.npy "
	const ranges = args + "--range 2.5:4.3 --range 5:8.6 --range 7.5:12.9 "
	var got assess.Several
	out := mustRun(t, ranges+"-o several.json -o several.html")
	readJSON(t, "several.json", &got)
	if page := content(t, "several.html"); strings.Count(page, "<svg") != 9 ||
		!strings.Contains(page, "<h1>output 3: johnson, 16 levels</h1>") {
		t.Error("several.html has not three pictures of each output: errors of bits, noise, and the PIT")
	}
	if !strings.HasPrefix(out, "The network has 3 outputs.") {
		t.Error(out)
	}
	want := fitOf(t, alone...)
	if len(got.Outputs) != 3 || len(got.Rows) != 3 {
		t.Fatalf("%d outputs and %d rows, want 3", len(got.Outputs), len(got.Rows))
	}
	for k, f := range got.Outputs {
		unit, row := float64(k+1), got.Rows[0]
		if math.Abs(f.Decoders[0].Observed/unit/want.Decoders[0].Observed-1) > 1e-3 ||
			math.Abs(f.LevelWidth/want.LevelWidth/unit-1) > 1e-9 {
			t.Errorf("output %d: %v levels of %v, want %v of %v", k+1, f.Decoders[0].Observed, f.LevelWidth,
				want.Decoders[0].Observed, want.LevelWidth)
		}
		row.Output, row.Error = k+1, unit*row.Error
		must.Equal(t, "row", row, got.Rows[k], cmpopts.EquateApprox(0.003, 0))
	}
	// Direct regression beside each output.
	targets.Apply(func(_, _ int, v float64) float64 { return 1.1 * v }, targets)
	save(t, "direct.npy", targets)
	mustRun(t, ranges+"--baseline direct.npy -o several.json")
	readJSON(t, "several.json", &got)
	if got.Outputs[2].Direct == nil {
		t.Error("there is no direct regression beside the last output")
	}
	for args, want := range map[string]string{
		args + "--range 2.5:4.3 --range 5:8.6": "--range is given 2 times, and the network has outputs for 3 targets",
		args + "--range 2.5:4.3":               "output 2: y3.npy: row 1: target",
		ranges + "-o fit.csv":                  "cannot write fit.csv: a network of several outputs",
		ranges + "--baseline 0.1":              "--baseline X is for a network of one output",
		ranges + "--baseline y.npy":            "y.npy has 1 column; want a prediction for each of 3 targets",
		ranges + "--targets points:y3.npy":     "--targets points:y3.npy: fit measures no points",
		args + "--targets y.npy":               "want targets N × K and outputs N × K × M",
	} {
		refused(t, want, args)
	}
}

// writeColumn writes numbers as a .csv file.
func writeColumn(t *testing.T, path string, v ...float64) {
	t.Helper()
	save(t, path, mat.NewDense(len(v), 1, v))
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
	must.Near(t, "quantization, over the mean distance of the nearest levels", 1, f.Quantization/q, 1e-12)
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
		must.Near(t, d.Decoder+": mean error of its labels, over what fit says", 1, sum/float64(len(found))/d.Observed, 1e-12)
	}
	mustRun(t, "decode -q --decoder d.npz --outputs "+outputs+" --confidence 0.9 -o i.npy")
	own := readColumn(t, "d.npz:values") // v, or with an offset
	if all := readColumn(t, "i.npy"); slices.Min(all) < own[0] || slices.Max(all) > own[15] {
		t.Error("intervals leave the labels of the levels")
	}
}
