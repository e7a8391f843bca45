package observed_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"belsim/errmodel"
	"belsim/errmodel/observed"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

func mustCode(t testing.TB, name string, levels int) *code.Code {
	t.Helper()
	return must.Get(code.New(name, levels))(t)
}

// network draws targets and logits from the latent-Gaussian model of a mixture with the scale of
// the logits. Bits err together: a part of the variance of the noise moves all logits of a sample
// towards the right sides, or towards the wrong ones.
func network(t testing.TB, c *code.Code, r, sigma, scale, part float64, samples int, seed uint64) (y, z *mat.Dense) {
	t.Helper()
	e := must.Get(errmodel.NewMixture(context.Background(), c, r, sigma))(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	levels, m := c.Dims()
	q := mat.NewDense(levels, m, nil)
	q.Apply(func(_, _ int, p float64) float64 {
		return -distuv.UnitNormal.Quantile(min(max(p, 1e-12), 1-1e-12))
	}, e)
	y, z = mat.NewDense(samples, 1, nil), mat.NewDense(samples, m, nil)
	for j := range samples {
		i := rng.IntN(levels)
		y.Set(j, 0, float64(i+1))
		common := rng.NormFloat64()
		for k := range m {
			s := 2*c.Value(i, k) - 1
			noise := math.Sqrt(part)*s*common + math.Sqrt(1-part)*rng.NormFloat64()
			z.Set(j, k, scale*(s*q.At(i, k)+noise))
		}
	}
	return y, z
}

// files writes targets and outputs and opens them.
func files(t testing.TB, y, z mat.Matrix, format string, labels observed.Labels, kind observed.Kind) *observed.Source {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, m mat.Matrix) *arrayfile.Rows {
		var b bytes.Buffer
		var err error
		path := filepath.Join(dir, name+"."+format)
		switch format {
		case "csv":
			err = arrayfile.WriteCSV(context.Background(), &b, m)
		case "npy":
			err = arrayfile.WriteNPY(context.Background(), &b, m)
		case "npz":
			w := zip.NewWriter(&b)
			f := must.Get(w.Create(name + ".npy"))(t)
			must.Succeed(t, errors.Join(arrayfile.WriteNPY(context.Background(), f, m), w.Close()))
		}
		if err == nil {
			err = os.WriteFile(path, b.Bytes(), 0o600)
		}
		must.Succeed(t, err)
		rows := must.Get(arrayfile.OpenRows(path))(t)
		t.Cleanup(func() { rows.Close() })
		return rows
	}
	return &observed.Source{Targets: write("y", y), Outputs: write("z", z), Labels: labels, Kind: kind}
}

// parity has nothing but what a decoder must have: the number of ones modulo L.
type parity struct{ levels int }

func (parity) Name() string { return "parity" }

func (p parity) Decode(word []uint64) int {
	n := 0
	for _, w := range word {
		n += bits.OnesCount64(w)
	}
	return n%p.levels + 1
}

// largest reads logits, and no correlations: the place of the largest modulo L.
type largest struct{ parity }

func (largest) Name() string { return "largest" }

func (d largest) DecodeLogits(z []float64) float64 {
	best := 0
	for k, v := range z {
		if v > z[best] {
			best = k
		}
	}
	return float64(best%d.levels + 1)
}

// withToys are the decoders of package decode and two that it does not know.
func withToys() decode.Registry {
	return append(decode.Builtin(),
		decode.Entry{Name: "parity", New: func(c *code.Code, _ decode.Options) (decode.Decoder, error) {
			return parity{c.Levels()}, nil
		}},
		decode.Entry{Name: "largest", Logits: true, New: func(c *code.Code, _ decode.Options) (decode.Decoder, error) {
			return largest{parity{c.Levels()}}, nil
		}})
}

