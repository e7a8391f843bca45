package assess

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/perceived"
	"belsim/montecarlo/forecast"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// drawn is a network whose outputs the perceived-label model draws.
type drawn struct {
	code     string
	levels   int
	samples  int
	noise    float64
	training perceived.Training
	seed     uint64
	change   func(z []float64) // of the logits of a sample; may be nil
}

// targets are the targets of drawn networks, which a seed does not change.
func (d drawn) targets() *mat.Dense {
	r := rand.New(rand.NewPCG(7, 7))
	y := mat.NewDense(d.samples, 1, nil)
	for i := range d.samples {
		y.Set(i, 0, float64(1+r.IntN(d.levels)))
	}
	return y
}

// save draws the outputs. It writes them and the targets into a folder, and returns options that
// read them and say what they were trained for.
func (d drawn) save(t *testing.T, dir, name string) Options {
	t.Helper()
	c := must.Get(code.New(d.code, d.levels))(t)
	p := perceived.Model{Noise: d.noise, Misfit: perceived.DefaultMisfit, Training: d.training}
	l := must.Get(p.Learn(t.Context(), 1, c, nil))(t)
	y, sd := d.targets(), l.ResidualSD()
	z := mat.NewDense(d.samples, c.Bits(), nil)
	r := rand.New(rand.NewPCG(d.seed, 1))
	for i := range d.samples {
		row := z.RawRowView(i)
		l.Logits(row, y.At(i, 0)+d.noise*r.NormFloat64())
		for k := range row {
			row[k] += sd[k] * r.NormFloat64()
		}
		if d.change != nil {
			d.change(row)
		}
	}
	return Options{
		Code: d.code, Levels: d.levels, Targets: save(t, filepath.Join(dir, "y.npy"), y), Outputs: save(t,
			filepath.Join(dir, name+".npy"), z),
		Temperature: 1, Samples: 100, Seed: 1, Decoders: decode.Builtin(), Training: d.training,
	}
}

// easy is a network of an easy code, which the model describes.
var easy = drawn{code: "johnson", levels: 16, samples: 3000, noise: 0.9, training: perceived.BCE, seed: 1}

func TestPerceive(t *testing.T) {
	s := judge(t, easy.save(t, t.TempDir(), "z"))
	p := s.Fit.Perceived
	if p.Training != "bce" || !p.Describes || p.CutoffFitted || len(s.Fit.Dead) != 0 {
		t.Errorf("%+v", p)
	}
	if !(p.NoiseInterval[0] < 0.9 && p.NoiseInterval[1] > 0.9) {
		t.Errorf("s from %v to %v", p.NoiseInterval[0], p.NoiseInterval[1])
	}
	for _, d := range s.Fit.Decoders {
		if math.Abs(d.Perceived/d.Observed-1) > 0.1 {
			t.Errorf("%+v", d)
		}
	}
	if len(p.Rates) != 2 || p.Rates[0].Transitions != 1 || p.Rates[1].Bits != 7 {
		t.Fatalf("%+v", p.Rates)
	}
	for _, r := range p.Rates {
		if math.Abs(float64(r.Model/r.Observed)-1) > 0.15 {
			t.Errorf("%+v", r)
		}
	}
	opening := s.Opening
	if len(opening) != 3 || !strings.Contains(opening[0], "best decoder is") ||
		!strings.Contains(opening[1], "behaves as if") ||
		!strings.Contains(opening[2], "Next: forecast all other codes.") {
		t.Errorf("%q", opening)
	}
}

// TestEnd: a second network of the same code that differs by more than seeds do says that the
// training may not have ended.
func TestEnd(t *testing.T) {
	dir := t.TempDir()
	o := easy.save(t, dir, "z")
	o.Recommend = true
	notes := func(o Options) string { return strings.Join(judge(t, o).Fit.Recommendation.Notes, " ") }
	if text := notes(o); !strings.Contains(text, "Not known: whether the training has ended") {
		t.Errorf("one network: %q", text)
	}
	for name, want := range map[string]bool{"seed": false, "checkpoint": true} {
		other := easy
		if other.seed += 50; want {
			other.noise *= 1.3
		}
		o.Others = []Other{{Code: o.Code, Outputs: other.save(t, dir, name).Outputs, Training: perceived.BCE}}
		f := judge(t, o).Fit
		text := strings.Join(f.Recommendation.Notes, " ")
		if strings.Contains(text, "Two networks of johnson differ by") != want ||
			strings.Contains(text, "Not known: whether the training has ended") {
			t.Errorf("%s: %q", name, text)
		}
		// Forecasts rest on networks of another seed, and not on checkpoints.
		if last := f.Decoders[len(f.Decoders)-1]; last.Network != 2 || last.Known == want {
			t.Errorf("%s: %+v", name, last)
		}
	}
}

