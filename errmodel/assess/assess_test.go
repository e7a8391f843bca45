package assess

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/errmodel/fault"
	"belsim/errmodel/head"
	"belsim/errmodel/observed"
	"belsim/errmodel/scenario"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/base/position"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// save writes an array in the format of its name's ending.
func save(t *testing.T, path string, m mat.Matrix) string {
	t.Helper()
	f, write := must.Get(os.Create(path))(t), arrayfile.WriteNPY
	if filepath.Ext(path) == ".csv" {
		write = arrayfile.WriteCSV
	}
	must.Succeed(t, errors.Join(write(t.Context(), f, m), f.Close()))
	return path
}

// small writes the outputs of a network of the unary code of 8 levels, 100 samples of each
// level. At each side of a transition, the bit of every tenth sample is wrong; no two bits of a
// sample are.
func small(t *testing.T) Options {
	t.Helper()
	const levels, each = 8, 100
	c := must.Get(code.New("unary", levels))(t)
	y, z := mat.NewDense(levels*each, 1, nil), mat.NewDense(levels*each, c.Bits(), nil)
	for i := range levels {
		for j := range each {
			row := i*each + j
			y.Set(row, 0, float64(i+1))
			for k := range c.Bits() {
				v := 2*c.Value(i, k) - 1
				if beside := (k == i && j%10 == 0) || (k == i-1 && j%10 == 5); beside {
					v = -v
				}
				z.Set(row, k, v*(1+float64(j%7)))
			}
		}
	}
	dir := t.TempDir()
	return Options{
		Code: "unary", Targets: save(t, filepath.Join(dir, "y.npy"), y), Outputs: save(t, filepath.Join(dir, "z.npy"),
			z),
		Temperature: 1, Decoders: decode.Builtin(),
	}
}

// judge runs Run on one processor.
func judge(t *testing.T, o Options) *Report {
	t.Helper()
	return must.Get(Run(t.Context(), o, 1, nil))(t)
}

// refuses holds an error of Run to what it is to say.
func refuses(t *testing.T, o Options, want ...string) {
	t.Helper()
	must.Refuse(Run(t.Context(), o, 1, nil))(t, want...)
}

// says holds a text to what it is to say.
func says(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(position.Count(text, 1), w) {
			t.Errorf("%q, want %q", text, w)
		}
	}
}

// nearly allows for rounded sums.
var nearly = cmpopts.EquateApprox(0, 1e-9)

// same is must.Equal of all fields, also of those that are not exported.
func same(t *testing.T, what string, want, got any, options ...gocmp.Option) {
	t.Helper()
	must.Equal(t, what, want, got, append(options, gocmp.Exporter(func(reflect.Type) bool { return true }))...)
}

