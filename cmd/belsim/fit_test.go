package main

import (
	"archive/zip"
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
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"

	"belsim/montecarlo/assess"
	"belsim/montecarlo/compare"
	"belsim/montecarlo/forecast"
	"belsim/montecarlo/scenario"
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
		save(t, "y.npy", y), "--outputs", save(t, "z.npy", z), "--samples", "100"}
}

// levelsOf are the levels of the targets of smallNetwork.
func levelsOf(y *mat.Dense) *mat.Dense {
	var levels mat.Dense
	levels.Apply(func(_, _ int, v float64) float64 { return math.Round((v-2.5)*15/1.8) + 1 }, y)
	return &levels
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
	all := args
	for _, name := range names {
		all = append(all, "-o", name)
	}
	f := fitOf(t, all...)
	if f.Code != "johnson" || f.Levels != 16 || f.Bits != 8 || f.Samples != 800 || f.Outputs != "logits" ||
		f.Range == nil || math.Abs(f.LevelWidth-1.8/15) > 1e-15 {
		t.Errorf("%+v", f)
	}
	decoders := ""
	for _, d := range f.Decoders {
		decoders += d.Decoder + "/" + string(d.Outputs) + " "
	}
	for _, d := range f.Mixture {
		if b := d.Bound; !math.IsNaN(b) && b < d.Mean-6*d.StdErr {
			t.Errorf("%s: bound %v below %v", d.Decoder, d.Bound, d.Mean)
		}
	}
	if want := "bel-j/bits gen/bits gen/logits gen-ex/logits "; decoders != want {
		t.Errorf("decoders %s, want %s", decoders, want)
	}
	for _, name := range names {
		if n := len(content(t, name)); n < 500 {
			t.Errorf("%s has %d bytes", name, n)
		}
	}
	page := content(t, "fit.html")
	if strings.Count(page, "<svg") != 2 || strings.Contains(page, "<?xml") ||
		!strings.Contains(page, "belsim fit --code johnson") {
		t.Error("fit.html has not its two pictures and its command line")
	}
	rates := must.Get(arrayfile.ReadFile("fit.npy"))(t)
	rows := readCSV(t, "fit.csv")
	if got := strings.Join(rows[0], ","); got != "level,bit,target,samples,wrong,rate,lo,hi,fitted" ||
		len(rows) != 1+16*8 {
		t.Fatalf("%d lines, first %s", len(rows), got)
	}
	wrong := 0.0
	for i, row := range rows[1:] {
		wrong += parse(t, row[4])
		want := row[5]
		if row[3] == "0" {
			want = row[8] // the model's
		}
		if got := fmt.Sprint(rates.At(i/8, i%8)); got != want {
			t.Fatalf("%s: the table has %s", row, got)
		}
	}
	if wrong != float64(f.WrongBits) {
		t.Errorf("%v wrong outputs, want %d", wrong, f.WrongBits)
	}
	mustRun(t, "compare", "johnson", "--levels", "16", "--errors", "fit.npy", "--samples", "100")
	refused(t, "--bits 33: want 1 to 8, the bits of johnson", append(args, "-o", "again.png", "--bits", "7,33")...)
	// The same on any number of processors.
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
	save(t, "levels.npy", levelsOf(y))
	f := fitOf(t, "fit", "--code", "johnson", "--levels", "16", "--targets", "levels.npy", "--outputs", "z.npy",
		"--samples", "500", "-o", "fit.json")
	var c compare.Ranking
	runJSON(t, &c, "compare", "johnson", "unary", "--model", "mixture:fit.json", "--decoder", "auto", "--samples",
		"500")
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
	if runJSON(t, &c, "compare", "johnson", "--model", "mixture:fit.json", "--samples",
		"500"); c.Temperature != f.LogitScale {
		t.Errorf("τ = %v", c.Temperature)
	}
	mustRun(t, "verify", "--code", "johnson", "--model", "fit.json", "--samples", "5000")
	prints(t, fmt.Sprintf("at the fit, r = %.4g and σ = %.4g", f.R, f.Sigma), "heatmap", "unary", "johnson", "--model",
		"mixture:fit.json", "--method", "exact", "--r", "0.5:2:6", "--sigma", "0.5:3:5", "-o", "map.svg")

	text := content(t, "fit.json")
	refused(t, "fitted to 16 levels, but the codes have 32", "compare", "unary", "--levels", "32", "--model",
		"fit.json")
	refused(t, "--r and --model can't be used together", "compare", "unary", "--r", "1", "--model", "fit.json")
	refused(t, "want the .json file of a fit", "compare", "--model", "fit.csv")
	refused(t, "no such file", "heatmap", "--model", "no.json")
	// what else is refused, package assess tests
	write(t, "broken.json", strings.Replace(text, `"levels": 16`, `"levels": 15`, 1))
	refused(t, "broken.json: ", "compare", "unary", "--model", "broken.json")
}

