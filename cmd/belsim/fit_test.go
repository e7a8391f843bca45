package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/assess"
	"belsim/errmodel/scenario"
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
		perceived := level + random.NormFloat64()
		for k := range c.Bits() {
			weights := [2]float64{1e-6, 1e-6}
			for n := range c.Levels() {
				d, bit := perceived-float64(n+1), 0
				if c.Bit(n, k) {
					bit = 1
				}
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
	f, err := os.Create(path)
	must.Succeed(t, err)
	defer f.Close()
	if strings.HasSuffix(path, ".csv") {
		err = arrayfile.WriteCSV(context.Background(), f, m)
	} else {
		err = arrayfile.WriteNPY(context.Background(), f, m)
	}
	must.Succeed(t, err)
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
	mustRun(t, "optimize --bits 6 --steps 1 --quiet --model fit.json") // whose labels are levels
}

// TestRecommend: a code of one's own is ranked like the named one.
func TestRecommend(t *testing.T) {
	inFolderWithData(t)
	_, _, network := smallNetwork(t)
	mustRun(t, "codes gray --levels 16 -o mine.csv")
	f := fitOf(t, append(network, "--recommend", "--candidates", "mine.csv")...)
	gray, mine := map[scenario.Design]float64{}, map[scenario.Design]float64{}
	for _, r := range f.Recommendation.Ranking {
		at := r.Design
		at.Code = ""
		switch r.Code {
		case "gray":
			gray[at] = r.Forecast
		case "mine.csv":
			mine[at] = r.Forecast
		}
	}
	if len(gray) == 0 || !maps.Equal(gray, mine) {
		t.Errorf("forecasts of gray: %v; of the same code in a file: %v", gray, mine)
	}
}

// TestFitNetworks reads several networks at once.
func TestFitNetworks(t *testing.T) {
	inFolderWithData(t)
	smallNetwork(t)
	write(t, "again.npy", content(t, "z.npy"))
	f := fitOf(t, "fit", "--code", "johnson", "--outputs", "z.npy", "--also", "johnson:again.npy", "--levels", "16",
		"--range", "2.5:4.3", "--targets", "y.npy")
	want := f.Decoders[0]
	want.Code, want.Network = "johnson", 2
	must.Equal(t, "first row of the second network", want, f.Decoders[len(f.Decoders)/2])
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
	var got, all assess.Several
	out := mustRun(t, ranges+"-o several.json -o several.html")
	readJSON(t, "several.json", &got)
	if page := content(t, "several.html"); strings.Count(page, "<svg") != 9 ||
		!strings.Contains(page, "<h1>output 3: johnson, 16 levels</h1>") {
		t.Error("several.html has not three pictures of each output: errors of bits, noise, and the PIT")
	}
	if !strings.HasPrefix(out, "The network has 3 outputs.") || strings.Count(out, "describes it") != 3 {
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
		row.Output, row.Error, row.Describes = k+1, unit*row.Error, true
		must.Equal(t, "row", row, got.Rows[k], cmpopts.EquateApprox(0.003, 0))
	}
	// Forecasts of each output.
	targets.Apply(func(_, _ int, v float64) float64 { return 1.1 * v }, targets)
	save(t, "direct.npy", targets)
	must.Succeed(t, os.WriteFile("again.npy", data, 0o600))
	text := mustRun(t, ranges+"--recommend --also johnson:again.npy --baseline direct.npy -o all.json -o all.html")
	readJSON(t, "all.json", &all)
	if last := all.Outputs[2]; last.Recommendation.Decision == nil || last.Direct == nil {
		t.Fatal("there is no decision for the last output, or no direct regression")
	}
	must.Equal(t, "networks of output 3", 2, all.Outputs[2].Decoders[len(all.Outputs[2].Decoders)-1].Network)
	if !strings.Contains(strings.Join(strings.Fields(text), " "), "output 3: keep") {
		t.Error(text)
	}
	for args, want := range map[string]string{
		args + "--range 2.5:4.3 --range 5:8.6": "--range is given 2 times, and the network has outputs for 3 targets",
		args + "--range 2.5:4.3":               "output 2: y3.npy: row 1: target",
		ranges + "-o fit.csv":                  "cannot write fit.csv: a network of several outputs",
		ranges + "--baseline 0.1":              "--baseline X is for a network of one output",
		ranges + "--baseline y.npy":            "y.npy has 1 column; want a prediction for each of 3 targets",
		ranges + "--also johnson:z.npy":        "want targets N × K and outputs N × K × M",
		ranges + "--targets points:y3.npy":     "--targets points:y3.npy: fit measures no points",
		args + "--targets y.npy":               "want targets N × K and outputs N × K × M",
	} {
		refused(t, want, args)
	}
}