// TestHardDecisions: the row of a network whose hard decisions alone are known is what was
// measured, also where its logits are forecast to be better. Where they are much better, a note
// says to save them.
func TestHardDecisions(t *testing.T) {
	d := easy
	d.change = func(z []float64) {
		for k := range z {
			z[k] = math.Copysign(1, z[k])
		}
	}
	for name, advice := range map[string]string{"johnson": "keep johnson",
		"hadamard": "Save the logits of this network in the place of its bits: gen-ex is forecast to gain"} {
		d.code = name
		o := d.save(t, t.TempDir(), "z")
		o.Recommend = true
		s := judge(t, o)
		var b strings.Builder
		must.Succeed(t, s.Section(nil).Write(&b))
		text := strings.Join(strings.Fields(b.String()), " ")
		if strings.Count(text, "yours: "+name) != 1 || !strings.Contains(text, "measured: ") ||
			!strings.Contains(text, advice) || strings.Contains(text, "train "+name) ||
			strings.Contains(text, "Save the logits") != (name == "hadamard") {
			t.Errorf("%s: %s", name, text)
		}
		for _, r := range s.Fit.Recommendation.Ranking {
			if r.Trained && r.Best && (!r.Measured || r.Outputs != "bits") {
				t.Errorf("%+v", r)
			}
		}
	}
}

func TestRank(t *testing.T) {
	o := easy.save(t, t.TempDir(), "z")
	o.Recommend = true
	counted := map[string]uint64{}
	s := must.Get(Run(t.Context(), o, onCPU, func(what string, total uint64) (func(uint64), func()) {
		done := uint64(0)
		return func(n uint64) { done += n }, func() {
			if counted[what] = done; done != total {
				t.Errorf("%s: %d of %d", what, done, total)
			}
		}
	}))(t)
	rec := s.Fit.Recommendation
	if want := map[string]uint64{"samples read": 6000,
		"codes": 2 * uint64(len(code.Families())+2)}; !maps.Equal(counted, want) || len(rec.Notes) == 0 {
		t.Errorf("counted %v, want %v; notes %q", counted, want, rec.Notes)
	}
	// Advice has the way that a program knows, and only there.
	var b strings.Builder
	must.Succeed(t, s.Section(map[Advice]string{AddProbe: "so"}).Write(&b))
	if text := strings.Join(strings.Fields(b.String()), " "); strings.Count(text, "(so)") != 1 ||
		!strings.Contains(text, string(AddProbe)+" (so).") {
		t.Error(text)
	}
	best, trained := map[scenario.Design]int{}, 0
	for i, r := range rec.Ranking {
		if i > 0 && r.Forecast < rec.Ranking[i-1].Forecast {
			t.Errorf("%+v comes after %+v", r, rec.Ranking[i-1])
		}
		if !(r.Interval[0] < r.Forecast && r.Forecast < r.Interval[1] && r.RatioCI[0] < r.Ratio &&
			r.Ratio < r.RatioCI[1]) || (r.Better > 0.5) != (r.Ratio < 1) && r.Ratio != 1 || r.Training != "bce" &&
			r.Training != "l1" && r.Outputs != "logits" {
			t.Errorf("%+v", r)
		}
		if r.Best {
			best[r.Head()]++
		}
		if r.Trained {
			trained++
			d := s.Fit.Decoders[slices.IndexFunc(s.Fit.Decoders,
				func(d DecoderRow) bool { return d.Design == r.Design })]
			if !r.Measured || math.Abs(r.Forecast/d.Observed-1) > 1e-12 || r.Ratio < 1 {
				t.Errorf("%+v, observed %v", r, d.Observed)
			}
			if r.Code != "johnson" || r.Training != "bce" {
				t.Errorf("%+v", r)
			}
		}
	}
	if len(best) != 3*len(code.Families())+2 || trained == 0 || rec.Decision.Action != "stay" {
		t.Errorf("%d codes and trainings, %d rows of the network's", len(best), trained)
	}
	for name, n := range best {
		if n != 1 {
			t.Errorf("%+v: %d best decoders", name, n)
		}
	}
	// Easy codes may be better, and one-hot trained bit by bit is not.
	i := slices.IndexFunc(rec.Ranking, func(r forecast.Row) bool { return r.Code == "unary" && r.Training == "bce" })
	j := slices.IndexFunc(rec.Ranking, func(r forecast.Row) bool { return r.Code == "onehot" && r.Outputs == "bits" })
	if unary, hot := rec.Ranking[i], rec.Ranking[j]; unary.RatioCI[0] > 1 || unary.RatioCI[1] < 1 ||
		hot.RatioCI[0] < 1 || hot.Better > 0.05 {
		t.Errorf("%+v, %+v", unary, hot)
	}
	if text := b.String(); !strings.Contains(text, "yours: johnson") || !strings.Contains(text, "measured: ") ||
		s.Opening[len(s.Opening)-1] != "Next: keep johnson, if its training has ended: no other is forecast to gain 1 %." {
		t.Error(text)
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); strings.Contains(line, "logits") &&
			strings.Contains(line, " to ") && n > 100 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
}

