package assess

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/head"
	"belsim/errmodel/scenario"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// saveHeads writes what three networks say that know nothing but a noisy label, of the
// targets of d: the label itself, the conditional logits of CORN under a uniform prior, and the
// scores of a softmax. It returns options, of scores without a code.
func (d drawn) saveHeads(t *testing.T, dir string) (direct, corn, scores Options) {
	t.Helper()
	y, r := d.targets(), rand.New(rand.NewPCG(d.seed, 2))
	p, z := mat.NewDense(d.samples, 1, nil), mat.NewDense(d.samples, d.levels-1, nil)
	s := mat.NewDense(d.samples, d.levels, nil)
	for i := range d.samples {
		label := y.At(i, 0) + d.noise*r.NormFloat64()
		p.Set(i, 0, label)
		above := 0.0 // the probability of higher levels, in proportion
		for k := d.levels - 1; k >= 0; k-- {
			off := (label - float64(k+1)) / d.noise
			s.Set(i, k, -off*off/2)
			here := max(math.Exp(-off*off/2), 1e-200)
			if k < d.levels-1 {
				z.Set(i, k, math.Log(above/here))
			}
			above += here
		}
	}
	direct = d.save(t, dir, "z")
	corn, scores = direct, direct
	direct.Code, direct.Outputs = "direct", save(t, filepath.Join(dir, "p.npy"), p)
	corn.Code, corn.Levels, corn.Outputs = "corn", 0, save(t, filepath.Join(dir, "c.npy"), z)
	scores.Levels, scores.Training, scores.Outputs = 0, "", save(t, filepath.Join(dir, "s.npy"), s)
	return direct, corn, scores
}

// TestSoftmax: softmax and HL-Gauss are one-hot after their trainings, also where the outputs are
// the distribution.
func TestSoftmax(t *testing.T) {
	d, dir := easy, t.TempDir()
	d.samples = 1000
	_, _, o := d.saveHeads(t, dir)
	p := must.Get(arrayfile.ReadFile(o.Outputs))(t)
	for i := range d.samples {
		row := p.RawRowView(i)
		floats.AddConst(-floats.LogSumExp(row), row)
	}
	p.Apply(func(_, _ int, v float64) float64 { return math.Exp(v) }, p)
	distribution := save(t, filepath.Join(dir, "q.npy"), p)
	for name, training := range map[string]head.Training{"softmax": head.CE, "hl-gauss": head.Soft} {
		scores := o
		scores.Code = name
		f := judge(t, scores).Fit
		same(t, name, Fit{Code: name, Levels: d.levels}, Fit{Code: f.Code, Levels: f.Levels})
		same(t, name+"'s training", training, f.Decoders[0].Training)
		scores.Outputs = distribution
		g := judge(t, scores).Fit
		for i, x := range g.Decoders {
			if g.Outputs != "probabilities" || x.Outputs == "logits" &&
				math.Abs(x.Observed/f.Decoders[i].Observed-1) > 1e-6 {
				t.Errorf("%s of probabilities: %+v, want %+v", name, x, f.Decoders[i])
			}
		}
		scores.Training = head.BCE
		refuses(t, scores, name+" is trained with "+training.Loss()+", and not with BCE")
	}
}

// TestMeasure: over real labels there is one measure, the mean |answer − target| in label units.
// Every number of a report that is one of an observed error is that of the answers themselves;
// predictions of direct regression are not rounded.
func TestMeasure(t *testing.T) {
	d, dir, rng := easy, t.TempDir(), rand.New(rand.NewPCG(5, 5))
	d.samples = 1500
	const lo, width, hi = 10, 0.5, 10 + 15*0.5
	label := func(level float64) float64 { return lo + width*(level-1) }
	y, p, levels := mat.NewDense(d.samples, 1, nil), mat.NewDense(d.samples, 1, nil), d.targets()
	for i := range d.samples {
		target := min(max(levels.At(i, 0)+rng.Float64()-0.5, 1), 16)
		y.Set(i, 0, label(target))
		p.Set(i, 0, label(min(max(target+d.noise*rng.NormFloat64(), 1), 16)))
	}
	o := d.save(t, dir, "z")
	o.Targets, o.Range = save(t, filepath.Join(dir, "real.npy"), y), LabelRange{Lo: lo, Hi: hi}
	direct := o
	o.FitDecoder = true
	direct.Code, direct.Outputs = "direct", save(t, filepath.Join(dir, "p.npy"), p)
	o.Baseline.File = direct.Outputs
	error := func(answer func(i int) float64) float64 {
		sum := 0.0
		for i := range d.samples {
			sum += math.Abs(min(max(answer(i), lo), hi) - y.At(i, 0))
		}
		return sum / float64(d.samples)
	}
	r := judge(t, o)
	f, observed := r.Fit, map[scenario.Design]float64{}
	for _, x := range plainRows(f.Decoders) {
		answers := labelsOf(t, o, x.Decoder, x.Outputs == "logits")
		observed[x.Design] = error(func(i int) float64 { return label(answers[i]) })
		if want := observed[x.Design]; math.Abs(x.Observed-want) > 1e-9 {
			t.Errorf("%+v, want %v", x, want)
		}
	}
	is := func(d scenario.Design, e float64) {
		t.Helper()
		if want, ok := observed[d]; ok && math.Abs(e-want) > 1e-9 {
			t.Errorf("%+v: %v, want %v", d, e, want)
		}
	}
	row := NewSeveral([]*Report{r}).Rows[0]
	is(row.Design, row.Error)

	predicted := error(func(i int) float64 { return p.At(i, 0) })
	same(t, "the error of the baseline", predicted, f.Direct.Error, nearly)
	f = judge(t, direct).Fit
	read := f.Decoders[0]
	read.Decoder, read.Outputs, read.Observed = "prediction", "labels", predicted
	same(t, "decoders of direct regression", []DecoderRow{read}, f.Decoders, nearly)
	same(t, "rows of the mixture", 0, len(f.Mixture))
	direct.FitDecoder = true
	refuses(t, direct, "p.npy: predictions of direct regression need no decoder")
}