// TestFitFiles has the same outputs in other files and forms.
func TestFitFiles(t *testing.T) {
	inFolderWithData(t)
	y, z, args := smallNetwork(t)
	n, m := z.Dims()
	bits, signs := mat.NewDense(n, m, nil), mat.NewDense(n, m, nil)
	bits.Apply(func(_, _ int, v float64) float64 { return map[bool]float64{true: 1}[v > 0] }, z)
	signs.Apply(func(_, _ int, v float64) float64 { return 2*v - 1 }, bits)
	save(t, "y.csv", y)
	save(t, "z.csv", z)
	save(t, "levels.npy", levelsOf(y))
	save(t, "bits.npy", bits)
	save(t, "signs.csv", signs)
	archive := must.Get(os.Create("both.npz"))(t)
	w := zip.NewWriter(archive)
	for name, m := range map[string]mat.Matrix{"targets": y, "z": z} {
		entry, err := w.Create(name + ".npy")
		if err == nil {
			err = arrayfile.WriteNPY(context.Background(), entry, m)
		}
		must.Succeed(t, err)
	}
	must.Succeed(t, w.Close())
	archive.Close()

	few := []string{"--samples", "100"} // of the simulation, which is not looked at
	byLabel := fitOf(t, args...)
	byLevel := fitOf(t, append([]string{"fit", "--code", "johnson", "--levels", "16", "--targets", "levels.npy",
		"--outputs", "z.csv"}, few...)...)
	for _, args := range [][]string{
		{"--range", "2.5:4.3", "--targets", "y.csv", "--outputs", "z.csv"},
		{"--range", "2.5:4.3", "--targets", "both.npz", "--outputs", "both.npz:z"},
		{"--targets", "levels.npy", "--outputs", "logits:z.csv"},
		{"--targets", "levels.npy", "--outputs", "bits.npy"},
		{"--targets", "levels.npy", "--outputs", "bits:signs.csv"},
		{"--targets", "levels.npy", "--outputs", "signs.csv"},
	} {
		want := byLevel
		if args[0] == "--range" {
			want = byLabel
		}
		got := fitOf(t, append(append([]string{"fit", "--code", "johnson", "--levels", "16"}, args...), few...)...)
		if got.R != want.R || got.SigmaInterval != want.SigmaInterval ||
			got.Decoders[0].Observed != want.Decoders[0].Observed {
			t.Errorf("%v: r = %v, %v; want %v, %v", args, got.R, got.Decoders[0], want.R, want.Decoders[0])
		}
	}
	// Bits in another order are noticed.
	turned := mat.NewDense(n, m, nil)
	turned.Apply(func(i, k int, _ float64) float64 { return -z.At(i, k) }, turned)
	save(t, "turned.npy", turned)
	if got := fitOf(t, "fit", "--code", "johnson", "--levels", "16", "--targets", "levels.npy", "--outputs",
		"turned.npy", "--samples", "100"); !strings.HasPrefix(got.Verdict, "The outputs look inverted") ||
		!strings.HasPrefix(byLevel.Verdict, "The network's best decoder") {
		t.Errorf("%q with the signs turned, %q as they are", got.Verdict, byLevel.Verdict)
	}
	// A code of one's own is the same as the named one.
	mustRun(t, "codes", "johnson", "--levels", "16", "-o", "mine.npy")
	if got := fitOf(t, "fit", "--code", "mine.npy", "--targets", "levels.npy", "--outputs", "z.csv", "--samples",
		"100"); got.R != byLevel.R {
		t.Errorf("mine.npy: r = %v, want %v", got.R, byLevel.R)
	}
}

