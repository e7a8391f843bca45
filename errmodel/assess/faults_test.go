package assess

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/fault"
	"belsim/errmodel/fitdecoder"
	"belsim/errmodel/head"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/decode"
)

// faultyNetwork is a network of testdata/faults: some of its samples, and how they are read.
type faultyNetwork struct {
	name, code string
	training   head.Training
	of         LabelRange
	y          []float64
	z          [][]float64
	rng        *rand.Rand
	kind       string // before the file of outputs
	levels     int
}

// faultyNetworks are ten networks of five tasks.
var faultyNetworks = []faultyNetwork{
	{name: "diamonds-softmax", code: "softmax", of: LabelRange{Lo: 2.5, Hi: 4.3}},
	{name: "diamonds-unary", code: "unary", of: LabelRange{Lo: 2.5, Hi: 4.3}},
	{name: "flights-hl-gauss", code: "hl-gauss", of: LabelRange{Lo: -60, Hi: 90}},
	{name: "flights-johnson", code: "johnson", of: LabelRange{Lo: -60, Hi: 90}},
	{name: "weather-softmax", code: "softmax", of: LabelRange{Lo: 10, Hi: 101}},
	{name: "weather-unary", code: "unary", of: LabelRange{Lo: 10, Hi: 101}},
	{name: "bikes-hl-gauss", code: "hl-gauss", of: LabelRange{Lo: 1, Hi: 26}},
	{name: "bikes-b1jdj", code: "b1jdj", of: LabelRange{Lo: 1, Hi: 26}},
	{name: "digits-softmax", code: "softmax", of: LabelRange{Lo: -2, Hi: 2}},
	{name: "digits-johnson", code: "johnson", training: head.CE, of: LabelRange{Lo: -2, Hi: 2}},
}

// load reads the samples, and takes some of them at random.
func (n faultyNetwork) load(t *testing.T, samples int, seed uint64) *faultyNetwork {
	n.levels = 32
	return n.read(t, filepath.Join("..", "..", "testdata", "faults", n.name+".npz"), samples, seed)
}

func (n faultyNetwork) read(t *testing.T, path string, samples int, seed uint64) *faultyNetwork {
	y, z := must.Get(arrayfile.ReadFile(path+":targets"))(t), must.Get(arrayfile.ReadFile(path+":outputs"))(t)
	n.rng = rand.New(rand.NewPCG(seed, 59))
	all, _ := y.Dims()
	for _, i := range n.rng.Perm(all)[:min(all, samples)] {
		n.y, n.z = append(n.y, y.At(i, 0)), append(n.z, slices.Clone(z.RawRowView(i)))
	}
	return &n
}

func (n *faultyNetwork) width32() float64 { return (n.of.Hi - n.of.Lo) / 31 }

func (n *faultyNetwork) width() float64 { return (n.of.Hi - n.of.Lo) / float64(n.levels-1) }

// within leaves the samples whose targets lie in the range.
func (n *faultyNetwork) within() {
	for i := len(n.y) - 1; i >= 0; i-- {
		if n.y[i] < n.of.Lo || n.y[i] > n.of.Hi {
			n.y, n.z = slices.Delete(n.y, i, i+1), slices.Delete(n.z, i, i+1)
		}
	}
}

// each changes all outputs.
func (n *faultyNetwork) each(f func(z []float64)) {
	for _, z := range n.z {
		f(z)
	}
}

func (n *faultyNetwork) onehot() bool { return n.code == "softmax" || n.code == "hl-gauss" }

func softmax(z []float64) {
	sum := floats.LogSumExp(z)
	for k := range z {
		z[k] = math.Exp(z[k] - sum)
	}
}

func sigmoid(z []float64) {
	for k := range z {
		z[k] = 1 / (1 + math.Exp(-z[k]))
	}
}

type oneFault struct {
	name string
	put  func(n *faultyNetwork) (want []string)
}