// TestFarFromModel: a network that the model does not describe is told so, and has forecasts with
// wider intervals.
func TestFarFromModel(t *testing.T) {
	widths := func(d drawn) (*PerceivedFit, float64) {
		o := d.save(t, t.TempDir(), "z")
		o.Recommend = true
		f := judge(t, o).Fit
		for _, r := range f.Recommendation.Ranking {
			if r.Code == "unary" && r.Best {
				return f.Perceived, r.RatioCI[1] / r.RatioCI[0]
			}
		}
		t.Fatal("no forecast of unary")
		return nil, 0
	}
	usual, narrow := widths(easy)
	d := easy
	d.change = func(z []float64) { // a tenth of the decisions are turned round
		for k := range z {
			if math.Mod(math.Abs(1e4*z[k]), 10) < 1 {
				z[k] = -z[k]
			}
		}
	}
	far, wide := widths(d)
	if !usual.Describes || far.Describes || !strings.Contains(far.Verdict, "does not behave as if") ||
		wide < 1.5*narrow {
		t.Errorf("%+v, hi/lo %v; then %+v, hi/lo %v", usual, narrow, far, wide)
	}
}

// TestNothing: outputs without any information are told so.
func TestNothing(t *testing.T) {
	d, r := easy, rand.New(rand.NewPCG(6, 6))
	d.change = func(z []float64) {
		for k := range z {
			z[k] = r.NormFloat64()
		}
	}
	o := d.save(t, t.TempDir(), "z")
	o.Recommend = true
	s := judge(t, o)
	if p := s.Fit.Perceived; p.Describes || !table.Missing(p.Noise) ||
		!strings.Contains(p.Verdict, "without any information") || !strings.HasPrefix(s.Fit.Verdict,
		"The error is that of guessing") {
		t.Errorf("%+v, %q", p, s.Fit.Verdict)
	}
	if len(s.Fit.Recommendation.Ranking) != 0 {
		t.Errorf("%+v", s.Fit.Recommendation)
	}
}

// TestDeadNetwork: a network whose outputs are the same for all samples has no best decoder.
func TestDeadNetwork(t *testing.T) {
	for name, rounding := range map[string]float64{"equal": 0, "of float32": 1e-7} {
		d, sign := easy, 1.0
		d.change = func(z []float64) {
			sign = -sign
			for k := range z {
				z[k] = 0.3*float64(k-4) + sign*rounding
			}
		}
		s := judge(t, d.save(t, t.TempDir(), "z"))
		if text := strings.Join(s.Opening, " "); !strings.Contains(text, "do not depend on the input") ||
			strings.Contains(text, "best decoder") {
			t.Errorf("%s: %q", name, text)
		}
		d.change = func(z []float64) { z[0] = 2 } // one dead classifier is no dead network
		if text := judge(t, d.save(t, t.TempDir(), "z")).Opening[0]; !strings.Contains(text, "best decoder") {
			t.Errorf("%q", text)
		}
	}
}