// TestRecommend: a code of one's own is ranked like the named one, and the verdict stands first, in
// short lines.
func TestRecommend(t *testing.T) {
	inFolderWithData(t)
	_, _, network := smallNetwork(t)
	mustRun(t, "codes", "gray", "--levels", "16", "-o", "mine.csv")
	out := mustRun(t, append(network, "--recommend", "--candidates", "mine.csv", "-o", "fit.json")...)
	if !strings.Contains(out, "yours: johnson") ||
		!strings.Contains(out, "A forecast is the error of a network of the same kind") {
		t.Error(out)
	}
	f := must.Get(assess.Read("fit.json"))(t)
	rec := f.Recommendation
	if len(rec.Ranking) < 3*(len(code.Families())+1) || len(rec.Notes) == 0 {
		t.Fatalf("%+v", rec)
	}
	gray, mine := map[scenario.Design]float64{}, map[scenario.Design]float64{}
	for _, r := range rec.Ranking {
		at := r.Design
		at.Code = ""
		switch r.Code {
		case "gray":
			gray[at] = r.Forecast
		case "mine.csv":
			mine[at] = r.Forecast
		}
	}
	if len(gray) != 7 || !maps.Equal(gray, mine) {
		t.Errorf("the same code by another name: %v, %v", gray, mine)
	}
	// The verdict stands first, and lines are short.
	lines := strings.Split(out, "\n")
	if !strings.HasPrefix(out, "The network's best decoder is ") {
		t.Error(lines[0])
	}
	opening := true
	for _, line := range lines {
		opening = opening && line != ""
		if n := utf8.RuneCountInString(line); n > 120 || opening && n > 100 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
}

// TestFitNetworks reads several networks at once.
func TestFitNetworks(t *testing.T) {
	inFolderWithData(t)
	smallNetwork(t)
	write(t, "again.npy", content(t, "z.npy"))
	write(t, "third.npy", content(t, "z.npy"))
	write(t, "runs.csv", "code,loss,seed,outputs\njohnson,BCE,0,z.npy\njohnson,BCE,1,again.npy\n")
	args := []string{"--levels", "16", "--range", "2.5:4.3", "--targets", "y.npy", "--samples", "100"}
	f := fitOf(t, append([]string{"fit", "--runs", "runs.csv"}, args...)...)
	g := fitOf(t, append([]string{"fit", "--code", "johnson", "--outputs", "z.npy", "--also", "johnson:again.npy"},
		args...)...)
	for _, x := range []*assess.Fit{f, g} {
		if x.Code != "johnson" || len(x.Networks) != 4 || x.Networks[0].Seeds != 2 ||
			x.Networks[0].Observed != x.Decoders[0].Observed {
			t.Errorf("%+v", x.Networks)
		}
	}
	for want, more := range map[string][]string{
		"missing flags: --code=CODE":           nil,
		"missing flags: --outputs=[KIND:]FILE": {"--code", "johnson"},
		`--also "johnson": want CODE:OUTPUTS`: {"--code", "johnson", "--outputs", "z.npy", "--also",
			"johnson"},
		"8 columns, but unary of 16 levels has 15 bits": {"--runs", "runs.csv", "--also", "unary:third.npy"},
		"--baseline takes predictions of direct":        {"--runs", "runs.csv", "--also", "direct:third.npy"},
		"no.csv: no such file":                          {"--runs", "no.csv"},
		"the command reads this file (--runs":           {"--runs", "runs.csv", "-o", "runs.csv"},
	} {
		refused(t, want, append(append([]string{"fit"}, args...), more...)...)
	}
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
	args := []string{"fit", "--code", "johnson", "--levels", "16", "--targets", "y3.npy", "--outputs", "z3.npy",
		"--samples", "100"}
	ranges := []string{"--range", "2.5:4.3", "--range", "5:8.6", "--range", "7.5:12.9"}
	var got assess.Several
	out := mustRun(t, append(append(args, ranges...), "-o", "several.json", "-o", "several.html")...)
	readJSON(t, "several.json", &got)
	if page := content(t, "several.html"); strings.Count(page, "<svg") != 6 ||
		!strings.Contains(page, "<h1>output 3: johnson, 16 levels</h1>") {
		t.Error("several.html has not two pictures of each output")
	}
	want := fitOf(t, alone...)
	for k, f := range got.Outputs {
		if math.Abs(f.Decoders[0].Observed/float64(k+1)/want.Decoders[0].Observed-1) > 1e-3 ||
			math.Abs(f.LevelWidth/want.LevelWidth/float64(k+1)-1) > 1e-9 {
			t.Errorf("output %d: %v levels of %v, want %v of %v", k+1, f.Decoders[0].Observed, f.LevelWidth,
				want.Decoders[0].Observed, want.LevelWidth)
		}
	}
	if len(got.Rows) != 3 || len(got.Outputs) != 3 || got.Rows[2].Output != 3 ||
		math.Abs(float64(got.Rows[2].Error/got.Rows[0].Error)-3) > 0.01 || !got.Rows[1].Describes {
		t.Errorf("%+v", got.Rows)
	}
	// Forecasts of each output, and those of all, whose errors are means: the same ratios here,
	// where outputs differ in their unit alone.
	targets.Apply(func(_, _ int, v float64) float64 { return 1.1 * v }, targets)
	save(t, "direct.npy", targets)
	must.Succeed(t, os.WriteFile("again.npy", data, 0o600))
	var all assess.Several
	text := mustRun(t, append(append(args, ranges...), "--recommend", "--also", "johnson:again.npy", "--baseline",
		"direct.npy", "-o", "all.json", "-o", "all.html")...)
	readJSON(t, "all.json", &all)
	if rec := all.Recommendation; rec == nil || rec.Decision == nil ||
		all.Verdict[len(all.Verdict)-1] != all.Outputs[0].Verdict[strings.Index(all.Outputs[0].Verdict, "Next: "):] ||
		!strings.Contains(text, "for all outputs") {
		t.Errorf("%+v, %q", rec, all.Verdict)
	}
	for _, x := range all.Recommendation.Ranking {
		alone := all.Outputs[0].Recommendation.Ranking
		i := slices.IndexFunc(alone, func(y forecast.Row) bool {
			return x.Code == y.Code && x.Training == y.Training &&
				y.Best
		})
		if y := alone[i]; math.Abs(x.Ratio/y.Ratio-1) > 1e-3 || math.Abs(x.RatioCI[1]/y.RatioCI[1]-1) > 1e-2 ||
			math.Abs(x.Better-y.Better) > 0.01 || math.Abs(x.Forecast/y.Forecast-2) > 0.01 || x.Trained != y.Trained ||
			x.Measured != y.Measured {
			t.Errorf("%+v, and of the first output %+v", x, y)
		}
	}
	if f := all.Outputs[2]; len(f.Networks) != 4 || f.Networks[0].Seeds != 2 || f.Direct == nil {
		t.Errorf("%+v, %+v", f.Networks, f.Direct)
	}
	if flat := strings.Join(strings.Fields(text), " "); !strings.Contains(flat,
		" at 3 of the 3 outputs, worse at 0, and not told apart at 0 (paired by sample).") {
		t.Errorf("%s\nhas no sentence of direct regression", text)
	}
	if !strings.HasPrefix(out, "The network has 3 outputs.") || strings.Count(out, "describes it") != 3 {
		t.Error(out)
	}
	for want, more := range map[string][]string{
		"--range is given 2 times, and the network has outputs for 3 targets": ranges[:4],
		"cannot write fit.csv: a network of several outputs": append([]string{"-o", "fit.csv"},
			ranges...),
		"output 2: y3.npy: row 1: target": ranges[:2],
		"--baseline X is for a network of one output": append([]string{"--baseline", "0.1"},
			ranges...),
		"y.npy has 1 columns; want a prediction for each of 3 targets": append([]string{"--baseline", "y.npy"},
			ranges...),
		"want targets N × K and outputs N × K × M": append([]string{"--also",
			"johnson:z.npy"}, ranges...),
		"z3.npy: K = 3 outputs; want an even number for points": append([]string{"--targets",
			"points:y3.npy"}, ranges...),
	} {
		refused(t, want, append(args, more...)...)
	}
	refused(t, "want targets N × K and outputs N × K × M", "fit", "--code", "johnson", "--levels", "16", "--range",
		"2.5:4.3", "--targets", "y.npy", "--outputs", "z3.npy")
}

func TestFitRefusals(t *testing.T) {
	inFolderWithData(t)
	write(t, "y.csv", "1\n2\n3\n4\n")
	write(t, "z.csv", "-1,-2,-3\n1,-2,-1\n1,-1,-1\n2,2,0.5\n") // level 3 is read as 2
	write(t, "same.csv", "2\n2\n2\n2\n")
	write(t, "right.csv", "-1,-1,-1\n1,-1,-1\n1,1,-1\n1,1,1\n")
	write(t, "nan.csv", "-1,-1,-1\n1,NaN,-1\n1,1,-1\n1,1,1\n")
	write(t, "zero.csv", "0\n1\n2\n3\n")
	write(t, "wide.csv", "1,2,3,4\n1,2,3,4\n1,2,3,4\n")
	write(t, "short.csv", "1\n2\n3\n")
	write(t, "ragged.csv", "1,2,3\n1,2\n")
	write(t, "half.csv", "0,1,0\n0,0.5,0\n1,1,1\n0,0,0\n")
	write(t, "constant.csv", "1,0,0\n1,1,0\n1,1,1\n")
	write(t, "six.csv", "1,0,1,0,1,0\n1,1,1,1,1,1\n0,0,0,0,0,0\n0,0,0,0,0,1\n")
	write(t, "three.csv", "1\n2\n3\n")
	write(t, "first.csv", "1,-1,-1\n-1,1,-1\n1,1,1\n") // wrong in the bit that never changes
	mustRun(t, "fit", "--code", "unary", "--targets", "y.csv", "--outputs", "z.csv", "--samples", "100")
	for _, tt := range []struct{ want, args string }{
		{"same.csv: all 4 targets are level 2", "unary same.csv z.csv"},
		{"first.csv: all 1 wrong outputs are of bits that never change", "constant.csv three.csv first.csv"},
		{"right.csv: none of the 4 × 3 outputs is on the wrong side", "unary y.csv right.csv"},
		{`nan.csv: line 2, column 2: "NaN" is not a finite number`, "unary y.csv nan.csv"},
		{"zero.csv: row 1: target 0: levels are 1 to 4; if yours count from 0, their range is 0:3",
			"unary zero.csv z.csv"},
		{"wide.csv: 4 columns, but unary of 4 levels has 3 bits", "unary y.csv wide.csv --levels 4"},
		{"short.csv has 3 targets, but z.csv has the outputs of more samples", "unary short.csv z.csv"},
		{"ragged.csv: line 2 has 2 columns, but the first has 3", "unary y.csv ragged.csv"},
		{"half.csv: row 2, column 2: 0.5 is neither 0 nor 1", "unary y.csv bits:half.csv"},
		{"z.csv: row 1, column 1: -1 is no probability", "unary y.csv probabilities:z.csv"},
		{"y.csv: row 3: target 3 is outside the range 0 to 2", "unary y.csv z.csv --range 0:2"},
		{`range "3:1": want finite numbers, a below b`, "unary y.csv z.csv --range 3:1"},
		{`range "3": want two numbers`, "unary y.csv z.csv --range 3"},
		{"z.csv: 3 columns, and no hexj code has 3 bits", "hexj y.csv z.csv"},
		{"six.csv: 6 columns, and gray has 6 bits with 33 to 64 levels; say how many levels there are",
			"gray y.csv six.csv"},
		{"unknown code \"unari\"; want", "unari y.csv z.csv"},
		{"no.npy: no such file", "unary no.npy z.csv"},
		{"z.pkl: want a name ending in .csv, .npy or .npz", "unary y.csv z.pkl"},
		{"--candidates are for --recommend", "unary y.csv z.csv --candidates x.csv"},
		{"--temperature 0", "unary y.csv z.csv --temperature 0"},
		{"--samples 1: a standard error needs at least 2", "unary y.csv z.csv --samples 1"},
		{"z.csv: 3 columns, as many as the outputs have", "unary z.csv z.csv"},
	} {
		args := strings.Fields(tt.args)
		refused(t, tt.want, append([]string{"fit", "-o", "out.json", "--code", args[0], "--targets", args[1],
			"--outputs", args[2]}, args[3:]...)...)
	}
}