// faults put one into a network each, and say with what words fit names it and its mend: of several texts one.
// A fault that a network cannot have has no words.
var faults = []oneFault{
	{"half a level", func(n *faultyNetwork) []string {
		n.of.Lo, n.of.Hi = n.of.Lo+n.width()/2, n.of.Hi+n.width()/2
		n.within()
		return []string{"half a level apart"}
	}},
	{"one level", func(n *faultyNetwork) []string {
		n.of.Lo, n.of.Hi = n.of.Lo-n.width(), n.of.Hi-n.width()
		n.within()
		return []string{"one level apart"}
	}},
	{"edges for centres", func(n *faultyNetwork) []string {
		w := n.width() * 31 / 32
		n.of.Lo, n.of.Hi = n.of.Lo-w/2, n.of.Hi+w/2
		return []string{"centres of bins", "different ranges"}
	}},
	{"reversed columns", func(n *faultyNetwork) []string {
		n.each(slices.Reverse[[]float64])
		return []string{"reverse", "inverted", "another order"}
	}},
	{"stretched by 2 %", func(n *faultyNetwork) []string {
		n.of.Hi += 0.02 * (n.of.Hi - n.of.Lo)
		return []string{"different ranges", "place the levels differently"}
	}},
	{"levels from 0", func(n *faultyNetwork) []string {
		for i, y := range n.y {
			n.y[i] = math.Round((y - n.of.Lo) / n.width())
		}
		n.of = LabelRange{}
		return []string{"count from 0", "one level apart"}
	}},
	{"levels from 1", func(n *faultyNetwork) []string {
		for i, y := range n.y {
			n.y[i] = math.Round((y-n.of.Lo)/n.width()) + 1
		}
		n.of = LabelRange{Lo: 0, Hi: 31}
		n.within()
		return []string{"one level apart", "outside the range"}
	}},
	{"softmax twice", func(n *faultyNetwork) []string {
		if n.onehot() {
			n.each(softmax)
			n.each(softmax)
			return []string{"softmax twice"}
		}
		n.each(sigmoid)
		n.each(sigmoid)
		return []string{"a second sigmoid"}
	}},
	{"sigmoids in percent", func(n *faultyNetwork) []string {
		if n.onehot() {
			return nil
		}
		n.each(func(z []float64) {
			sigmoid(z)
			floats.Scale(100, z)
		})
		return []string{"in percent"}
	}},
	{"log P of bits", func(n *faultyNetwork) []string {
		if n.onehot() {
			return nil
		}
		n.each(func(z []float64) {
			for k, v := range z {
				z[k] = -math.Log1p(math.Exp(-v))
			}
		})
		return []string{"logarithms of probabilities"}
	}},
	{"sigmoid for softmax", func(n *faultyNetwork) []string {
		if !n.onehot() {
			n.each(softmax)
			return []string{"add up to 1"}
		}
		n.each(sigmoid)
		return []string{"sigmoids of the outputs of a softmax"}
	}},
	{"inverted bits", func(n *faultyNetwork) []string {
		n.each(func(z []float64) { floats.Scale(-1, z) })
		return []string{"inverted", "reverse"}
	}},
	{"columns permuted", func(n *faultyNetwork) []string {
		order := n.rng.Perm(len(n.z[0]))
		n.each(func(z []float64) {
			old := slices.Clone(z)
			for k, from := range order {
				z[k] = old[from]
			}
		})
		return []string{"another order"}
	}},
	{"clipped ends", func(n *faultyNetwork) []string {
		sorted := slices.Sorted(slices.Values(n.y))
		lo, hi := sorted[len(sorted)/20], sorted[len(sorted)*19/20]
		for i, y := range n.y {
			n.y[i] = min(max(y, lo), hi)
		}
		return []string{"clips"}
	}},
	{"rows of other samples", func(n *faultyNetwork) []string {
		n.rng.Shuffle(len(n.z), func(i, j int) { n.z[i], n.z[j] = n.z[j], n.z[i] })
		return []string{"order of samples"}
	}},
	{"logits times 5", func(n *faultyNetwork) []string {
		n.each(func(z []float64) { floats.Scale(5, z) })
		return []string{"too large for their errors"}
	}},
	{"logits times 0.2", func(n *faultyNetwork) []string {
		n.each(func(z []float64) { floats.Scale(0.2, z) })
		return []string{"too small for their errors"}
	}},
	{"rows of NaN", func(n *faultyNetwork) []string {
		n.z[7][0] = math.NaN()
		return []string{"not a finite number"}
	}},
	{"dead bits", func(n *faultyNetwork) []string {
		m := len(n.z[0])
		n.each(func(z []float64) {
			for k := m / 3; k < m/2; k++ {
				z[k] = 0.25
			}
		})
		return []string{"dead"}
	}},
	{"another code", func(n *faultyNetwork) []string {
		others := map[string]string{"softmax": "hadamard", "hl-gauss": "hadamard", "johnson": "hexj", "b1jdj": "b1jdj-nr"}
		right := map[string]string{"softmax": "onehot", "hl-gauss": "onehot", "johnson": "johnson", "b1jdj": "b1jdj"}
		if others[n.code] == "" {
			return nil // no other code has as many bits as unary
		}
		want := "--code " + right[n.code]
		n.code = others[n.code]
		return []string{want}
	}},
	{"probabilities as logits", func(n *faultyNetwork) []string {
		if n.kind = "logits:"; n.onehot() {
			n.each(softmax)
		} else {
			n.each(sigmoid)
		}
		return []string{"are probabilities", "add up to 1"}
	}},
	{"labels in another unit", func(n *faultyNetwork) []string {
		floats.Scale(1000, n.y)
		return []string{"outside the range"}
	}},
}