// TestBaseline: the verdict and the result have quantization and direct regression, in label units
// where there is a range and in levels else.
func TestBaseline(t *testing.T) {
	for name, lo := range map[string]float64{"levels": 0, "label units": 10} {
		o := easy.save(t, t.TempDir(), "z")
		scale, alone := 1.0, 0.0
		if lo > 0 { // levels 1 to 16 as labels that lie 0.1 and 0.3 of a level above them, by turns
			scale, alone = 0.5, 0.2
			y := easy.targets()
			for i := range y.RawMatrix().Rows {
				off := 0.1
				if i%2 == 1 {
					off = 0.3
				}
				y.Set(i, 0, lo+scale*(min(y.At(i, 0)+off, 16)-1))
			}
			o.Targets, o.Range = save(t, filepath.Join(t.TempDir(), "y.npy"), y), LabelRange{Lo: lo, Hi: lo + scale*15}
		}
		o.Baseline, o.Recommend = Baseline{Error: scale}, lo > 0
		f := judge(t, o).Fit
		// Of the last level, labels are the level itself: it has one of 16 of the samples.
		if got := f.Quantization; math.Abs(got-scale*alone) > 0.1*scale*alone ||
			(alone > 0) != strings.Contains(f.Verdict, "nearest to the targets") {
			t.Errorf("%s: quantization %v, %q", name, got, f.Verdict)
		}
		if d := f.Direct; d.Error != scale || !strings.Contains(f.Verdict, ": this network is better: −") {
			t.Errorf("%s: %+v, %q", name, d, f.Verdict)
		}
		if o.Recommend {
			d := f.Recommendation.Ranking[slices.IndexFunc(f.Recommendation.Ranking,
				func(r forecast.Row) bool { return r.Code == "direct" })]
			if want := f.Direct.Error / f.Direct.Network; !d.Measured || d.Trained ||
				math.Abs(d.Ratio/want-1) > 1e-12 || d.Training != "l1" || d.Bits != 1 {
				t.Errorf("%s: %+v, want the ratio %v", name, d, want)
			}
		}
	}
	o := easy.save(t, t.TempDir(), "z")
	if o.Baseline.Error = -1; o.Check() == nil {
		t.Error("a negative error was taken")
	}
}