// printed is a section as text on one line, of which no row of a table was too wide.
func printed(t *testing.T, s table.Section) string {
	t.Helper()
	var b strings.Builder
	must.Succeed(t, s.Write(&b))
	for line := range strings.Lines(b.String()) {
		n := utf8.RuneCountInString(strings.TrimRight(line, "\n"))
		if strings.HasPrefix(line, "  ") && strings.Contains(line, "logits") && strings.Contains(line, " to ") &&
			n > table.Width {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func TestRun(t *testing.T) {
	s := judge(t, small(t))
	f := s.Fit
	got := Fit{Code: f.Code, Levels: f.Levels, Bits: f.Bits, Samples: f.Samples, WrongBits: f.WrongBits,
		Outputs: f.Outputs, Range: f.Range}
	want := Fit{Code: "unary", Levels: 8, Bits: 7, Samples: 800, WrongBits: 140, Outputs: "logits"}
	same(t, "the fit", want, got)
	if lowest, highest := occurring(f.Prior); lowest != 1 || highest != 8 {
		t.Errorf("levels %d to %d", lowest, highest)
	}
	// At the distance of half a level the rate is 0.1, further out it is 0.
	at := errmodel.Transition{Mu: 0.5, R: f.R, Sigma: f.Sigma}.At(1)
	if math.Abs(at-0.1) > 0.01 || s.Rates().At(3, 3) != 0.1 {
		t.Errorf("the fit has the error rate %v beside a transition, observed is %v; want 0.1", at, s.Rates().At(3, 3))
	}
	for _, d := range f.Decoders {
		// bel-u counts ones: one wrong bit is an error of one level.
		if want := 140.0 / 800; d.Decoder == "bel-u" && math.Abs(d.Observed-want) > 1e-12 {
			t.Errorf("bel-u: observed %v, want %v", d.Observed, want)
		}
	}
	for _, d := range f.Mixture {
		if d.Outputs == "bits" && !(d.Exact > 0 && d.Rates > 0) {
			t.Errorf("%+v", d)
		}
		bounded := d.Outputs == "bits" && slices.Contains([]string{"bel-u", "bel-j", "gen"}, d.Decoder)
		if (d.AnyLaw != nil) != bounded {
			t.Errorf("bounds under any law %v of %+v; want some: %v", d.AnyLaw, d.Design, bounded)
		}
		if d.AnyLaw == nil {
			continue
		}
		// The samples themselves are a law with these rates. 1e-9 is for rounded sums.
		must.Within(t, fmt.Sprintf("%+v: observed", d.Design), d.Observed, d.AnyLaw[0]-1e-9, d.AnyLaw[1]+1e-9)
		// The variance of an error from 0 to 7 is at most mean·(7 − mean).
		for end, a := range d.AnyLaw {
			further, most := math.Abs(d.AnyInterval[end]-a), 1.96*math.Sqrt(a*(7-a)/800)
			if !(further > most/10 && further <= most) {
				t.Errorf("any law %v, of new samples %v", *d.AnyLaw, *d.AnyInterval)
			}
		}
	}
	// errors lie beside transitions alone, so there are no intervals
	if len(s.Remarks) != 2 || s.Remarks[1] != "2.5 % of the bits are wrong" {
		t.Errorf("%q", s.Remarks)
	}
	profiles := []Profile{{Bit: 3, Rate: []float64{0, 0, 0.1, 0.1, 0, 0, 0, 0}},
		{Bit: 5, Rate: []float64{0, 0, 0, 0, 0.1, 0.1, 0, 0}}}
	same(t, "profiles", profiles, f.Profiles,
		cmpopts.IgnoreFields(Profile{}, "Name", "Target", "Label", "Lo", "Hi", "X", "Fitted"))
	o := small(t)
	o.Bits = []int{8}
	refuses(t, o, "bits", "1 to 7")
	// A temperature that is none for the logits of the model is refused.
	o.Bits, o.Temperature = nil, 1.7e308
	refuses(t, o, "is +Inf; want a positive finite number")
	// Without decoders there is the mixture alone.
	o.Temperature, o.Decoders = 1, nil
	alone := judge(t, o)
	says(t, printed(t, alone.Section()), "mixture model")
	same(t, "the mixture alone", Fit{R: f.R, Decoders: []DecoderRow{}},
		Fit{R: alone.Fit.R, Decoders: alone.Fit.Decoders, Quantiles: alone.Fit.Quantiles})
}

// TestReadBack writes a fit to real labels and its rates, and reads them back.
func TestReadBack(t *testing.T) {
	o := small(t)
	o.Range = LabelRange{Lo: 1, Hi: 8}
	s := judge(t, o)
	var b bytes.Buffer
	must.Succeed(t, table.WriteJSON(&b, s.Fit))
	text, path := b.String(), filepath.Join(t.TempDir(), "fit.json")
	read := func(text string) (*Fit, error) {
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
		return Read(path)
	}
	f, about := must.Get(read(text))(t), scenario.New(nil)
	f.Fill(about)
	got := []any{about.Model, about.Prior.FitPath, about.Prior.Fitted, about.Temperature}
	want := []any{scenario.Mixture{R: s.Fit.R, Sigma: s.Fit.Sigma, Path: path}, path, s.Fit.Prior, s.Fit.LogitScale}
	same(t, "the model that was read", want, got)
	// Bits are ±1 in both: the network's temperature is theirs. A fit of bits knows none of logits.
	for _, tt := range []struct {
		outputs     decode.Outputs
		scale, want float64
	}{{decode.Bits, f.LogitScale, 3}, {decode.AutoOutputs, math.NaN(), 1}, {decode.Bits, math.NaN(), 3}, {decode.Logits, 2, 6}} {
		of, s := *f, scenario.New(nil)
		of.Temperature, of.LogitScale, s.Outputs = 3, tt.scale, tt.outputs
		of.Fill(s)
		same(t, fmt.Sprintf("the temperature of outputs %s at a scale of %v", tt.outputs, tt.scale), tt.want, s.Temperature)
	}
	e, err := about.Model.Errors(t.Context(), s.network.code)
	if err != nil || !mat.EqualApprox(e, s.mixture.errors, 1e-15) {
		t.Errorf("the model that was read has another table: %v", err)
	}
	for _, broken := range [][3]string{
		{`"format": 1`, `"format": 99, "more": 2`, "format 99 of a fit is not known to this version; it knows 1"},
		{`"format": 1,`, ``, "fit the network again with this version"},
		{`"format": 1`, `"format": "1"`, "format: character"},
		{`"levels": 8`, `"levels": 9`, "bits is 7; unary of 9 levels has 8"},
		{`"levels": 8`, `"levels": 1`, "levels is 1"},
		{`"temperature": 1`, `"temperature": 0`, "temperature is 0"},
		{`"temperature": 1`, `"temperature": 1.7e308`, "is +Inf; want a positive finite number"},
		{`"prior": [`, `"prior": [-1,`, "prior has 9"},
		{`0.125,`, `0.5,`, "the prior adds up to"},
		{`0.125,`, `-0.125,`, "prior of level 1 is -0.125"},
		{`{`, `{{`, "character 2"},
		{`"r": `, `"r": -`, "r = -"},
		{`"sigma": `, `"sigma": -`, "σ = -"},
		{`"logit_scale": `, `"logit_scale": -`, "times logit_scale -"},
		{`"r": `, `"r": 0.5, "r": `, "r occurs twice"},
		{`"r": `, `"R": 0.5, "r": `, "R is not a field that is known here; a fit of another version has it"},
		{`"r": `, `"r": "0.5", "R": `, "r: character"},
	} {
		_, err := read(strings.Replace(text, broken[0], broken[1], 1))
		if err == nil || !strings.HasPrefix(must.Text(err), path+": ") || !strings.Contains(must.Text(err), broken[2]) {
			t.Errorf("%s: %v; want an error about %q", broken[1], err, broken[2])
		}
	}
	for field, values := range map[string][]string{
		"bits": {"8"}, "level_width": {"2", "null", "0", "1.001"},
		"range": {"[1, 8, 9]", "[1]", "[8, 1]", "[1, 1]", "[null, 8]", "[0, 8]"},
		"r":     {"1e-310", "null", "1e400"}, "r_interval": {"null", "[0]"},
	} {
		at := regexp.MustCompile(`"` + field + `": (\[[^]]*]|[^,\n]*)`).FindStringIndex(text)
		for _, v := range values {
			_, err := read(text[:at[0]] + `"` + field + `": ` + v + text[at[1]:])
			if err == nil || strings.Contains(must.Text(err), "\n") {
				t.Errorf("%s of %s: error %v", field, v, err)
			}
		}
	}
	// A prior that was rounded by hand adds up to 1 when it is read.
	f = must.Get(read(strings.Replace(text, "0.125,", "0.1250004,", 1)))(t)
	must.Near(t, "sum of a rounded prior", 1, floats.Sum(f.Prior), 1e-12)
	for _, name := range []string{"fit.csv", filepath.Join(t.TempDir(), "no.json")} {
		must.Refuse(Read(name))(t, name)
	}

	b.Reset()
	must.Succeed(t, s.WriteRates(&b))
	records := must.Get(csv.NewReader(&b).ReadAll())(t)
	if row := strings.Join(records[1+3*7+3][:6], ","); len(records) != 1+8*7 || row != "4,4,0,100,10,0.1" {
		t.Errorf("%d records; level 4, bit 4: %s", len(records), row)
	}
}

// TestFewErrors: few samples with a wrong bit have no intervals of r and σ.
func TestFewErrors(t *testing.T) {
	d := easy
	d.samples, d.noise = 200, 0.25 // of which one in twenty has a wrong bit
	s := judge(t, d.save(t, t.TempDir(), "z"))
	says(t, s.Remarks[0], "samples have a wrong bit: too few for intervals, which need 30")
	if f := s.Fit; !table.Missing(f.RInterval[0]) || !table.Missing(f.SigmaInterval[1]) || !(f.R > 0) {
		t.Errorf("r = %v, %v, σ %v", f.R, f.RInterval, f.SigmaInterval)
	}
}

// TestRealLabels: what the model says of real labels is what a network of the model shows, in all
// columns: the σ of the rates of levels, and errors against levels. A network of 20,000 samples has
// errors that are known to half a percent. The bits of a level share its label, so that they depend: the model of
// independent bits is 4 % below what bel-j and gen show.
func TestRealLabels(t *testing.T) {
	c := must.Get(code.New("johnson", 32))(t)
	const samples = 20_000
	rng := rand.New(rand.NewPCG(3, 4))
	y, z := mat.NewDense(samples, 1, nil), mat.NewDense(samples, c.Bits(), nil)
	for j := range samples {
		label := 1 + 31*rng.Float64()
		y.Set(j, 0, label)
		for k, at := range c.Transitions() {
			e := 0.0
			for _, g := range errmodel.Transitions(at, 0.6, 0.5) {
				e += g.At(label)
			}
			bit := c.Bit(int(math.Round(label))-1, k)
			if bit != (rng.Float64() < e) {
				z.Set(j, k, 1)
			}
		}
	}
	dir := t.TempDir()
	s := judge(t, Options{
		Code: "johnson", Levels: 32, Targets: save(t, filepath.Join(dir, "y.npy"), y), Outputs: save(t,
			filepath.Join(dir, "z.npy"), z),
		Range: LabelRange{Lo: 1, Hi: 32}, Temperature: 1, Decoders: decode.Builtin(),
	})
	f := s.Fit
	if want := math.Hypot(0.5, math.Sqrt(1./12)); math.Abs(f.Sigma-want) > 0.02 || math.Abs(f.R-0.6) > 0.03 {
		t.Errorf("r = %v, σ = %v; want 0.6, %v", f.R, f.Sigma, want)
	}
	for _, d := range f.Mixture {
		slack := 6*d.ObservedStdErr + 0.02*d.Observed
		if !table.Missing(d.Exact) && math.Abs(d.Exact-d.Observed) > slack {
			t.Errorf("%s: the model says %v, observed is %v", d.Decoder, d.Exact, d.Observed)
		}
	}
}

// TestGuesses: outputs are those of guessing up to three standard errors below the error of the median, which of
// three levels that are equally frequent is 2/3 of a level, and 0.9 for levels 1 to 3 with other shares; and where
// all are of one side, which is wrong in more than a quarter.
func TestGuesses(t *testing.T) {
	for _, tt := range []struct {
		samples     []uint64
		wrong, ones uint64 // of 2 bits
		e           observed.Error
		want        string
	}{
		{[]uint64{5, 5, 5}, 0, 9, observed.Error{Mean: 2./3 + 0.01, StdErr: 0.01}, "guessing"},
		{[]uint64{5, 5, 5}, 0, 9, observed.Error{Mean: 2./3 - 0.029, StdErr: 0.01}, "guessing"},
		{[]uint64{5, 5, 5}, 0, 9, observed.Error{Mean: 2./3 - 0.031, StdErr: 0.01}, ""},
		{[]uint64{45, 10, 45}, 0, 9, observed.Error{Mean: 0.91}, "guessing"},
		{[]uint64{45, 10, 45}, 0, 9, observed.Error{Mean: 0.89}, ""},
		{[]uint64{30, 30, 40}, 51, 100, observed.Error{}, "one-sided"},
		{[]uint64{30, 30, 40}, 51, 0, observed.Error{}, "one-sided"},
		{[]uint64{30, 30, 40}, 50, 100, observed.Error{}, ""}, {[]uint64{30, 30, 40}, 51, 99, observed.Error{}, ""},
	} {
		n := seenNetwork(t, "unary", 3, tt.samples, 0, tt.wrong)
		n.seen.Ones[0], n.seen.Ones[1] = tt.ones, tt.ones
		n.seen.Levels = []observed.Error{{Mean: 9, StdErr: 1}, tt.e}
		got := ""
		for _, f := range faultsOf(t, n) {
			got += f.Name
		}
		must.Equal(t, fmt.Sprintf("%+v", tt), tt.want, got)
	}
}

// faultsOf are the faults of a network of which no samples were kept.
func faultsOf(t *testing.T, n *network) []fault.Finding {
	n.seen.Kept = &observed.Samples{}
	return must.Get(fault.Find(t.Context(), fault.Input{Code: n.code, Labels: n.source.Labels, Kind: observed.Bits,
		Seen: n.seen}))(t)
}

// TestEmptyRange: it is a fault that no target has levels at the ends of the range, above a quarter of the levels.
func TestEmptyRange(t *testing.T) {
	for _, tt := range []struct {
		from, to int // levels with samples
		lo, hi   float64
		want     string
	}{
		{1, 64, 0, 1, ""}, {9, 56, 0, 1, ""}, {17, 64, 0, 0, ""},
		{12, 53, -90, 90, "no target is of levels 1 to 11 (-90 to -60) or levels 54 to 64 (60 to 90): 34 % of the levels"},
		{1, 32, 0, 63, "no target is of levels 33 to 64 (31.5 to 63): 50 % of the levels are empty"},
		{18, 64, 0, 0, "no target is of levels 1 to 17: 27 % of the levels are empty"},
	} {
		samples := make([]uint64, 64)
		samples[tt.from-1], samples[tt.to-1] = 25, 25
		n := seenNetwork(t, "unary", 64, samples, 0, 0)
		n.source.Labels = observed.Labels{Levels: 64, Real: tt.hi > tt.lo, Lo: tt.lo, Hi: tt.hi}
		n.seen.Ones[0] = 1
		text := ""
		for _, f := range faultsOf(t, n) {
			text += f.Text
		}
		if got := position.Count(text, 1); !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%d to %d: %q, want %q", tt.from, tt.to, got, tt.want)
		}
	}
}

// seenNetwork is a network of a code of which a summary is known: so many samples of each level,
// and of wrong outputs of a bit at all levels.
func seenNetwork(t *testing.T, name string, levels int, samples []uint64, bit int, wrong uint64) *network {
	c := must.Get(code.New(name, levels))(t)
	counts := errmodel.NewCounts(levels, c.Bits())
	copy(counts.Samples, samples)
	counts.Wrong[bit] = wrong
	seen := &observed.Summary{Counts: counts, Ones: make([]uint64, c.Bits())}
	return &network{code: c, source: &observed.Source{Kind: observed.Logits}, transitions: c.Transitions(),
		seen: seen}
}

// TestTrained: outputs were not trained bit by bit where their calibration error is above 0.04 +
// 0.5/√samples, or where logits of a bit that never changes are wrong in more than 1 % of the
// samples.
func TestTrained(t *testing.T) {
	constant := slices.IndexFunc(must.Get(code.New("hexj", 16))(t).Transitions(),
		func(at []int) bool { return len(at) == 0 })
	for _, tt := range []struct {
		samples, wrong uint64
		kind           observed.Kind
		calibration    float64
		want           head.Training
	}{
		{100, 0, observed.Logits, 0.0899, head.BCE}, {100, 0, observed.Logits, 0.0901, head.CE},
		{10000, 0, observed.Logits, 0.0449, head.BCE}, {10000, 0, observed.Logits, 0.0451, head.CE},
		{10000, 100, observed.Logits, 0, head.BCE}, {10000, 101, observed.Logits, 0, head.CE}, {10000, 101,
			observed.Bits, math.NaN(), head.BCE},
	} {
		n := seenNetwork(t, "hexj", 16, []uint64{tt.samples}, constant, tt.wrong)
		n.source.Kind, n.seen.Miscalibration = tt.kind, tt.calibration
		if got := n.trained(); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

// TestNoRate: a level without samples has no rate, and no interval.
func TestNoRate(t *testing.T) {
	r := &Report{network: seenNetwork(t, "unary", 2, []uint64{0, 4}, 0, 0),
		mixture: &mixture{errors: mat.NewDense(2, 1, []float64{0.25, 0.5})}}
	var text strings.Builder
	must.Succeed(t, r.WriteRates(&text))
	if got := strings.Split(text.String(), "\n"); got[1] != "1,1,0,0,0,,,,0.25" || got[2][:12] != "2,1,1,4,0,0," {
		t.Errorf("%q", got)
	}
}

// TestDirectText: a network is better or worse than direct regression where 1.96 standard errors
// tell them apart.
func TestDirectText(t *testing.T) {
	for direct, want := range map[float64]string{1.2: "better", 1.19: "not told apart", 0.81: "not told apart", 0.8: "worse"} {
		n := seenNetwork(t, "unary", 8, []uint64{9, 0, 0, 0, 0, 0, 0, 9}, 0, 0)
		n.source.Labels.Levels, n.options.Baseline.Error = 8, direct
		f := &Fit{LevelWidth: 1, Decoders: []DecoderRow{{Observed: 1, StdErr: 0.1}}}
		f.Direct = must.Get(f.besideDirect(n))(t)
		if got := f.directText(); !strings.Contains(got, "this network is "+want) {
			t.Errorf("direct regression %v: %q, want %q", direct, got, want)
		}
	}
	for text, want := range map[string]Baseline{"": {}, "0.5": {Error: 0.5}, "d.npz:x": {File: "d.npz:x"}} {
		must.Equal(t, text, want, must.Get(ParseBaseline(text))(t))
	}
	for _, text := range []string{"0", "-1", "NaN", "Inf"} {
		if _, err := ParseBaseline(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

// TestPaired: predictions of direct regression are compared by sample. They err with the network,
// so the difference is known far better than each error. Those outside of the range count as they
// are.
func TestPaired(t *testing.T) {
	folder := t.TempDir()
	o := easy.save(t, folder, "z")
	f := judge(t, o).Fit
	best := f.Decoders[bestDecoder(f.Decoders)]
	labels := labelsOf(t, o, best.Decoder, best.Outputs == "logits")
	y, direct := easy.targets(), mat.NewDense(easy.samples, 1, nil)
	for _, tt := range []struct {
		file string
		off  float64 // of the prediction, from the network's answer towards the target
		want string
	}{
		{"same.npy", 0, "not told apart from it: as much error (standard error 0 %, paired by sample)."}, {"nearer.npy", 0.05, "worse: "},
		{"nearer.csv", 0.3, "Next: train longer, or keep direct regression"}, {"further.npy", -0.05, "better: "},
	} {
		sum := 0.0
		for i, v := range labels {
			x := v + tt.off*(y.At(i, 0)-v)
			if x == 1 && tt.file == "further.npy" {
				x = -3
			}
			sum += math.Abs(x - y.At(i, 0))
			direct.Set(i, 0, x)
		}
		o.Baseline.File = save(t, filepath.Join(folder, tt.file), direct)
		f := judge(t, o).Fit
		says(t, f.Verdict, tt.want)
		mean, d := sum/float64(len(labels)), f.Direct
		want := *d
		want.Error, want.Difference, want.Told = mean, d.Network-d.Error, tt.off != 0
		same(t, tt.file, want, *d, nearly)
		must.Within(t, tt.file+": the standard error of the difference", d.DifferenceErr, -1, d.StdErr)
	}
	biased := easy // which a fitted decoder mends
	biased.change = func(z []float64) { floats.AddConst(1.5, z) }
	o = biased.save(t, folder, "biased")
	o.Baseline.File, o.FitDecoder = filepath.Join(folder, "same.npy"), true
	d := judge(t, o).Fit.Direct
	want := *d
	want.Difference, want.Decoder = d.Network-d.Error, "fitted"
	same(t, "the fitted decoder", want, *d, nearly)
	must.Within(t, "the standard error of its difference", d.DifferenceErr, 0, d.StdErr)
	o.FitDecoder = false
	column := func(n int, first ...float64) []float64 { return append(first, make([]float64, n-len(first))...) }
	for k, rows := range [][]float64{column(2), column(easy.samples + 1), column(easy.samples, 1, 2, math.NaN()),
		column(easy.samples, math.Inf(1)), column(easy.samples, 1, 1e300), column(easy.samples)} { // zeros are no levels
		o.Baseline.File = save(t, filepath.Join(folder, "wrong.npy"), mat.NewDense(len(rows), 1, rows))
		refuses(t, o, "wrong.npy")
		if k < 2 {
			o.Baseline.File = filepath.Join(folder, "wrong.csv")
			must.Succeed(t, os.WriteFile(o.Baseline.File, []byte(strings.Repeat("1\n", len(rows))), 0o600))
			refuses(t, o, "wrong.csv")
		}
	}
	o.Baseline.File = save(t, filepath.Join(folder, "wide.npy"), mat.NewDense(easy.samples, 2, nil))
	refuses(t, o, "want one prediction for each sample")
}

// labelsOf are the answers of a decoder.
func labelsOf(t *testing.T, o Options, name string, logits bool) []float64 {
	t.Helper()
	c := must.Get(code.New(o.Code, o.Levels))(t)
	d := must.Get(o.Decoders.New(name, c, decode.Options{}))(t)
	z := must.Get(arrayfile.ReadFile(o.Outputs))(t)
	n, _ := z.Dims()
	sample := observed.NewSample(c.Bits(), decode.NewCorrelations(c))
	out := make([]float64, n)
	for i := range out {
		sample.Set(z.RawRowView(i))
		out[i] = sample.Label(observed.Decoding{Decoder: d, Soft: logits})
	}
	return out
}