// options writes the samples, and returns options that read them.
func (n *faultyNetwork) options(t *testing.T) Options {
	dir := t.TempDir()
	y, z := mat.NewDense(len(n.y), 1, n.y), mat.NewDense(len(n.z), len(n.z[0]), nil)
	for i, row := range n.z {
		z.SetRow(i, row)
	}
	return Options{Code: n.code, Levels: n.levels, Range: n.of, Training: n.training, Temperature: 1,
		Decoders: decode.Builtin(),
		Targets:  save(t, filepath.Join(dir, "y.npy"), y), Outputs: n.kind + save(t, filepath.Join(dir, "z.npy"), z)}
}

// said is what fit says of a network: its findings and warnings, or why it is refused.
func (n *faultyNetwork) said(t *testing.T) string {
	text, _ := n.judged(t)
	return text
}

// judged is what fit says, and the error of the best decoder in levels.
func (n *faultyNetwork) judged(t *testing.T) (string, float64) {
	own, err := openNetwork(t.Context(), n.options(t))
	if err != nil {
		return err.Error(), 0
	}
	defer own.Close()
	if err = own.read(t.Context(), 1, func(uint64) {}); err == nil {
		err = own.findFaults(t.Context())
	}
	if err != nil {
		return err.Error(), 0
	}
	parts := []string{}
	for _, f := range own.found {
		parts = append(parts, f.Text+": "+f.Mend)
	}
	return strings.Join(parts, "; "), own.seen.Labels[leastError(own.seen.Labels)].Mean
}

// TestOneCause: targets that are rolled by one level, shifted by three, or of other samples, are
// told as that, and not as logits of another size or as a range of another width.
func TestOneCause(t *testing.T) {
	for name, put := range map[string]func(n *faultyNetwork, level int) int{
		"rolled": func(n *faultyNetwork, level int) int { return (level + n.levels - 1) % n.levels },
		"far":    func(n *faultyNetwork, level int) int { return min(level+3, n.levels-1) },
		"others": func(n *faultyNetwork, _ int) int { return n.rng.IntN(n.levels) },
	} {
		for _, x := range []faultyNetwork{faultyNetworks[0], faultyNetworks[1], faultyNetworks[9]} {
			n := x.load(t, 1500, 1)
			n.within()
			for i, y := range n.y {
				n.y[i] = n.of.Lo + n.width()*float64(put(n, int(math.Round((y-n.of.Lo)/n.width()))))
			}
			text := n.said(t)
			want := map[string]string{"rolled": "place the levels one level apart", "far": "below the targets in the median",
				"others": "the error is that of guessing"}[name]
			if !strings.Contains(text, want) || strings.Contains(text, "most likely") || strings.Contains(text, "spread") {
				t.Errorf("%s, %s: %q", name, n.name, text)
			}
		}
	}
}

// TestSameFindings: no finding depends on whether a decoder is fitted, which keeps more samples.
func TestSameFindings(t *testing.T) {
	const folder = "../../testdata/network/"
	var found [2][]fault.Finding
	for i := range found {
		n := must.Get(openNetwork(t.Context(), Options{Code: "johnson", Levels: 64, Range: LabelRange{Lo: 2.4, Hi: 4.315},
			Targets: folder + "targets.npy", Outputs: folder + "logits.npy", Temperature: 1, Decoders: decode.Builtin(),
			FitDecoder: i == 1}))(t)
		must.Succeed(t, errors.Join(n.read(t.Context(), 0, func(uint64) {}), n.findFaults(t.Context()), n.Close()))
		found[i] = n.found
	}
	if same(t, "findings", found[0], found[1]); len(found[0]) == 0 {
		t.Error("no findings")
	}
}