// TestDoubted: predictions of direct regression that cannot be of these labels are refused, as a
// baseline and as the network itself; a baseline that is merely bad is told of, and changes no
// forecast.
func TestDoubted(t *testing.T) {
	const refused, doubted, believed = "want ", "No forecast uses its error", "counts as that of a second network"
	const guess = doubted + ", for the median target alone would be as near"
	folder, y := t.TempDir(), easy.targets()
	o := easy.save(t, folder, "z")
	o.Recommend = true
	alone := judge(t, o).Fit
	rng := rand.New(rand.NewPCG(1, 1))
	noise, other := make([]float64, easy.samples), rng.Perm(easy.samples)
	for i := range noise {
		noise[i] = 0.9 * rng.NormFloat64()
	}
	for _, tt := range []struct {
		name string
		of   func(y float64, i int) float64
		want string
	}{
		{"right", func(y float64, i int) float64 { return y + noise[i] }, believed},
		{"shares", func(y float64, i int) float64 { return 8 + (y+noise[i])/16 }, refused + "the units"},
		{"percent", func(y float64, i int) float64 { return 100 * (y + noise[i]) / 16 }, refused + "the units"},
		{"reversed", func(y float64, i int) float64 { return 17 - y + noise[i] }, refused + "the units"},
		{"constant", func(float64, int) float64 { return 8.5 }, "all 3000 predictions are 8.5; " + refused},
		{"shuffled", func(_ float64, i int) float64 { return y.At(other[i], 0) }, guess},
		{"bad", func(y float64, i int) float64 { return y + 10*noise[i] }, guess},
		{"half", func(y float64, i int) float64 { return (y + noise[i] + 8) / 2 }, doubted},
		{"too good", func(y float64, i int) float64 { return y + noise[i]/50 }, doubted},
		{"0.03", nil, doubted}, {"4", nil, doubted}, {"1", nil, believed}, {"16", nil,
			refused + "a mean |error| in levels, of 15 at most"},
	} {
		o := o
		var err error
		if o.Baseline, err = ParseBaseline(tt.name); tt.of != nil {
			x := mat.NewDense(easy.samples, 1, nil)
			x.Apply(func(i, _ int, _ float64) float64 { return tt.of(y.At(i, 0), i) }, x)
			o.Baseline.File = save(t, filepath.Join(folder, "direct.npy"), x)
		}
		must.Succeed(t, err)
		r, err := Run(t.Context(), o, onCPU, nil)
		if strings.Contains(tt.want, refused) {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
			}
			if own := o; tt.of != nil {
				own.Code, own.Outputs, own.Baseline, own.Recommend = "direct", o.Baseline.File, Baseline{}, false
				if _, err := Run(t.Context(), own, onCPU, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s as the network: %v, want %q", tt.name, err, tt.want)
				}
			}
			continue
		}
		must.Succeed(t, err)
		if text := strings.Join(append(r.Opening, r.Fit.Recommendation.Notes...), " "); !strings.Contains(text,
			tt.want) || (tt.want == believed) != (r.Fit.Direct.Warning == "") {
			t.Errorf("%s: %q, want %q", tt.name, text, tt.want)
		}
		if same := cmp.Equal(r.Fit.Recommendation, alone.Recommendation,
			cmpopts.EquateNaNs(), cmpopts.IgnoreFields(forecast.Decision{}, "Best")); same == (tt.want == believed) {
			t.Errorf("%s: the same forecasts as without it: %v", tt.name, same)
		}
	}
}

// TestEmptyRange: a report says which levels at the ends of the range no target has.
func TestEmptyRange(t *testing.T) {
	for _, tt := range []struct {
		seen   []int // from, to
		lo, hi float64
		want   string
	}{
		{[]int{1, 64}, 0, 1, ""},
		{[]int{4, 61}, 0, 1, ""},
		{[]int{12, 53}, -90, 90, "No target is of levels 1 to 11 (-90 to -60) or levels 54 to 64 (60 to 90): 34 % of the levels are empty."},
		{[]int{1, 32}, 0, 63, "No target is of levels 33 to 64 (31.5 to 63): 50 % of the levels are empty."},
		{[]int{9, 64}, 0, 0, "No target is of levels 1 to 8: 12 % of the levels are empty."},
	} {
		f := &Fit{Levels: 64, LevelWidth: 1, Prior: make([]float64, 64)}
		for _, n := range tt.seen {
			f.Prior[n-1] = 0.5
		}
		if tt.hi > tt.lo {
			f.Range, f.LevelWidth = &[2]float64{tt.lo, tt.hi}, (tt.hi-tt.lo)/63
		}
		if got := f.emptyText(); !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%v: %q, want %q", tt.seen, got, tt.want)
		}
	}
	half, twice := small(t), small(t)
	for _, path := range []*string{&half.Targets, &half.Outputs} { // samples of the levels 1 to 4
		m := must.Get(arrayfile.ReadFile(*path))(t)
		n, columns := m.Dims()
		*path = save(t, filepath.Join(t.TempDir(), "half.npy"), m.Slice(0, n/2, 0, columns))
	}
	twice.Range = LabelRange{Lo: 1, Hi: 15} // is wrong, and the verdict is a warning
	for want, o := range map[string]Options{"No target is of levels 5 to 8: 50 %": half,
		"No target is of levels 6 to 8 (10 to 15): 38 %": twice} {
		if s := judge(t, o); !strings.Contains(s.Fit.Verdict, want) || s.Fit.Verdict != strings.Join(s.Opening, " ") {
			t.Errorf("%q, want %q", s.Opening, want)
		}
	}
}