// TestDecodings: what each decoder reads, by what it can. A new decoder stands in these lists.
func TestDecodings(t *testing.T) {
	list := func(c *code.Code, k observed.Kind) string {
		decodings := must.Get(observed.Decodings(withToys(), c, k, decode.Options{}))(t)
		var s []string
		for _, r := range decodings {
			s = append(s, r.Decoder.Name()+" "+r.Outputs())
		}
		return strings.Join(s, ", ")
	}
	real := must.Get(code.FromReal("real", mat.NewDense(3, 2, []float64{0.5, 2, -1, 0.25, 3, 1})))(t)
	for _, tt := range []struct {
		c    *code.Code
		kind observed.Kind
		want string
	}{
		{mustCode(t, "unary", 20), observed.Bits, "bel-u bits, gen bits, gen-ex bits, parity bits, largest bits"},
		{mustCode(t, "unary", 20), observed.Logits,
			"bel-u bits, gen bits, gen logits, gen-ex logits, parity bits, largest bits, largest logits"},
		{real, observed.Signs, "gen logits, gen-ex bits"},
		{real, observed.Probabilities, "gen logits, gen-ex logits"},
	} {
		must.Equal(t, fmt.Sprintf("%s, %s", tt.c.Name(), tt.kind), tt.want, list(tt.c, tt.kind))
	}
	if _, err := observed.Decodings(decode.Builtin(), real, observed.Logits,
		decode.Options{Temperature: -1}); err == nil {
		t.Error("temperature −1 is accepted")
	}
}

// byItself decodes one sample without the others.
func byItself(d observed.Decoding, z []float64) float64 {
	if d.Soft {
		return d.Decoder.(decode.LogitDecoder).DecodeLogits(z)
	}
	word := make([]uint64, (len(z)+63)/64)
	for k, v := range z {
		if v > 0 {
			word[k/64] |= 1 << (k % 64)
		}
	}
	return decode.Value(d.Decoder, word)
}

// TestScan compares a reading of files, in every format and on any number of
// processors, with the definitions.
func TestScan(t *testing.T) {
	const samples = 5000
	for _, name := range []string{"unary", "johnson", "hexj", "gray"} {
		c := mustCode(t, name, 20)
		y, z := network(t, c, 0.3, 1.5, 1, 0.4, samples, 1)
		if name == "gray" { // half-precision logits with ties: sums are exact
			z.Apply(func(_, _ int, v float64) float64 { return math.Round(v) }, z)
		}
		decodings := must.Get(observed.Decodings(withToys(), c, observed.Logits, decode.Options{Temperature: 0.7}))(t)
		means, counts := make([]float64, len(decodings)), errmodel.NewCounts(c.Dims())
		for j := range samples {
			row, i := z.RawRowView(j), int(y.At(j, 0))-1
			counts.Samples[i]++
			for k, v := range row {
				if (v > 0) != c.Bit(i, k) {
					counts.Row(i)[k]++
				}
			}
			for r, decoding := range decodings {
				means[r] += math.Abs(byItself(decoding, row)-y.At(j, 0)) / samples
			}
		}
		var first *observed.Summary
		for workers, format := range []string{1: "npy", 2: "csv", 3: "npz"} {
			if format == "" {
				continue
			}
			s := must.Get(observed.Scan(t.Context(), workers, files(t, y, z, format, observed.Labels{Levels: 20},
				observed.Logits), c, decodings, nil))(t)
			if first == nil {
				first = s
			}
			must.Equal(t, fmt.Sprintf("%s, %s on %d processors", name, format, workers), first, s,
				cmp.Comparer(func(a, b observed.Spread) bool { return reflect.DeepEqual(a, b) }))
		}
		var got []float64
		for _, e := range first.Levels {
			got = append(got, e.Mean)
		}
		// gen-ex adds correlations in another order: 10⁻¹⁴ of an exponent.
		must.Equal(t, name+": errors of decodings", means, got, cmpopts.EquateApprox(0, 1e-10))
		must.Equal(t, name+": counts", counts, first.Counts)
		must.Equal(t, name+": errors of labels, beside those of levels", first.Levels, first.Labels)
	}
}