// TestCorrected: networks that are read half a level off, or whose range is 2 % too wide, get a fitted offset, or an
// offset and a slope, and come within 1 % of the error of their best decoder without the fault. BELSIM_LONG takes
// all networks. It prints the table of testdata/decoders/README.md.
func TestCorrected(t *testing.T) {
	networks := faultyNetworks[:1]
	if os.Getenv("BELSIM_LONG") != "" {
		networks = faultyNetworks
	}
	for _, x := range networks {
		line := "| " + x.name
		x.levels = 32
		before := 0.0 // in levels
		for _, name := range []string{"", "half a level", "stretched by 2 %"} {
			n := x.load(t, 1500, 1)
			n.within()
			if i := slices.IndexFunc(faults, func(f oneFault) bool { return f.name == name }); i >= 0 {
				faults[i].put(n)
			}
			o := n.options(t)
			o.FitDecoder = true
			f := judge(t, o).Fit.Fitted
			width := x.width()
			line += fmt.Sprintf(" | %s: %.4g, %.4g", f.Kind, f.BaselineErr/width, f.Error/width)
			switch {
			case name == "":
				before = f.BaselineErr / width
			case !strings.HasPrefix(f.Kind, fitdecoder.KindOffset) || f.Error/width > 1.01*before:
				t.Errorf("%s, %s: %s has %v, and %v without the fault", x.name, name, f.Kind, f.Error/width, before)
			}
		}
		t.Log(line + " |")
	}
}

// TestFaults: twenty faults that are put into ten networks are named, with the right mend, in 95 % of the
// cases at least, and no fault of sound networks but in 1 %. BELSIM_LONG takes all networks, and 200 fits of
// sound ones; else there are few. It prints the table of testdata/faults/README.md.
func TestFaults(t *testing.T) {
	networks, sound := faultyNetworks[:2], 2
	if os.Getenv("BELSIM_LONG") != "" {
		networks, sound = faultyNetworks, 20
	}
	named, cases, cheap := 0, 0, 0
	for _, f := range faults {
		missed, all := []string{}, 0
		for i, x := range networks {
			n := x.load(t, 1500, uint64(i))
			want := f.put(n)
			if want == nil {
				continue
			}
			text, e := n.judged(t)
			sound := x.load(t, 1500, uint64(i))
			sound.within()
			_, before := sound.judged(t)
			cost := e*n.width()/(before*x.width32()) - 1
			if n.of.IsZero() {
				cost = e/before - 1
			}
			if e > 0 && cost < 0.03 { // a refusal has no error
				cheap++
				continue
			}
			all++
			if !slices.ContainsFunc(want, func(w string) bool { return strings.Contains(text, w) }) {
				missed = append(missed, x.name)
				t.Logf("%s, %s: %.3f %q", f.name, x.name, cost, text)
			}
		}
		named, cases = named+all-len(missed), cases+all
		t.Logf("| %s | %d of %d | %s |", f.name, all-len(missed), all, strings.Join(missed, ", "))
	}
	alarms, fits := 0, 0
	for seed := range sound {
		for _, x := range networks {
			n := x.load(t, []int{300, 600, 1000}[seed%3], uint64(1000+seed))
			if fits++; n.said(t) != "" {
				alarms++
				t.Logf("sound %s, seed %d: %q", x.name, seed, n.said(t))
			}
		}
	}
	t.Logf("%d of %d faults named; %d alarms of %d sound fits; %d cost little", named, cases, alarms, fits, cheap)
	if float64(named) < 0.95*float64(cases) || float64(alarms) > 0.01*float64(fits) {
		t.Errorf("%d of %d faults are named, want 95 %%; %d alarms of %d sound fits, want 1 %%", named, cases, alarms, fits)
	}
}

