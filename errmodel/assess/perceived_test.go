package assess

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/forecast"
	"belsim/errmodel/perceived"
	"belsim/errmodel/scenario"
	"belsim/theory/base/must"
	"belsim/theory/base/position"
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
		Temperature: 1, Decoders: decode.Builtin(), Training: d.training,
	}
}

// easy is a network of an easy code, which the model describes.
var easy = drawn{code: "johnson", levels: 16, samples: 3000, noise: 0.9, training: perceived.BCE, seed: 1}

// recommended is the report on the easy network with a recommendation, which several tests read.
func recommended(t *testing.T) *Report {
	t.Helper()
	once.Do(func() {
		o := easy.save(t, t.TempDir(), "z")
		o.Recommend = true
		report = judge(t, o)
	})
	if report == nil {
		t.Fatal("the easy network has no report")
	}
	return report
}

var (
	once   sync.Once
	report *Report
)

// first is the first row of a fit's ranking that is of some kind.
func first(t *testing.T, f *Fit, is func(forecast.Row) bool) forecast.Row {
	t.Helper()
	i := slices.IndexFunc(f.Recommendation.Ranking, is)
	if i < 0 {
		t.Fatal("no such row")
	}
	return f.Recommendation.Ranking[i]
}

func TestPerceive(t *testing.T) {
	s := recommended(t)
	p := s.Fit.Perceived
	want := *p
	want.Training, want.Describes, want.CutoffFitted = "bce", true, false
	same(t, "the model", want, *p)
	same(t, "the number of dead bits", 0, len(s.Fit.Dead))
	must.Within(t, "s", 0.9, p.NoiseInterval[0], p.NoiseInterval[1])
	for _, d := range s.Fit.Decoders {
		must.Within(t, d.Decoder+": the model's error over the observed one", d.Perceived/d.Observed, 0.9, 1.1)
	}
	rates := []forecast.BitRate{{Transitions: 1, Bits: 1}, {Transitions: 2, Bits: 7}}
	same(t, "rates", rates, p.Rates, cmpopts.IgnoreFields(forecast.BitRate{}, "Observed", "Model"))
	for _, r := range p.Rates {
		must.Within(t, fmt.Sprintf("%d transitions: the model's rate over the observed one", r.Transitions),
			r.Model/r.Observed, 0.85, 1.15)
	}
}

// TestEnd: a second network of the same code that differs by more than seeds do says that the
// training may not have ended.
func TestEnd(t *testing.T) {
	const unknown = "Not known: whether the training has ended"
	says(t, strings.Join(recommended(t).Fit.Recommendation.Notes, " "), unknown)
	dir := t.TempDir()
	o := easy.save(t, dir, "z")
	o.Recommend = true
	for name, differs := range map[string]bool{"seed": false, "checkpoint": true} {
		other := easy
		if other.seed += 50; differs {
			other.noise *= 1.3
		}
		o.Others = []Other{{Code: o.Code, Outputs: other.save(t, dir, name).Outputs}}
		f := judge(t, o).Fit
		text := strings.Join(f.Recommendation.Notes, " ")
		if strings.Contains(text, "Two networks of johnson differ by") != differs || strings.Contains(text, unknown) {
			t.Errorf("%s: %q", name, text)
		}
		// Forecasts rest on networks of another seed, and not on checkpoints.
		if last := f.Decoders[len(f.Decoders)-1]; last.Network != 2 || last.Known == differs {
			t.Errorf("%s: %+v", name, last)
		}
	}
}