// TestKinds has the same decisions as bits, signs, probabilities and logits.
func TestKinds(t *testing.T) {
	ctx := context.Background()
	c := mustCode(t, "johnson", 20)
	y, z := network(t, c, 0.5, 1.5, 1, 0, 2000, 2)
	as := func(f func(z float64) float64) *mat.Dense {
		out := mat.NewDense(2000, c.Bits(), nil)
		out.Apply(func(_, _ int, v float64) float64 { return f(v) }, z)
		return out
	}
	hard := func(no, yes float64) *mat.Dense {
		return as(func(v float64) float64 {
			if v > 0 {
				return yes
			}
			return no
		})
	}
	var means []float64
	for _, tt := range []struct {
		kind observed.Kind
		z    *mat.Dense
	}{
		{observed.Logits, z}, {observed.Probabilities, as(func(v float64) float64 { return 1 / (1 + math.Exp(-v)) })},
		{observed.Bits, hard(0, 1)}, {observed.Signs, hard(-1, 1)},
	} {
		s := files(t, y, tt.z, "npy", observed.Labels{Levels: 20}, "")
		kind, err := observed.FindKind(ctx, "", s.Outputs)
		if err != nil || kind != tt.kind {
			t.Errorf("detected %v, %v; want %v", kind, err, tt.kind)
		}
		s.Kind = kind
		decodings := must.Get(observed.Decodings(decode.Builtin(), c, kind, decode.Options{}))(t)
		sum := must.Get(observed.Scan(ctx, 0, s, c, decodings, nil))(t)
		for r, decoding := range decodings {
			if decoding.Decoder.Name() == "bel-j" {
				means = append(means, sum.Levels[r].Mean)
			}
			if kind == observed.Probabilities && decoding.Decoder.Name() == "gen-ex" {
				logits, err := observed.Scan(ctx, 0, files(t, y, z, "npy", observed.Labels{Levels: 20},
					observed.Logits), c, decodings, nil)
				// The logit of a float64 probability near 1 is rounded: up to
				// e^6·2⁻⁵³ of ordinary logits, and more of extreme ones that do not
				// matter.
				if err != nil || math.Abs(logits.Levels[r].Mean-sum.Levels[r].Mean) > 1e-6 {
					t.Errorf("gen-ex of probabilities %v, of logits %v, %v", sum.Levels[r].Mean, logits.Levels[r].Mean,
						err)
				}
			}
		}
		if hard := kind.Hard(); hard != math.IsNaN(sum.LogitScale) {
			t.Errorf("%s: scale of logits %v", kind, sum.LogitScale)
		}
	}
	for _, m := range means {
		if m != means[0] || len(means) != 4 {
			t.Errorf("bel-j of the same decisions: %v", means)
		}
	}
}

// TestRounded: sums of probabilities may leave 0 to 1 by their rounding, and small logits are none.
func TestRounded(t *testing.T) {
	for _, tt := range []struct {
		z    []float64
		want observed.Kind
	}{
		{[]float64{1 + 0x1p-11, 0.3}, observed.Probabilities},
		{[]float64{-0x1p-11, 0.6}, observed.Probabilities},
		{[]float64{1 + 0x1p-9, 0.3}, observed.Logits},
		{[]float64{-1e-6, 2e-6}, observed.Logits},
		{[]float64{0, 1e-6}, observed.Probabilities},
	} {
		s := files(t, mat.NewDense(1, 1, []float64{1}), mat.NewDense(1, 2, tt.z), "npy", observed.Labels{Levels: 3}, "")
		kind, err := observed.FindKind(context.Background(), "", s.Outputs)
		if err != nil || kind != tt.want {
			t.Errorf("%v: %v, %v; want %v", tt.z, kind, err, tt.want)
		}
		s.Kind = kind
		if _, err := observed.Scan(context.Background(), 1, s, mustCode(t, "unary", 3), nil, nil); err != nil {
			t.Errorf("%v as %v: %v", tt.z, kind, err)
		}
	}
}

func TestLabels(t *testing.T) {
	real := observed.Labels{Levels: 5, Real: true, Lo: -1, Hi: 1}
	for y, want := range map[float64]int{-1: 1, -0.76: 1, -0.74: 2, 0: 3, 0.26: 4, 1: 5, 1.0000019: 5, -1.0000019: 1} {
		if n, exact, err := real.Level(y); err != nil || n != want || math.Abs(exact-(2*y+3)) > 1e-12 {
			t.Errorf("%v is level %d (%v), %v; want %d", y, n, exact, err, want)
		}
	}
	if real.Width() != 0.5 || (observed.Labels{Levels: 5}).Width() != 1 {
		t.Error("width of a level")
	}
	for _, tt := range []struct {
		l    observed.Labels
		y    float64
		want string
	}{
		{real, 1.0000021, "outside the range -1 to 1"}, {real, -1.0000021, "outside the range"},
		{observed.Labels{Levels: 5}, 0, "if yours count from 0, give --range 0:4"},
		{observed.Labels{Levels: 5}, 6, "no level: want 1 to 5"}, {observed.Labels{Levels: 5}, 2.5,
			"a range of real labels"},
		{observed.Labels{Levels: 5}, -3, "no level"},
	} {
		if _, _, err := tt.l.Level(tt.y); err == nil || !strings.Contains(must.Text(err), tt.want) {
			t.Errorf("%v: %v, want an error about %q", tt.y, err, tt.want)
		}
	}
}