// TestOnLevels: a range whose levels are the labels themselves, such as that of whole numbers from
// 0, is a matter of units alone.
func TestOnLevels(t *testing.T) {
	o := easy.save(t, t.TempDir(), "z")
	plain := judge(t, o).Fit
	const lo, width = 10, 0.5
	y := easy.targets()
	y.Apply(func(_, _ int, v float64) float64 { return lo + width*(v-1) }, y)
	o.Targets, o.Range = save(t, filepath.Join(t.TempDir(), "y.npy"), y), LabelRange{Lo: lo, Hi: lo + 15*width}
	f := judge(t, o).Fit
	for i, d := range f.Decoders {
		d.Observed, d.StdErr = d.Observed/width, d.StdErr/width
		d.Bias, d.BiasStdErr, d.Offset = d.Bias/width, d.BiasStdErr/width, (d.Offset-lo*(1-d.Slope))/width+1-d.Slope
		same(t, "a decoder", plain.Decoders[i], d, cmpopts.EquateApprox(1e-9, 1e-9))
	}
}

// TestHeads: predictions of direct regression, and CORN's logits, have the error of the label noise
// that they were drawn with.
func TestHeads(t *testing.T) {
	d, dir := easy, t.TempDir()
	direct, corn, _ := d.saveHeads(t, dir)
	gen := func(f *Fit) float64 {
		return f.Decoders[slices.IndexFunc(f.Decoders, func(d DecoderRow) bool {
			return d.Decoder == "gen" && d.Outputs == "bits" || d.Code == "direct"
		})].Observed
	}
	var errors []float64
	for _, o := range []Options{direct, corn} {
		f := judge(t, o).Fit
		same(t, o.Code, Fit{Code: o.Code, Levels: d.levels, Bits: d.levels - 1},
			Fit{Code: f.Code, Levels: f.Levels, Bits: f.Bits})
		errors = append(errors, gen(f))
	}
	// Both answer with the level nearest to the noisy label, but within s of the ends of the
	// range, for 6 % of the samples.
	must.Within(t, "the error of direct regression over CORN's", errors[0]/errors[1], 0.98, 1.02)
	// CORN's probabilities are read as its logits.
	z := must.Get(arrayfile.ReadFile(corn.Outputs))(t)
	z.Apply(func(_, _ int, v float64) float64 { return 1 / (1 + math.Exp(-v)) }, z)
	corn.Outputs = save(t, filepath.Join(dir, "probabilities.npy"), z)
	if f := judge(t, corn).Fit; f.Outputs != "probabilities" || math.Abs(gen(f)/errors[1]-1) > 1e-3 {
		t.Errorf("%+v", f.Decoders)
	}
	for _, refused := range []struct {
		name, outputs string
		levels        int
		want          string
	}{
		{"direct", direct.Outputs, 0, "predictions, which have no levels"},
		{"direct", "bits:" + corn.Outputs, 16, "probabilities.npy has outputs for 15"},
		{"corn", corn.Outputs, 17, "15 columns, but corn of 17 levels has 16 bits"},
	} {
		o := direct
		o.Code, o.Outputs, o.Levels = refused.name, refused.outputs, refused.levels
		refuses(t, o, refused.want)
	}
}