// TestDistinct: outputs that are given twice are refused, however their paths are spelled.
func TestDistinct(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"z.npy", "y.npy", "all.npz"} {
		must.Succeed(t, os.WriteFile(name, nil, 0o600))
	}
	must.Succeed(t, os.Symlink("z.npy", "link.npy"))
	for _, tt := range []struct {
		outputs []string
		twice   bool
	}{
		{[]string{"z.npy"}, false},
		{[]string{"z.npy", "y.npy"}, false},
		{[]string{"z.npy", "bits:./z.npy"}, true},
		{[]string{"z.npy", "y.npy", "link.npy"}, true},
		{[]string{"z.npy", "y.npy", "logits:y.npy"}, true},
		{[]string{"all.npz:a", "all.npz:b"}, false},
		{[]string{"all.npz:a", "logits:all.npz:a"}, true},
		{[]string{"all.npz", "all.npz:a"}, true},
		{[]string{"missing.npy", "other.npy"}, false},
	} {
		var others []Other
		for _, o := range tt.outputs[1:] {
			others = append(others, Other{Code: "unary", Outputs: o})
		}
		if err := CheckDistinct(tt.outputs[0], others); (err != nil) != tt.twice {
			t.Errorf("%q: %v", tt.outputs, err)
		}
	}
}

// TestCandidates: a candidate that is no code is refused before samples are read.
func TestCandidates(t *testing.T) {
	o := easy.save(t, t.TempDir(), "z")
	o.Candidates = []string{save(t, filepath.Join(t.TempDir(), "c.npy"), mat.NewDense(2, 2, []float64{0, 1, 1, 0}))}
	if _, err := Run(t.Context(), o, onCPU, nil); err == nil || !strings.Contains(err.Error(),
		"2 rows, but 16 levels") {
		t.Error(err)
	}
	o.Candidates = []string{"gray", "probe", "johnson"} // which are ranked anyway
	n := must.Get(openNetwork(t.Context(), o))(t)
	defer n.Close()
	ranked := must.Get(rankedCodes(n, must.Get(scenario.OpenCodes(o.Candidates, n.sizes()))(t)))(t)
	if len(ranked) != len(code.Families())+2 { // and direct regression, and CORN
		t.Errorf("%d codes", len(ranked))
	}
}

// TestTraining: logits that were not trained bit by bit are recognised.
func TestTraining(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]perceived.Training{"moved": perceived.CE, "kept": perceived.BCE,
		"onehot": perceived.CE} {
		d := easy
		switch name {
		case "moved": // what softmax(Z·C) does not change, for unary: no constant is free, but a trend is small
			d.code = "unary"
			d.change = func(z []float64) {
				for k := range z {
					z[k] += 3
				}
			}
		case "onehot": // one-hot and CE: a constant changes nothing
			d.code, d.training = "onehot", perceived.CE
			d.change = func(z []float64) {
				for k := range z {
					z[k] += 5
				}
			}
		}
		o := d.save(t, dir, name)
		o.Training = ""
		s := judge(t, o)
		if got := s.Fit.Perceived.Training; got != want {
			t.Errorf("%s: trained for %s, want %s; %+v", name, got, want, s.Fit.Perceived)
		}
		text := strings.Join(s.Opening, " ")
		if strings.Contains(text, "thresholds at 0 mean nothing") != (want == perceived.CE) {
			t.Errorf("%s: %q", name, text)
		}
	}
}

// TestDead: classifiers that learnt nothing are listed and set aside.
func TestDead(t *testing.T) {
	d := easy
	whole := judge(t, d.save(t, t.TempDir(), "z"))
	d.change = func(z []float64) { z[3], z[6] = -3, -z[6] }
	o := d.save(t, t.TempDir(), "z")

	s := judge(t, o)
	if !slices.Equal(s.Fit.Dead, []int{4, 7}) {
		t.Fatalf("dead %v", s.Fit.Dead)
	}
	if p := s.Fit.Perceived; math.Abs(p.Noise/0.9-1) > 0.1 {
		t.Errorf("s = %v", p.Noise)
	}
	for name, pair := range map[string][2]float64{"r": {s.Fit.R, whole.Fit.R}, "σ": {s.Fit.Sigma, whole.Fit.Sigma}} {
		if math.Abs(pair[0]/pair[1]-1) > 0.15 {
			t.Errorf("%s = %v, and %v with all bits", name, pair[0], pair[1])
		}
	}
	if text := strings.Join(s.Opening, " "); !strings.Contains(text, "bits 4, 7 are dead") {
		t.Errorf("%q", text)
	}
}