// TestLogitScale recovers the scale of logits from simulated networks, also where bits err together.
func TestLogitScale(t *testing.T) {
	ctx := context.Background()
	for _, tt := range []struct {
		name        string
		part, scale float64
	}{{"unary", 0, 1}, {"unary", 0.3, 2.5}, {"johnson", 0.6, 0.5}, {"b1jdj", 0.9, 1}} {
		c := mustCode(t, tt.name, 24)
		y, z := network(t, c, 0.8, 2, tt.scale, tt.part, 12_000, 3)
		s := files(t, y, z, "npy", observed.Labels{Levels: 24}, observed.Logits)
		sum := must.Get(observed.Scan(ctx, 0, s, c, nil, nil))(t)
		// The scale is pooled over some thousand outputs: the noise of each cell is
		// its own, and given the level nothing else moves them.
		must.Near(t, fmt.Sprintf("%+v: scale of logits, over that drawn", tt), 1, sum.LogitScale/tt.scale, 0.02)
	}
}

func TestRefusals(t *testing.T) {
	c := mustCode(t, "unary", 4)
	dense := func(columns int, v ...float64) *mat.Dense { return mat.NewDense(len(v)/columns, columns, v) }
	two, good := dense(1, 1, 2), dense(3, 1, 0, 0, 1, 1, 1)
	for _, tt := range []struct {
		y, z *mat.Dense
		kind observed.Kind
		want string // the file, which is named; "" for none
	}{
		{dense(1, 1, 2, 3, 4), good, observed.Bits, "y"}, {dense(1, 1), good, observed.Bits, "z"},
		{dense(2, 1, 2, 1, 2), good, observed.Bits, "y"}, {dense(3, 1, 1, -1, 1, -1, -1), good, observed.Bits, "y"},
		{dense(1, 1, 5), good, observed.Bits, "y"},
		{two, dense(3, 0, 1, 0, 0, 0.5, 0), observed.Bits, "z"}, {two, dense(3, 0, 1, 0, 0, 1.5, 0), observed.Probabilities, "z"},
		{two, good, observed.Signs, "z"}, {two, dense(3, 0, 1, 0, 0, math.NaN(), 0), observed.Logits, "z"},
		{two, dense(3, 0, 1, math.Inf(-1), 0, 1, 0), observed.Logits, "z"},
		{two, dense(3, 0, 0x1.01p480, 0, 0, 1, 0), observed.Logits, "z"}, {two, dense(3, 0, 0x1p480, 0, 0, 1, 0), observed.Logits, ""},
		{two, dense(3, 0, 0x0.ffp-480, 0, 0, 0, 0), observed.Logits, "z"}, {two, dense(3, 0, 0x1p-480, 0, 0, 0, 0), observed.Logits, ""},
	} {
		for _, format := range []string{"npy", "csv"} { // which says how many rows it has only at its end
			s := files(t, tt.y, tt.z, format, observed.Labels{Levels: 4}, tt.kind)
			err := s.Check()
			if err == nil {
				_, err = observed.Scan(t.Context(), 0, s, c, nil, nil)
			}
			if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want+"."+format) ||
				strings.Contains(err.Error(), "\n")) {
				t.Errorf("error %v, want one line about %s.%s", err, tt.want, format)
			}
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s := files(t, two, good, "npy", observed.Labels{Levels: 4}, observed.Bits)
	if _, err := observed.Scan(ended, 0, s, c, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context's end: %v", err)
	}
}