// TestBias: predictions that are too small by 2 levels or too large by 0.3, and have errors of less
// than half of a level else, are told so with the mend; those without
// a bias are not. A factor is told as a factor.
func TestBias(t *testing.T) {
	d, dir := easy, t.TempDir()
	direct, _, _ := d.saveHeads(t, dir)
	direct.Range = LabelRange{Lo: 1, Hi: float64(d.levels)}
	if f := judge(t, direct).Fit; len(f.Findings) > 0 || strings.Contains(f.Verdict, "subtract") {
		t.Errorf("sound predictions: %+v", f.Findings)
	}
	rounded := direct
	rounded.Outputs = direct.Targets
	if f := judge(t, rounded).Fit; len(f.Findings) > 0 {
		t.Errorf("predictions that are the targets: %+v", f.Findings)
	}
	p := must.Get(arrayfile.ReadFile(direct.Outputs))(t)
	for _, factor := range []float64{0.8, 1.2} {
		q := mat.DenseCopyOf(p)
		q.Scale(factor, q)
		direct.Outputs = save(t, filepath.Join(dir, "scaled.npy"), q)
		f := judge(t, direct).Fit
		must.Equal(t, "findings of a factor", 1, len(f.Findings))
		must.Equal(t, "finding of a factor", "stretch", f.Findings[0].Name)
		// Below 1 by the share of the noise in the variance of the predictions.
		must.Within(t, "factor", f.Findings[0].Number*factor, 0.95, 1)
		says(t, f.Verdict, "Next: multiply the predictions by ")
	}
	for _, by := range []float64{-2, 0.3} {
		q := mat.DenseCopyOf(p)
		q.Apply(func(_, _ int, v float64) float64 { return v + by }, q)
		direct.Outputs = save(t, filepath.Join(dir, "biased.npy"), q)
		f := judge(t, direct).Fit
		must.Equal(t, "findings", 1, len(f.Findings))
		must.Equal(t, "finding", "bias", f.Findings[0].Name)
		must.Within(t, "bias", f.Findings[0].Number, by-0.1, by+0.1)
		says(t, f.Verdict, map[bool]string{true: "above the targets", false: "below the targets"}[by > 0], "Next: ")
	}
}

// noNumber is a number that does not exist, in a text.
var noNumber = regexp.MustCompile(`NaN|[+−-]?Inf\b|%!`)

// degenerate are the outputs of a network that is nearly always right: of some bits one is wrong in
// every so many samples, of which there are few, or none where every is 0.
func degenerate(t *testing.T, c *code.Code, samples, every int, scale float64) Options {
	t.Helper()
	rng, dir := rand.New(rand.NewPCG(1, 2)), t.TempDir()
	y, z := mat.NewDense(samples, 1, nil), mat.NewDense(samples, c.Bits(), nil)
	for i := range samples {
		level := i % c.Levels()
		y.Set(i, 0, float64(level+1))
		for k := range c.Bits() {
			v := scale * (2*c.Value(level, k) - 1)
			if every > 0 && i%every == 0 && k == i/every%c.Bits() {
				v = -v
			}
			if scale != 1 {
				v *= 1 + rng.Float64()
			}
			z.Set(i, k, v)
		}
	}
	return Options{Code: c.Name(), Levels: c.Levels(), Targets: save(t, filepath.Join(dir, "y.npy"), y),
		Outputs: save(t, filepath.Join(dir, "z.npy"), z), Temperature: 1,
		Decoders: decode.Builtin()}
}

// TestNoNumber: a number that does not exist, such as a ratio to an error of 0, is neither in a
// report nor in its JSON.
func TestNoNumber(t *testing.T) {
	for _, name := range []string{"unary", "johnson", "onehot", "softmax"} {
		for _, levels := range []int{2, 3, 8} {
			for i, samples := range []int{2 * levels, 40 * levels} {
				for _, scale := range []float64{3, 200} {
					of := name
					if name == "softmax" {
						of = "onehot"
					}
					c := must.Get(code.New(of, levels))(t)
					o := degenerate(t, c, samples, 7+20*i, scale)
					o.Code = name
					if scale == 3 {
						o.Baseline.File = o.Targets
					}
					if scale == 200 {
						o.Baseline.Error = 1e-9
					}
					what := fmt.Sprintf("%s, %d levels, %d samples, %v", name, levels, samples, scale)
					r, err := Run(t.Context(), o, 1, nil)
					if err != nil {
						t.Errorf("%s: %v", what, err)
						continue
					}
					var text strings.Builder
					must.Succeed(t, r.Section().Write(&text))
					if bad := noNumber.FindString(text.String()); bad != "" {
						t.Errorf("%s: %s in\n%s", what, bad, text.String())
					}
					var b bytes.Buffer
					if err := table.WriteJSON(&b, r.Fit); err != nil {
						t.Errorf("%s: %v", what, err)
					}
					if bad := noNumber.FindString(b.String()); bad != "" {
						t.Errorf("%s: %s in the JSON", what, bad)
					}
				}
			}
		}
	}
}