// TestOthers: two networks of a probe narrow the forecasts, and the table has a row for each code
// and training.
func TestOthers(t *testing.T) {
	dir := t.TempDir()
	o := easy.save(t, dir, "z")
	probe := easy
	probe.code = "probe"
	lines := "code,loss,seed,outputs\n"
	for seed := range uint64(2) {
		probe.seed = 10 + seed
		probe.save(t, dir, fmt.Sprint("probe", seed))
		lines += fmt.Sprintf("probe,BCE,%d,probe%d.npy\n", seed, seed)
	}
	path := filepath.Join(dir, "runs.csv")
	write := func(text string) {
		t.Helper()
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("\ufeff" + lines)
	others, err := ReadRuns(path)
	if err != nil || len(others) != 2 || others[1].Outputs != filepath.Join(dir, "probe1.npy") ||
		others[1].Training != perceived.BCE {
		t.Fatalf("%+v, %v", others, err)
	}
	o.Recommend = true
	width := func(f *Fit) float64 {
		at := slices.IndexFunc(f.Recommendation.Ranking, func(r forecast.Row) bool {
			return r.Code == "gray" &&
				r.Training == "bce" && r.Best
		})
		r := f.Recommendation.Ranking[at]
		return math.Log(r.RatioCI[1] / r.RatioCI[0])
	}
	alone := width(judge(t, o).Fit)
	o.Others = others
	s := judge(t, o)
	if both := width(s.Fit); both > 0.9*alone {
		t.Errorf("ln hi/lo of gray is %v alone, and %v with two networks of probe", alone, both)
	}
	best := 0
	for _, r := range s.Fit.Networks {
		if !(r.Interval[0] < r.Observed && r.Observed < r.Interval[1]) ||
			math.Abs(float64(r.Perceived/r.Observed)-1) > 0.3 {
			t.Errorf("%+v", r)
		}
		if want := map[string]int{"johnson": 1, "probe": 2}[r.Code]; r.Seeds != want {
			t.Errorf("%+v, want %d seeds", r, want)
		}
		if r.Best {
			best++
		}
	}
	if best != 2 {
		t.Errorf("%d best rows", best)
	}
	for text, want := range map[string]string{
		"":                         "no column code",
		"code,loss,seed\n":         "no column outputs",
		"code,loss,seed,outputs\n": "no networks",
		"code,loss,seed,outputs\nx,MSE,1,z.npy\n":   "line 2, column loss: \"MSE\"; want BCE, CE, soft, L1 or L2",
		"code,loss,seed,outputs\nx,CE,1,\n":         "line 2: a code and its outputs",
		"code,loss,seed,outputs\nx,CE\n":            "wrong number of fields",
		"code,loss,seed,seed,outputs\nx,CE,1,1,z\n": "line 1 has the column seed twice",
	} {
		write(text)
		if _, err := ReadRuns(path); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v; want an error about %q", text, err, want)
		}
	}
	colon := filepath.Join(t.TempDir(), "a:b.csv")
	must.Succeed(t, os.WriteFile(colon, nil, 0o600))
	for text, want := range map[string]Other{
		"gray:z.npy":            {Code: "gray", Outputs: "z.npy"},
		"a.npy:logits:z.npz:z":  {Code: "a.npy", Outputs: "logits:z.npz:z"},
		colon + ":bits:c:d.npy": {Code: colon, Outputs: "bits:c:d.npy"},
	} {
		if got, err := ParseOther(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "gray", ":z.npy", "gray:"} {
		if _, err := ParseOther(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
	if got := relativeTo("a", "logits:z.npy"); got != "logits:"+filepath.Join("a", "z.npy") {
		t.Error(got)
	}
}

// TestLevelsAsked: where several numbers of levels fit the outputs, Open asks which.
func TestLevelsAsked(t *testing.T) {
	o := easy.save(t, t.TempDir(), "z")
	o.Levels = 0
	if _, err := Run(t.Context(), o, onCPU, nil); err == nil || !strings.Contains(err.Error(),
		"15 to 16 levels; say how many levels there are") {
		t.Error(err)
	}
}
