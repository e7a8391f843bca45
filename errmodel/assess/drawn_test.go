package assess

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/head"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// drawn is a network that sees each target with normal noise, and gives the logit that each bit then
// has: ln Σ φ((x − n)/noise) over the levels n whose bit is one, less that of the others.
type drawn struct {
	code     string
	levels   int
	samples  int
	noise    float64 // in levels
	training head.Training
	seed     uint64
	change   func(z []float64) // of the logits of a sample; may be nil
}

// easy is a network of an easy code.
var easy = drawn{code: "johnson", levels: 16, samples: 3000, noise: 0.9, training: head.BCE, seed: 1}

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
	y, z := d.targets(), mat.NewDense(d.samples, c.Bits(), nil)
	r := rand.New(rand.NewPCG(d.seed, 1))
	for i := range d.samples {
		seen := y.At(i, 0) + d.noise*r.NormFloat64()
		row := z.RawRowView(i)
		for k := range row {
			var logs [2][]float64
			for n := range d.levels {
				off, bit := (seen-float64(n+1))/d.noise, int(c.Value(n, k))
				logs[bit] = append(logs[bit], -off*off/2)
			}
			const certain = 30 // the logit of a bit that never changes
			switch {
			case len(logs[0]) == 0:
				row[k] = certain
			case len(logs[1]) == 0:
				row[k] = -certain
			default:
				row[k] = floats.LogSumExp(logs[1]) - floats.LogSumExp(logs[0])
			}
		}
		if d.change != nil {
			d.change(row)
		}
	}
	return Options{Code: d.code, Levels: d.levels, Targets: save(t, filepath.Join(dir, "y.npy"), y),
		Outputs: save(t, filepath.Join(dir, name+".npy"), z), Temperature: 1, Decoders: decode.Builtin(),
		Training: d.training}
}

// TestProgress: what is told to be done adds up to what was said to be.
func TestProgress(t *testing.T) {
	o, counted := small(t), map[string]uint64{}
	o.FitDecoder = true
	must.Get(Run(t.Context(), o, 1, func(what string, total uint64) (func(uint64), func()) {
		done := uint64(0)
		return func(n uint64) { done += n }, func() {
			if counted[what] = done; done != total {
				t.Errorf("%s: %d of %d", what, done, total)
			}
		}
	}))(t)
	want := map[string]uint64{"samples read": 2 * 800}
	same(t, "counted", want, counted)
}

// TestNothing: outputs without any information are told so.
func TestNothing(t *testing.T) {
	d, r := easy, rand.New(rand.NewPCG(6, 6))
	d.change = func(z []float64) {
		for k := range z {
			z[k] = r.NormFloat64()
		}
	}
	says(t, judge(t, d.save(t, t.TempDir(), "z")).Fit.Verdict, "The error is that of guessing")
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
	real.Baseline = Baseline{Error: width}
	for _, tt := range []struct {
		o            Options
		quantization float64 // but for the last level, of which labels are the level itself
	}{{plain, 0}, {real, width * 0.2}} {
		f := judge(t, tt.o).Fit
		says(t, f.Verdict, ": this network is better: ")
		same(t, "quantization", tt.quantization, f.Quantization, cmpopts.EquateApprox(0.1, 0))
		same(t, "the error of direct regression", tt.o.Baseline.Error, f.Direct.Error)
		same(t, "the verdict says so", tt.quantization > 0, strings.Contains(f.Verdict, "rounding labels to levels alone"))
	}
}

// TestDoubted: predictions of direct regression that cannot be of these labels are refused, as a
// baseline and as the network itself; a baseline that is merely bad is told of.
func TestDoubted(t *testing.T) {
	const refused, doubted, believed = "want ", "Check its units", "this network is "
	const guess = "The median target alone would be at least as near. " + doubted
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
		f := judge(t, o).Fit
		if says(t, f.Verdict, tt.want); (tt.want == believed) != (f.Direct.Warning == "") {
			t.Errorf("%s: %q", tt.name, f.Direct.Warning)
		}
	}
}

// TestTraining: logits that were not trained bit by bit are recognised.
func TestTraining(t *testing.T) {
	shift := func(by float64) func(z []float64) {
		return func(z []float64) { floats.AddConst(by, z) }
	}
	for _, tt := range []struct {
		code           string
		training, want head.Training
		shift          float64
	}{
		{"johnson", head.BCE, head.BCE, 0},
		{"unary", head.BCE, head.CE, 3}, // softmax(Z·C) hardly changes: a trend is small
		{"onehot", head.CE, head.CE, 5}, // a constant changes nothing
	} {
		d := easy
		d.code, d.training, d.change = tt.code, tt.training, shift(tt.shift)
		o := d.save(t, t.TempDir(), "z")
		o.Training = ""
		s := judge(t, o)
		unread := strings.Contains(strings.Join(s.Remarks, " "), "thresholds at 0 mean nothing")
		if got := s.Fit.Decoders[0].Training; got != tt.want || unread != (got == head.CE) {
			t.Errorf("%s: trained for %s, want %s; %q", tt.code, got, tt.want, s.Fit.Verdict)
		}
	}
}

// TestDead: classifiers that learnt nothing are listed and set aside.
func TestDead(t *testing.T) {
	d, whole := easy, judge(t, easy.save(t, t.TempDir(), "z")).Fit
	d.change = func(z []float64) { z[3], z[6] = -3, -z[6] }
	f := judge(t, d.save(t, t.TempDir(), "z")).Fit
	says(t, f.Verdict, "2 of 8 columns are dead: 4, 7 always say")
	same(t, "dead bits", []int{4, 7}, f.Dead)
	for name, pair := range map[string][3]float64{"r": {f.R, whole.R, 0.15},
		"σ": {f.Sigma, whole.Sigma, 0.15}} {
		must.Within(t, name+" over that with all bits", pair[0]/pair[1], 1-pair[2], 1+pair[2])
	}
}