// TestSpread compares quantiles with those of the sorted errors: the bin of an error is 1/32 of it
// wide, and no quantile leaves its bin. Whole numbers up to 64 have a bin each. The order in which
// errors come, and are merged, changes a sum by its rounding alone.
func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.Bool().Draw(t, "whole")
		value := rapid.Custom(func(t *rapid.T) float64 {
			if whole {
				return float64(rapid.IntRange(0, 64).Draw(t, "levels"))
			}
			return math.Exp(rapid.Float64Range(-8, 11).Draw(t, "log"))
		})
		errors := rapid.SliceOfN(value, 1, 200).Draw(t, "errors")
		var some, rest observed.Spread
		cut := rapid.IntRange(0, len(errors)).Draw(t, "cut")
		for i, v := range errors {
			if i < cut {
				some.Add(v)
			} else {
				rest.Add(v)
			}
		}
		some.Merge(&rest)
		if some.Samples() != uint64(len(errors)) {
			t.Fatalf("%d samples, want %d", some.Samples(), len(errors))
		}
		slices.Sort(errors)
		for _, p := range []float64{0.5, 0.9, 0.99, 1} {
			want := errors[int(math.Ceil(p*float64(len(errors))))-1]
			tolerance := max(want/32, 1.0/64)
			if whole {
				tolerance = 1e-12
			}
			if got := some.Quantile(p); !(math.Abs(got-want) <= tolerance) {
				t.Fatalf("quantile %v of %v: %v, want %v", p, errors, got, want)
			}
		}
	})
	var none observed.Spread
	if !math.IsNaN(none.Quantile(0.5)) {
		t.Error("a quantile without errors")
	}
	none.Add(math.Inf(1)) // a decoder may overflow
	none.Add(1e300)
}

// TestSuspects: columns that number the samples, and a softmax over bits, are refused by name;
// what is like them and is none is read.
func TestSuspects(t *testing.T) {
	c := mustCode(t, "unary", 4)
	decodings := must.Get(observed.Decodings(decode.Builtin(), c, observed.Logits, decode.Options{}))(t)[:1]
	lines := func(format string, of ...func(i int) any) string {
		var b strings.Builder
		for i := range 12 {
			values := make([]any, len(of))
			for k, f := range of {
				values[k] = f(i)
			}
			fmt.Fprintf(&b, format+"\n", values...)
		}
		return b.String()
	}
	at := func(from int) func(int) any { return func(i int) any { return from + i } }
	wave := func(i int) any { return math.Sin(float64(i)) }
	sign := func(i int) any { return i % 3 % 2 }
	other := func(i int) any { return 1 - i%3%2 }
	far := func(i int) any { return 7 * ((5*i)%13 + 1) }
	for _, tt := range []struct {
		text string
		kind observed.Kind
		want string
	}{
		{lines("%d,%.3f,%.3f", at(0), wave, wave), observed.Logits, "column 1 counts the rows, 0 to 11"},
		{lines("%.3f,%.3f,%d", wave, wave, at(1)), observed.Logits, "column 3 counts the rows, 1 to 12"},
		{lines("%d,%.3f,%.3f", far, wave, wave), observed.Logits, "column 1 has whole numbers alone"},
		{lines("%d,%d,%d", far, sign, other), observed.Logits, "column 1 has whole numbers alone"},
		{lines("%d,%.3f,%.3f", sign, wave, wave), observed.Logits, ""},
		{lines("%d,%d,%d", at(-2), sign, other), observed.Logits, ""}, // logits without decimals
		{lines("%d,%d,%.3f", far, far, wave), observed.Logits, ""},    // logits of eight bits
		{lines("5,%.3f,%.3f", wave, wave), observed.Logits, ""},
		{lines("0.2,0.5,0.3"), observed.Probabilities, "add up to 1, as those of a softmax"},
		{lines("-1.6094,-0.6931,-1.2040"), observed.Logits, "add up to 1, as those of a softmax"},
		{lines("0.2,0.5,0.4"), observed.Probabilities, ""},
		{lines("%d,%d,0", sign, other), observed.Bits, ""},
	} {
		path := filepath.Join(t.TempDir(), "z.csv")
		must.Succeed(t, os.WriteFile(path, []byte("a,b,c\n"+tt.text), 0o600))
		rows := must.Get(arrayfile.OpenRows(path))(t)
		defer rows.Close()
		for _, softmax := range []bool{false, true} {
			s := &observed.Source{Outputs: rows, Kind: tt.kind, Softmax: softmax}
			err := s.Decode(t.Context(), 1, c, observed.LabelsOf(decodings), func([]float64) error { return nil }, nil)
			want := tt.want
			if softmax && strings.Contains(want, "softmax") {
				want = ""
			}
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(must.Text(err), want)) {
				t.Errorf("%.30q, softmax %v: %v, want %q", tt.text, softmax, err, want)
			}
		}
	}
}