// TestHardDecisions: the row of a network whose hard decisions alone are known is what was
// measured, also where its logits are forecast to be better.
func TestHardDecisions(t *testing.T) {
	d := easy
	d.change = func(z []float64) {
		for k := range z {
			z[k] = math.Copysign(1, z[k])
		}
	}
	for _, name := range []string{"johnson", "hadamard"} {
		d.code = name
		o := d.save(t, t.TempDir(), "z")
		o.Recommend = true
		s := judge(t, o)
		text := printed(t, s.Section())
		says(t, text, "measured: ")
		if strings.Count(text, "yours: "+name) != 1 || strings.Contains(text, "train "+name) {
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
	s := recommended(t)
	f, rec := s.Fit, s.Fit.Recommendation
	says(t, position.Count(printed(t, s.Section()), 1), "(--also probe:FILE).", "yours: johnson", "measured: ")
	says(t, strings.Join(s.Opening, " | "), "best decoder is", "| The network behaves as if",
		"| Next: train longer, or keep johnson: no head is forecast to be clearly better.")
	best, trained, last := map[scenario.Design]int{}, 0, 0.0
	for i, r := range rec.Ranking {
		what := fmt.Sprintf("row %d, %+v", i, r.Design)
		must.Within(t, what+": the forecast", r.Forecast, r.Interval[0], r.Interval[1])
		must.Within(t, what+": the ratio", r.Ratio, r.RatioCI[0], r.RatioCI[1])
		same(t, what+": the largest forecast so far", r.Forecast, max(last, r.Forecast))
		last = r.Forecast
		if r.Ratio != 1 {
			same(t, what+": better is likely", r.Ratio < 1, r.Better > 0.5)
		}
		if r.Training != "bce" && r.Training != "l1" {
			same(t, what+": the outputs", decode.Logits, r.Outputs)
		}
		if r.Best {
			best[r.Head()]++
		}
		if r.Trained {
			trained++
			d := f.Decoders[slices.IndexFunc(f.Decoders, func(d DecoderRow) bool { return d.Design == r.Design })]
			want := r
			want.Measured, want.Code, want.Training = true, "johnson", "bce"
			want.Forecast, want.Ratio = d.Observed, max(r.Ratio, 1)
			same(t, what, want, r, cmpopts.EquateApprox(1e-12, 0))
		}
	}
	if len(best) != 3*len(code.Families())+1 || trained == 0 || rec.Decision.Action != "stay" {
		t.Errorf("%d codes and trainings, %d rows of the network's", len(best), trained)
	}
	for name, n := range best {
		same(t, fmt.Sprintf("%+v: the number of best decoders", name), 1, n)
	}
	// Easy codes may be better, and one-hot trained bit by bit is not.
	unary := first(t, f, func(r forecast.Row) bool { return r.Code == "unary" && r.Training == "bce" })
	hot := first(t, f, func(r forecast.Row) bool { return r.Code == "onehot" && r.Outputs == "bits" })
	must.Within(t, "no gain of unary", 1, unary.RatioCI[0], unary.RatioCI[1])
	must.Within(t, "the least ratio of one-hot", hot.RatioCI[0], 1, hot.RatioCI[1])
	must.Within(t, "the probability that one-hot is better", hot.Better, -1, 0.05)
}

// TestProgress: what is told to be done adds up to what was said to be.
func TestProgress(t *testing.T) {
	o, counted := small(t), map[string]uint64{}
	o.Recommend, o.FitDecoder = true, true
	must.Get(Run(t.Context(), o, 1, func(what string, total uint64) (func(uint64), func()) {
		done := uint64(0)
		return func(n uint64) { done += n }, func() {
			if counted[what] = done; done != total {
				t.Errorf("%s: %d of %d", what, done, total)
			}
		}
	}))(t)
	want := map[string]uint64{"samples read": 2 * 800, "codes": 2 * uint64(len(code.Families())+1)}
	same(t, "counted", want, counted)
}

// TestFarFromModel: a network that the model does not describe is told so, and has forecasts with
// wider intervals.
func TestFarFromModel(t *testing.T) {
	d := easy
	d.change = func(z []float64) { // a tenth of the decisions are turned round
		for k := range z {
			if math.Mod(math.Abs(1e4*z[k]), 10) < 1 {
				z[k] = -z[k]
			}
		}
	}
	o := d.save(t, t.TempDir(), "z")
	o.Recommend = true
	width := func(f *Fit) float64 {
		r := first(t, f, func(r forecast.Row) bool { return r.Code == "unary" && r.Best })
		return r.RatioCI[1] / r.RatioCI[0]
	}
	far, narrow := judge(t, o).Fit, width(recommended(t).Fit)
	says(t, far.Perceived.Verdict, "does not behave as if")
	if wide := width(far); far.Perceived.Describes || wide < 1.5*narrow {
		t.Errorf("%+v, hi/lo %v, and %v of a network that the model describes", far.Perceived, wide, narrow)
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
	f := judge(t, o).Fit
	says(t, f.Perceived.Verdict, "without any information")
	says(t, f.Verdict, "The error is that of guessing")
	same(t, "the model describes it", false, f.Perceived.Describes)
	same(t, "s", math.NaN(), f.Perceived.Noise)
	same(t, "rows of the ranking", 0, len(f.Recommendation.Ranking))
}

// TestDeadNetwork: a network whose outputs are the same for all samples has no best decoder. One
// dead classifier is no dead network.
func TestDeadNetwork(t *testing.T) {
	sign := 1.0
	for name, change := range map[string]func(z []float64){
		"equal": func(z []float64) { copy(z, []float64{-1, 0, 1, 2, 3, 4, 5, 6}) },
		"of float32": func(z []float64) {
			sign = -sign
			for k := range z {
				z[k] = 0.3*float64(k-4) + sign*1e-7
			}
		},
		"alive": func(z []float64) { z[0] = 2 },
	} {
		d := easy
		d.change = change
		text := strings.Join(judge(t, d.save(t, t.TempDir(), "z")).Opening, " ")
		if dead := strings.Contains(text, "do not depend on the input"); dead == (name == "alive") ||
			dead == strings.Contains(text, "best decoder") {
			t.Errorf("%s: %q", name, text)
		}
	}
}

// TestBaseline: the verdict and the result have quantization and direct regression, in label units
// where there is a range and in levels else.
func TestBaseline(t *testing.T) {
	const lo, width = 10, 0.5 // levels 1 to 16 as labels that lie 0.1 and 0.3 of a level above them, by turns
	y := easy.targets()
	y.Apply(func(i, _ int, v float64) float64 { return lo + width*(min(v+0.1+0.2*float64(i%2), 16)-1) }, y)
	plain := easy.save(t, t.TempDir(), "z")
	plain.Baseline = Baseline{Error: 1}
	real := plain
	real.Targets, real.Range = save(t, filepath.Join(t.TempDir(), "y.npy"), y), LabelRange{Lo: lo, Hi: lo + width*15}
	real.Baseline, real.Recommend = Baseline{Error: width}, true
	for _, tt := range []struct {
		o            Options
		quantization float64 // but for the last level, of which labels are the level itself
	}{{plain, 0}, {real, width * 0.2}} {
		f := judge(t, tt.o).Fit
		says(t, f.Verdict, ": this network is better: ")
		same(t, "quantization", tt.quantization, f.Quantization, cmpopts.EquateApprox(0.1, 0))
		same(t, "the error of direct regression", tt.o.Baseline.Error, f.Direct.Error)
		same(t, "the verdict says so", tt.quantization > 0, strings.Contains(f.Verdict, "rounding labels to levels alone"))
		if !tt.o.Recommend {
			continue
		}
		d := first(t, f, func(r forecast.Row) bool { return r.Code == "direct" })
		want := d
		want.Measured, want.Trained, want.Training, want.Bits = true, false, "l1", 1
		want.Ratio = f.Direct.Error / f.Direct.Network
		same(t, "direct regression", want, d, cmpopts.EquateApprox(1e-12, 0))
	}
}

// TestDoubted: predictions of direct regression that cannot be of these labels are refused, as a
// baseline and as the network itself; a baseline that is merely bad is told of, and changes no
// forecast.
func TestDoubted(t *testing.T) {
	const refused, doubted, believed = "want ", "No forecast uses its error", "this network is "
	const guess = doubted + ", for the median target alone would be at least as near"
	folder, y := t.TempDir(), easy.targets()
	o := easy.save(t, folder, "z")
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
		{"too good", func(y float64, i int) float64 { return y + noise[i]/50 }, doubted},
		{"0.03", nil, doubted}, {"4", nil, doubted}, {"4.5", nil, guess}, {"1", nil, believed},
		{"16", nil, refused + "a mean |error| in levels, of 15 at most"},
	} {
		o := o
		var err error
		if o.Baseline, err = ParseBaseline(tt.name); tt.of != nil {
			x := mat.NewDense(easy.samples, 1, nil)
			x.Apply(func(i, _ int, _ float64) float64 { return tt.of(y.At(i, 0), i) }, x)
			o.Baseline.File = save(t, filepath.Join(folder, "direct.npy"), x)
		}
		must.Succeed(t, err)
		if strings.Contains(tt.want, refused) {
			refuses(t, o, tt.want)
			if tt.of != nil { // as the network itself
				o.Code, o.Outputs, o.Baseline = "direct", o.Baseline.File, Baseline{}
				refuses(t, o, tt.want)
			}
			continue
		}
		o.Recommend = tt.name == "right" || tt.name == "too good"
		f := judge(t, o).Fit
		if says(t, f.Verdict, tt.want); (tt.want == believed) != (f.Direct.Warning == "") {
			t.Errorf("%s: %q", tt.name, f.Direct.Warning)
		}
		if o.Recommend {
			ignored := cmpopts.IgnoreFields(forecast.Decision{}, "Best")
			same := cmp.Equal(f.Recommendation, recommended(t).Fit.Recommendation, cmpopts.EquateNaNs(), ignored)
			used := strings.Contains(strings.Join(f.Recommendation.Notes, " "), "counts as that of a second network")
			if used != (tt.want == believed) || same == used {
				t.Errorf("%s: the error is used: %v; the same forecasts as without it: %v", tt.name, used, same)
			}
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
		{[]string{"z.npy", "y.npy"}, false}, {[]string{"z.npy", "bits:./z.npy"}, true},
		{[]string{"z.npy", "y.npy", "link.npy"}, true}, {[]string{"z.npy", "y.npy", "logits:y.npy"}, true},
		{[]string{"all.npz:a", "all.npz:b"}, false}, {[]string{"all.npz:a", "logits:all.npz:a"}, true},
		{[]string{"all.npz", "all.npz:a"}, true}, {[]string{"missing.npy", "other.npy"}, false},
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
	refuses(t, o, "2 rows, but 16 levels")
	n := must.Get(openNetwork(t.Context(), o))(t)
	defer n.Close()
	// codes that are ranked anyway
	candidates := must.Get(code.OpenAll([]string{"gray", "probe", "johnson"}, n.sizes()))(t)
	if ranked := must.Get(rankedCodes(n, candidates))(t); len(ranked) != len(code.Families())+1 {
		t.Errorf("%d codes; want the named ones and direct regression", len(ranked))
	}
}

// TestTraining: logits that were not trained bit by bit are recognised.
func TestTraining(t *testing.T) {
	shift := func(by float64) func(z []float64) {
		return func(z []float64) { floats.AddConst(by, z) }
	}
	for _, tt := range []struct {
		code           string
		training, want perceived.Training
		shift          float64
	}{
		{"johnson", perceived.BCE, perceived.BCE, 0},
		{"unary", perceived.BCE, perceived.CE, 3}, // softmax(Z·C) hardly changes: a trend is small
		{"onehot", perceived.CE, perceived.CE, 5}, // a constant changes nothing
	} {
		d := easy
		d.code, d.training, d.change = tt.code, tt.training, shift(tt.shift)
		o := d.save(t, t.TempDir(), "z")
		o.Training = ""
		s := judge(t, o)
		unread := strings.Contains(strings.Join(s.Remarks, " "), "thresholds at 0 mean nothing")
		if got := s.Fit.Perceived.Training; got != tt.want || unread != (got == perceived.CE) {
			t.Errorf("%s: trained for %s, want %s; %q", tt.code, got, tt.want, s.Fit.Verdict)
		}
	}
}

// TestDead: classifiers that learnt nothing are listed and set aside.
func TestDead(t *testing.T) {
	d, whole := easy, recommended(t).Fit
	d.change = func(z []float64) { z[3], z[6] = -3, -z[6] }
	f := judge(t, d.save(t, t.TempDir(), "z")).Fit
	says(t, f.Verdict, "2 of 8 columns are dead: 4, 7 always say")
	same(t, "dead bits", []int{4, 7}, f.Dead)
	for name, pair := range map[string][3]float64{"s": {f.Perceived.Noise, 0.9, 0.1}, "r": {f.R, whole.R, 0.15},
		"σ": {f.Sigma, whole.Sigma, 0.15}} {
		must.Within(t, name+" over that with all bits", pair[0]/pair[1], 1-pair[2], 1+pair[2])
	}
}

// TestOthers: two networks of a probe narrow the forecasts, and the report has the best decoder of
// each network.
func TestOthers(t *testing.T) {
	dir := t.TempDir()
	o, probe := easy.save(t, dir, "z"), easy
	probe.code = "probe"
	for seed := range uint64(2) {
		probe.seed = 10 + seed
		o.Others = append(o.Others, Other{Code: "probe", Outputs: probe.save(t, dir, fmt.Sprint("probe", seed)).Outputs})
	}
	o.Recommend = true
	f := judge(t, o).Fit
	width := func(f *Fit) float64 {
		r := first(t, f, func(r forecast.Row) bool { return r.Code == "gray" && r.Training == "bce" && r.Best })
		return math.Log(r.RatioCI[1] / r.RatioCI[0])
	}
	if alone, both := width(recommended(t).Fit), width(f); both > 0.9*alone {
		t.Errorf("ln hi/lo of gray is %v alone, and %v with two networks of probe", alone, both)
	}
	best := map[string]int{}
	for i, r := range f.bestOfEach() {
		must.Within(t, fmt.Sprintf("%+v: the model's error over the observed one", r.Design), r.Perceived/r.Observed, 0.7, 1.3)
		same(t, "network", i+1, r.Network)
		best[r.Code]++
		for _, x := range f.Decoders {
			if x.Network == r.Network && x.Observed < r.Observed {
				t.Errorf("%+v is better than %+v", x, r)
			}
		}
	}
	same(t, "the best rows", map[string]int{"johnson": 1, "probe": 2}, best)
}

// TestParseOther reads CODE:OUTPUTS, of which both may have colons.
func TestParseOther(t *testing.T) {
	colon := filepath.Join(t.TempDir(), "a:b.csv")
	must.Succeed(t, os.WriteFile(colon, nil, 0o600))
	for text, want := range map[string]Other{
		"gray:z.npy":            {Code: "gray", Outputs: "z.npy"},
		"a.npy:logits:z.npz:z":  {Code: "a.npy", Outputs: "logits:z.npz:z"},
		colon + ":bits:c:d.npy": {Code: colon, Outputs: "bits:c:d.npy"},
		"":                      {}, "gray": {}, ":z.npy": {}, "gray:": {},
	} {
		if got, err := ParseOther(text); got != want || (err != nil) != (want == Other{}) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}