// TestNoWrongOutput: a network that is always right is judged by more samples.
func TestNoWrongOutput(t *testing.T) {
	o := degenerate(t, must.Get(code.New("johnson", 16))(t), 200, 0, 1)
	r := must.Get(Run(t.Context(), o, 1, nil))(t)
	if f := r.Fit; f.Decoders[0].Observed != 0 || f.Curve != "Gaussian mixture: r = 0" ||
		!strings.Contains(f.Verdict, "Next: judge the network by more test samples") {
		t.Errorf("the fit is %+v", f)
	}
}

// BenchmarkSoftmax fits heads of many levels, and of many samples.
func BenchmarkSoftmax(b *testing.B) {
	for _, of := range [][2]int{{256, 2000}, {1024, 2000}, {4096, 10000}, {64, 1000000}} {
		b.Run(fmt.Sprintf("%dx%d", of[0], of[1]), func(b *testing.B) {
			o := softmaxFiles(b, of[0], of[1])
			for b.Loop() {
				must.Get(Run(b.Context(), o, 0, nil))(b)
			}
		})
	}
}

// softmaxFiles are those of a head that knows the target with normal noise.
func softmaxFiles(b *testing.B, levels, samples int) Options {
	rng, dir, sigma := rand.New(rand.NewPCG(1, 2)), b.TempDir(), float64(levels)/20
	write := func(name string, columns int) (string, func([]float64)) {
		file := must.Get(os.Create(filepath.Join(dir, name)))(b)
		out := bufio.NewWriter(file)
		rows := must.Get(arrayfile.NewNPYRows(out, samples, columns))(b)
		b.Cleanup(func() { must.Succeed(b, file.Close()) })
		return file.Name(), func(row []float64) {
			must.Succeed(b, rows.Write(row))
			must.Succeed(b, out.Flush())
		}
	}
	targets, target := write("y.npy", 1)
	outputs, output := write("z.npy", levels)
	z := make([]float64, levels)
	for range samples {
		y := 1 + rng.Float64()*float64(levels-1)
		target([]float64{y})
		at := y + sigma*rng.NormFloat64()
		for n := range z {
			off := (float64(n+1) - at) / sigma
			z[n] = -off*off/2 + 0.3*rng.NormFloat64()
		}
		output(z)
	}
	return Options{Code: "softmax", Range: LabelRange{Lo: 1, Hi: float64(levels)}, Temperature: 1,
		Targets: targets, Outputs: outputs, Decoders: decode.Builtin()}
}

// TestSoftmaxRows: probabilities of one-hot that add up to 1 are those of a softmax, which a fit of
// their logarithms judges alike; a row of zeros is refused, and rows that do not add up to 1 are
// told.
func TestSoftmaxRows(t *testing.T) {
	d := easy
	d.code, d.samples = "onehot", 400
	o := d.save(t, t.TempDir(), "z")
	z := mat.DenseCopyOf(must.Get(arrayfile.ReadFile(o.Outputs))(t))
	with := func(name string, change func(i int, p []float64)) Options {
		p, to := mat.DenseCopyOf(z), o
		for i := range d.samples {
			softmax(p.RawRowView(i))
			change(i, p.RawRowView(i))
		}
		to.Training, to.Outputs = "", save(t, filepath.Join(t.TempDir(), name+".npy"), p)
		return to
	}
	logs := with("log", func(_ int, p []float64) {
		for k, v := range p {
			p[k] = math.Log(v)
		}
	})
	right := with("p", func(int, []float64) {})
	same(t, "the errors of P and of log P", judge(t, logs).Fit.Decoders[2].Observed, judge(t, right).Fit.Decoders[2].Observed,
		cmpopts.EquateApprox(1e-9, 0))
	says(t, judge(t, with("told", func(i int, p []float64) {
		if i == 6 {
			p[0] += 0.5
		}
	})).Fit.Verdict, "1 of 400 rows of probabilities do not add up to 1, such as row 7 with 1.5")
	refuses(t, with("zeros", func(i int, p []float64) {
		if i == 6 {
			clear(p)
		}
	}), "row 7: no probability is above 0")
	bytes := with("bytes", func(i int, p []float64) {
		for k := range p {
			p[k] = float64(1 + 254*((i+k)%2))
		}
	})
	refuses(t, bytes, "int8 is read as uint8")
}