// TestSettle: the number of the other file's rows says what a first line is.
func TestSettle(t *testing.T) {
	for _, tt := range []struct {
		targets, outputs, want string
		notes                  int
	}{
		{"0\n1\n2\n", "1,2.5\n3,-1.5\n", "", 1},
		{"0\n1\n", "1,2.5\n3,-1.5\n", "target 0: levels are", 0},
		{"1\n2\n", "0,1\n1,1\n0,0\n", "", 1},
		{"1\n2\n", "0,1\n1,1\n", "", 0},
		{"3\n1\n2\n", "1,2.5\n3,-1.5\n", "y.csv has 3 targets: is its first line the names", 0},
		{"1\n2\n3\n", "0,1,2\n0.5,1.25,2\n0.5,1.5,2\n", "line 1 (0, 1, 2) is left out, as the names", 1},
		{"0\n1\n2\n", "0,1\n1,1\n0,0\n", "may be the names of columns", 0}, // nothing tells
	} {
		dir := t.TempDir()
		open := func(name, text string) *arrayfile.Rows {
			must.Succeed(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			return must.Get(arrayfile.OpenRows(filepath.Join(dir, name)))(t)
		}
		s := &observed.Source{Targets: open("y.csv", tt.targets), Outputs: open("z.csv", tt.outputs),
			Labels: observed.Labels{Levels: 3}, Kind: observed.Logits}
		defer s.Targets.Close()
		defer s.Outputs.Close()
		must.Succeed(t, s.Settle(t.Context()))
		_, err := s.Subsample(t.Context(), 10, 1, nil)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(must.Text(err), tt.want)) {
			t.Errorf("%q, %q: %v, want %q", tt.targets, tt.outputs, err, tt.want)
		}
		if got := s.Notes(); len(got) != tt.notes {
			t.Errorf("%q, %q: notes %q", tt.targets, tt.outputs, got)
		}
	}
}

// TestDecode: labels of a file are those of every sample by itself, in its order, on any number of
// workers and in every format.
func TestDecode(t *testing.T) {
	ctx := context.Background()
	const samples = 5000 // more than a batch
	c := mustCode(t, "hexj", 16)
	y, z := network(t, c, 0.5, 1.5, 1, 0, samples, 4)
	decodings := must.Get(observed.Decodings(withToys(), c, observed.Logits, decode.Options{}))(t)
	median := must.Get(decode.NewPosterior(c, decode.Model{Logits: true}))(t)
	decodings = append(decodings, observed.Decoding{Decoder: median, Soft: true}, observed.Decoding{Decoder: median})
	for _, r := range decodings {
		var want []float64
		for j := range samples {
			want = append(want, byItself(r, z.RawRowView(j)))
		}
		for workers, format := range map[int]string{1: "npy", 3: "csv"} {
			s := files(t, y, z, format, observed.Labels{Levels: 16}, observed.Logits)
			if n, err := observed.Count(ctx, s.Outputs); n != samples || err != nil {
				t.Fatalf("%d rows, %v", n, err)
			}
			s.Targets = nil
			var got []float64
			done := uint64(0)
			must.Succeed(t, s.Decode(ctx, workers, c, observed.LabelsOf([]observed.Decoding{r}),
				func(labels []float64) error {
					got = append(got, labels...)
					return nil
				}, func(n uint64) { done += n }))
			if done != samples || !floats.EqualApprox(got, want, 1e-9) {
				t.Errorf("%s, %s, %d workers: other labels, of %d samples", r.Decoder.Name(), format, workers, done)
			}
		}
	}
	s := files(t, y, z, "npy", observed.Labels{Levels: 16}, observed.Logits)
	for _, tt := range []struct {
		kind observed.Kind
		emit error
		want string
	}{
		{observed.Bits, nil, "neither 0 nor 1"},
		{observed.Logits, io.ErrShortWrite, io.ErrShortWrite.Error()},
	} {
		s.Kind, s.Targets = tt.kind, nil
		must.Refused(t, s.Decode(ctx, 1, mustCode(t, "hexj", 16), observed.LabelsOf(decodings[:1]),
			func([]float64) error { return tt.emit }, nil), tt.want)
	}
}

