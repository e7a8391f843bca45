package assess

import (
	"bytes"
	"context"
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
	"belsim/errmodel/scenario"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/base/position"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// save writes an array as .npy.
func save(t *testing.T, path string, m mat.Matrix) string {
	t.Helper()
	f := must.Get(os.Create(path))(t)
	must.Succeed(t, errors.Join(arrayfile.WriteNPY(context.Background(), f, m), f.Close()))
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
				v := -1.0
				if c.Bit(i, k) {
					v = 1
				}
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
	if _, err := Run(t.Context(), o, 1, nil); err == nil {
		t.Errorf("no error, want %q", want)
	} else {
		says(t, err.Error(), want...)
	}
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
	same(t, "the perceived label describes it", false, NewSeveral([]*Report{alone}).Rows[0].Describes)
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
		{`"format": 3`, `"format": 99, "more": 2`, "format 99 of a fit is not known to this version; it knows 3"},
		{`"format": 3,`, ``, "fit the network again with this version"},
		{`"format": 3`, `"format": "3"`, "format: character"},
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
		{`"label_noise": `, `"label_noise": -`, "perceived: label noise = -"},
		{`"tail": `, `"tail": 1, "tail": `, "perceived.tail occurs twice"},
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
		"label_noise": {"1e-3", "1e9", "0"}, "misfit": {"1e308", "-1"}, "misfit_floor": {"1e160", "null"},
		"cutoff": {"0", "1", "null", "-1", "1e-100"}, "cutoff_fitted": {"1"}, "label_noise_interval": {"null"}, "training": {`"mse"`},
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
	if sum := floats.Sum(f.Prior); math.Abs(sum-1) > 1e-12 {
		t.Errorf("a rounded prior adds up to %v", sum)
	}
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
// errors that are known to half a percent.
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