// TestSound judges the many sound networks that testdata/faults/sound.py writes to the folder BELSIM_SOUND, as they
// are and half a level or one level off: those of even numbers chose the rule, those of odd ones judge it. It prints
// the numbers of testdata/faults/README.md: how often a fault of the codec is told, and one of halves of a level.
func TestSound(t *testing.T) {
	if os.Getenv("BELSIM_SOUND") == "" {
		t.Skip("BELSIM_SOUND names no folder")
	}
	type tally struct{ fits, ofCodec, ofLevels, shifts, told, named int }
	var of [2]tally
	for i, path := range must.Get(filepath.Glob(os.Getenv("BELSIM_SOUND") + "/[0-9]*.npz"))(t) {
		parts := strings.Split(strings.TrimSuffix(filepath.Base(path), ".npz"), "-")
		number, last := must.Get(strconv.Atoi(parts[0]))(t), len(parts)-1
		x := faultyNetwork{code: strings.Join(parts[1:last-1], "-"), levels: must.Get(strconv.Atoi(parts[last]))(t)}
		if loss := parts[last-1]; x.code == "softmax" && loss == "l1" {
			x.code, x.training = "onehot", "l1"
		} else if !x.onehot() && x.code != "direct" {
			x.training = head.Training(loss)
		}
		ends, sum, sound := must.Get(arrayfile.ReadFile(path+":range"))(t), &of[number%2], 0.0
		for _, by := range []float64{0, 0.5, -0.5, 1, -1} {
			x.of = LabelRange{Lo: ends.At(0, 0), Hi: ends.At(1, 0)}
			n := x.read(t, path, math.MaxInt, uint64(i))
			n.of.Lo, n.of.Hi = n.of.Lo+by*n.width(), n.of.Hi+by*n.width()
			if n.within(); len(n.y) < 100 {
				continue
			}
			text, e := n.judged(t)
			t.Logf("%s, %g: %.2f levels, %q", filepath.Base(path), by, e, text)
			has := func(what string) int { return min(strings.Count(text, what), 1) }
			if by == 0 {
				sound = e
				sum.fits, sum.ofCodec, sum.ofLevels = sum.fits+1, sum.ofCodec+has("fit a decoder"), sum.ofLevels+has("apart")
			} else if x.code != "direct" && e-sound > 0.1*e { // else a shift gains little
				name := map[float64]string{0.5: "half a level", 1: "one level"}[math.Abs(by)] + " apart"
				sum.shifts, sum.told, sum.named = sum.shifts+1, sum.told+has("fit a decoder"), sum.named+has(name)
			}
		}
	}
	t.Logf("even and odd numbers: %+v", of)
	if of[1].ofLevels > of[1].fits/100 {
		t.Error("false alarms")
	}
}

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
	exchanged := func(z []float64) { z[0], z[len(z)-2] = z[len(z)-2], z[0] }
	untrained := func(z []float64) { // as of one number that rises with the label
		sum := floats.Sum(z)
		for k := range z {
			z[k] = 0.01 * (math.Sin(float64(k))*sum + 9*math.Cos(float64(3*k)))
		}
	}
	for i, tt := range []struct {
		code     string
		change   func(z []float64)
		reversed bool // the levels
		want     string
	}{
		// by turns two noises
		{"johnson", negated, false, inverted}, {"hadamard", negated, false, inverted},
		{"gray", negated, false, inverted}, {"onehot", slices.Reverse[[]float64], false, reversed},
		{"gray", nil, true, reversed}, {"b1jdj", nil, true, reversed}, {"unary", nil, true, "The levels are reversed, or the outputs are inverted"},
		{"unary", slices.Reverse[[]float64], false, turned}, // the number of ones is right
		{"unary", exchanged, false, " stand in another order than the bits of unary"},
		{"johnson", exchanged, false, " stand in another order than the bits of johnson"},
		{"b1jdj", exchanged, false, " stand in another order than the bits of b1jdj"},
		{"onehot", exchanged, false, " stand in another order than the bits of onehot"},
		{"unary", untrained, false, ""},
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

// TestShuffled: an output of several whose samples are in another order than the targets is told so.
func TestShuffled(t *testing.T) {
	dir := t.TempDir()
	o := easy.save(t, dir, "z")
	z := must.Get(arrayfile.ReadFile(o.Outputs))(t)
	n, columns := z.Dims()
	other := mat.NewDense(n, columns, nil)
	for i, j := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		other.SetRow(i, z.RawRowView(j))
	}
	whole := judge(t, o)
	o.Outputs = save(t, filepath.Join(dir, "shuffled.npy"), other)
	text := strings.Join(NewSeveral([]*Report{whole, judge(t, o)}).Verdict, " ")
	says(t, text, "Output 2: the error is that of guessing", "the order of samples")
	if strings.Contains(text, "Output 1:") {
		t.Errorf("%q", text)
	}
}