// TestTake takes all samples, or some, each of them once.
func TestTake(t *testing.T) {
	c := mustCode(t, "unary", 16)
	y, z := network(t, c, 0.5, 1.5, 1, 0, 6000, 5)
	take := func(most int, seed uint64) *observed.Samples {
		f := files(t, y, z, "npy", observed.Labels{Levels: 16}, observed.Logits)
		s := must.Get(f.Subsample(t.Context(), most, seed, nil))(t)
		if s.All != 6000 || s.Len() != min(most, 6000) || len(s.Outputs) != s.Len()*15 {
			t.Fatalf("%d of %d samples", s.Len(), s.All)
		}
		return s
	}
	at := map[float64]int{} // a sample, by its first output
	for j := range 6000 {
		at[z.At(j, 0)] = j
	}
	for _, most := range []int{500, 10000} {
		s := take(most, 1)
		seen := map[int]bool{}
		late := 0
		for i := range s.Len() {
			j := at[s.Row(i)[0]]
			if seen[j] || s.Exact[i] != y.At(j, 0) || s.Level[i] != int(y.At(j, 0)) ||
				!slices.Equal(s.Row(i), z.RawRowView(j)) {
				t.Fatalf("sample %d is none of the file, or there twice", i)
			}
			seen[j] = true
			if j >= 3000 {
				late++
			}
		}
		// Half are of the second half of the file: six standard deviations.
		n := float64(s.Len())
		must.Near(t, "samples of the second half", n/2, float64(late), 6*math.Sqrt(n)/2)
		if !slices.Equal(s.Outputs, take(most, 1).Outputs) || slices.Equal(s.Outputs, take(most, 2).Outputs) {
			t.Errorf("most %d: the seed does not decide", most)
		}
	}
}

// TestScores: CRPS, log score and PIT are those of their definitions, over the posterior of independent
// bits: E|X − y| − ½·E|X − X'|, −ln P(m), and a grid of the evenly spread transform.
func TestScores(t *testing.T) {
	const levels, samples = 12, 300
	even := mustCode(t, "johnson", levels)
	uneven := even.Placed(code.Values{1, 2, 3, 5, 7, 8, 9.5, 10, 11, 14, 20, 21})
	for _, c := range []*code.Code{even, uneven} {
		place, labels := c.Place, observed.Labels{Levels: levels, Real: true, Lo: 1, Hi: levels, Places: c.Places(), Clips: true}
		y, z := network(t, even, 0.5, 1.5, 1, 0, samples, 4)
		for j := range samples { // targets between levels, and beyond the ends
			y.Set(j, 0, y.At(j, 0)+0.9*math.Sin(float64(j)))
		}
		decodings := must.Get(observed.Decodings(decode.Builtin(), c, observed.Logits, decode.Options{}))(t)
		s := must.Get(observed.Scan(t.Context(), 2, files(t, y, z, "npy", labels, observed.Logits), c, decodings, nil))(t)
		if len(s.Scores) != 1 || s.Scores[0].Decoder != "gen-ex" {
			t.Fatalf("scores %v", s.Scores)
		}
		var crps, log float64
		var pit [observed.PITBins]float64
		for j := range samples {
			p, target := posteriorOf(c, z, j), y.At(j, 0)
			level, _, err := labels.Level(target)
			must.Succeed(t, err)
			before, half := 0.0, 0.0
			for i := range p {
				crps += p[i] * math.Abs(place(i)-target)
				for k := range p {
					half += p[i] * p[k] * math.Abs(place(i)-place(k)) / 2
				}
				if i < level-1 {
					before += p[i]
				}
			}
			crps, log = crps-half, log-math.Log(max(p[level-1], decode.SmallestError))
			for b := range pit {
				lo, hi := float64(b)/observed.PITBins, float64(b+1)/observed.PITBins
				pit[b] += max(0, min(hi, before+p[level-1])-max(lo, before)) / p[level-1]
			}
		}
		got := s.Scores[0]
		near := func(what string, got, want float64) {
			must.Near(t, what, want/samples, got, 1e-10)
		}
		near("CRPS", got.CRPS, crps*labels.Width())
		near("log score", got.Log, log)
		for b := range pit {
			near("PIT", got.PIT[b], pit[b])
		}
	}
	// A certain network: CRPS is |error|, a wrong level counts as 1e-12, and the PIT lies at the ends.
	c := mustCode(t, "unary", 3)
	z := mat.NewDense(2, 2, []float64{800, 800, 800, 800})
	s := must.Get(observed.Scan(t.Context(), 1, files(t, mat.NewDense(2, 1, []float64{3, 1}), z, "npy",
		observed.Labels{Levels: 3}, observed.Logits), c,
		must.Get(observed.Decodings(decode.Builtin(), c, observed.Logits, decode.Options{}))(t), nil))(t)
	for _, x := range s.Scores {
		if x.CRPS != 1 || math.Abs(x.Log+math.Log(1e-12)/2) > 1e-10 || x.Impossible != 1 ||
			math.Abs(x.PIT[0]-0.5-0.5/observed.PITBins) > 1e-10 {
			t.Errorf("%+v", x)
		}
	}
}

// posteriorOf are the probabilities of the levels of sample j, for independent bits.
func posteriorOf(c *code.Code, z *mat.Dense, j int) []float64 {
	p, total := make([]float64, c.Levels()), 0.0
	for i := range p {
		p[i] = 1
		for k, v := range z.RawRowView(j) {
			p[i] *= 1 / (1 + math.Exp((1-2*c.Value(i, k))*v))
		}
		total += p[i]
	}
	for i := range p {
		p[i] /= total
	}
	return p
}

// TestLossBound: the error of gen on logits is at most the bound by the loss, which of unary is at most the
// summed cross-entropy in bits; there is none of bits, or without gen.
func TestLossBound(t *testing.T) {
	for _, name := range []string{"unary", "johnson", "hexj", "onehot"} {
		c := mustCode(t, name, 16)
		y, z := network(t, c, 0.5, 1.5, 1, 0, 200, 4)
		decodings := must.Get(observed.Decodings(decode.Builtin(), c, observed.Logits, decode.Options{}))(t)
		f := files(t, y, z, "npy", observed.Labels{Levels: 16}, observed.Logits)
		s := must.Get(observed.Scan(t.Context(), 2, f, c, decodings, nil))(t)
		for r, d := range decodings {
			if _, gen := d.Decoder.(decode.Gen); gen && d.Soft && !(s.Levels[r].Mean <= s.LossBound) {
				t.Errorf("%s: error %v, bound %v", name, s.Levels[r].Mean, s.LossBound)
			}
		}
		bits := 0.0
		for j := range 200 {
			for k, v := range z.RawRowView(j) {
				bits += math.Log2(1+math.Exp((1-2*c.Value(int(y.At(j, 0))-1, k))*v)) / 200
			}
		}
		if name == "unary" && s.LossBound > bits*(1+1e-12) {
			t.Errorf("bound %v, BCE of %v bits", s.LossBound, bits)
		}
		if s = must.Get(observed.Scan(t.Context(), 1, f, c, decodings[:1], nil))(t); !math.IsNaN(s.LossBound) {
			t.Errorf("%s: a bound of %s", name, decodings[0].Decoder.Name())
		}
	}
}

// TestSampleOnce: a sample weighs its levels once for each decoder and kind of outputs, and what comes
// of that is what each decoder answers by itself, also of the next sample. Sums of 16 terms of
// up to 16 are rounded by less than 1e-12.
func TestSampleOnce(t *testing.T) {
	c := must.Get(code.New("johnson", 16))(t)
	sample, rng := observed.NewSample(c.Bits(), decode.NewCorrelations(c)), rand.New(rand.NewPCG(1, 1))
	for range 100 {
		z, signs := make([]float64, c.Bits()), make([]float64, c.Bits())
		for k := range z {
			z[k] = 3 * rng.NormFloat64()
			signs[k] = math.Copysign(1, z[k])
		}
		sample.Set(z)
		for _, tau := range []float64{1, 0.5} {
			by := must.Get(decode.NewGenEx(c, tau))(t)
			d, _ := decode.NewDistribution(c, by)
			mean := 0.0
			for i, p := range sample.Probabilities(d) {
				mean += p * c.Place(i)
			}
			want, label := by.DecodeLogits(z), sample.Label(observed.Decoding{Decoder: by, Soft: true})
			for of, got := range map[string]float64{"probabilities": mean, "logits": label} {
				if !(math.Abs(got-want) <= 1e-12) {
					t.Errorf("τ = %v, %s: %v; want %v", tau, of, got, want)
				}
			}
			label, want = sample.Label(observed.Decoding{Decoder: by}), by.DecodeLogits(signs)
			if !(math.Abs(label-want) <= 1e-12) {
				t.Errorf("τ = %v, signs: %v; want %v", tau, label, want)
			}
		}
	}
}
