package fitdecoder_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/fitdecoder"
	"belsim/errmodel/observed"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/decode"
)

// ends are those of a decoder's intervals for a sample.
func ends(t testing.TB, d *fitdecoder.Decoder, confidence float64) func(z []float64) (lower, upper float64) {
	t.Helper()
	lower, upper, err := d.Interval(confidence)
	must.Succeed(t, err)
	return func(z []float64) (float64, float64) {
		return lower.(decode.LogitDecoder).DecodeLogits(z), upper.(decode.LogitDecoder).DecodeLogits(z)
	}
}

// TestIntervals: intervals of networks with random parameters hold as many new samples as they
// promise, and as many as Fit says; they widen with the confidence, hold the label from ½ on, and
// lie in the range. With n calibration samples and m new ones, the share that holds has the
// standard deviation √(c(1−c)(1/n+1/m)) around c to c + 2/(n+1). Five of them on either side, 17
// networks and three confidences give a false alarm in 30,000 runs.
func TestIntervals(t *testing.T) {
	const train, test = 300, 2000
	rng := rand.New(rand.NewPCG(46, 1))
	names, covered := []string{"unary", "johnson", "hexj-nr", "binary", "onehot", "hadamard"}, 0.0
	for i := range 17 {
		name, bits, unit := names[i%len(names)], i%5 == 4, i%3 == 2
		c := mustCode(t, name, 16)
		noise, misfit, scale := 0.3+1.5*rng.Float64(), rng.Float64(), math.Exp2(2*rng.Float64()-1)
		what := fmt.Sprintf("%s, noise %.2f, misfit %.2f, scale %.2f, bits %v", name, noise, misfit, scale, bits)
		calibration, fresh, kind := draw(c, train, noise, misfit, scale, uint64(2*i)), draw(c, test, noise, misfit,
			scale, uint64(2*i+1)), observed.Logits
		if bits {
			calibration, fresh, kind = signs(calibration), signs(fresh), observed.Bits
		}
		lo, width := 1.0, 1.0
		var values []float64
		if unit {
			lo, width = -7, 0.25
			values = fitdecoder.Spread(16, lo, lo+15*width)
		}
		r := fit(t, 0, c, calibration, kind, values)
		j := r.Intervals
		covered += j.Coverage / 17
		se := math.Sqrt(0.09/train) * 1.5
		must.Within(t, what+": coverage", j.Coverage, max(j.Worst, 0.9-5*se), 0.9+5*se)
		must.Within(t, what+": Winkler", j.Winkler, j.Width, 1.05*j.Constant)
		must.Equal(t, what+": number of samples", train, len(j.Samples))
		within := make([][2]float64, test)
		for i := range within {
			within[i] = [2]float64{math.Inf(1), math.Inf(-1)}
		}
		for _, confidence := range []float64{0.5, 0.8, 0.95} {
			of, inside, wide := ends(t, r.Decoder, confidence), 0.0, 0.0
			for i, before := range within {
				lower, upper := of(fresh.Row(i))
				label, target := r.Decoder.DecodeLogits(fresh.Row(i)), lo+(fresh.Exact[i]-1)*width
				if lower <= target && target <= upper {
					inside++
				}
				wide += (upper - lower) / test
				if lower > before[0] || upper < before[1] || lower < lo-1e-9 || upper > lo+15*width+1e-9 || confidence > 0.9 &&
					(lower > label || label > upper) {
					t.Fatalf("%s, sample %d: %v to %v at %v, and %v before; label %v", what, i, lower, upper,
						confidence, before, label)
				}
				within[i] = [2]float64{lower, upper}
			}
			se := math.Sqrt(confidence * (1 - confidence) * (1./train + 1./test))
			// Cross-fitting with four fifths of few samples makes the intervals of fitted decoders
			// a little wide.
			most := 2./(train+1) + 5*se
			if r.Better {
				most += 0.02
			}
			if share := inside / test; share < confidence-5*se || share > confidence+most {
				t.Errorf("%s: %v hold at %v", what, share, confidence)
			}
		}
		// Another range scales all.
		a, b := ends(t, r.Decoder, 0.8), ends(t, must.Get(r.Decoder.WithValues(fitdecoder.Spread(16, 0, 1)))(t), 0.8)
		for i := range 20 {
			al, au := a(fresh.Row(i))
			bl, bu := b(fresh.Row(i))
			if math.Abs((al-lo)/(15*width)-bl) > 1e-9 || math.Abs((au-lo)/(15*width)-bu) > 1e-9 {
				t.Fatalf("%s: %v to %v is %v to %v in another range", what, al, au, bl, bu)
			}
		}
	}
	if math.Abs(covered-0.9) > 0.03 { // 17·300 samples in folds: five times 1.5·√(0.09/5100)
		t.Errorf("Fit says that %v hold at 0.9", covered)
	}
}

// TestWidth: where a level is four units wide all errors and lengths are four times as large, and
// samples lie where they are in these units.
func TestWidth(t *testing.T) {
	c := mustCode(t, "johnson", 8)
	s := draw(c, 200, 1, 0.5, 1, 9)
	for i := range s.Exact {
		s.Direct = append(s.Direct, s.Exact[i]+0.1*float64(i%7))
	}
	in := fitdecoder.Input{Code: c, Samples: s, Logits: true,
		Decodings: must.Get(observed.Decodings(decode.Builtin(), c, observed.Logits, decode.Options{}))(t)}
	one := must.Get(fitdecoder.Fit(t.Context(), 0, in))(t)
	must.Equal(t, "the first target", s.Exact[0], one.Intervals.Samples[0].Target)
	in.Width, in.Values = 4, fitdecoder.Spread(8, 1, 29)
	four := must.Get(fitdecoder.Fit(t.Context(), 0, in))(t)
	want, i := one, one.Intervals
	for _, length := range []*float64{&want.Error, &want.StdErr, &want.Interval[0], &want.Interval[1],
		&want.BaselineErr, &want.Gain, &want.GainSE, &want.Beside.Mean, &want.Beside.StdErr, &i.Width, &i.Winkler, &i.Constant} {
		*length *= 4
	}
	for k := range want.Kinds {
		want.Kinds[k].Error, want.Kinds[k].StdErr = 4*want.Kinds[k].Error, 4*want.Kinds[k].StdErr
	}
	for k := range i.Samples {
		for _, label := range []*float64{&i.Samples[k].Target, &i.Samples[k].Label, &i.Samples[k].Lower,
			&i.Samples[k].Upper} {
			*label = 1 + (*label-1)*4
		}
	}
	must.Equal(t, "four times the errors", want.Judgement, four.Judgement)
	must.Equal(t, "beside direct regression", want.Beside, four.Beside)
}

// TestNested: what judges a fifth of the samples does not know their targets.
func TestNested(t *testing.T) {
	c := mustCode(t, "johnson", 8)
	s := draw(c, 200, 1, 0.5, 1, 9)
	before := fit(t, 0, c, s, observed.Logits, nil).Intervals.Samples
	for i := 0; i < len(s.Exact); i += 5 {
		s.Exact[i], s.Level[i] = 9-s.Exact[i], 9-s.Level[i]
	}
	for i, after := range fit(t, 0, c, s, observed.Logits, nil).Intervals.Samples[:40] {
		before[i].Target = 9 - before[i].Target
		must.Equal(t, fmt.Sprintf("sample %d", 5*i), before[i], after)
	}
}

// TestJudged: what is said of intervals, and of intervals of one width, is so of the samples. gen-ex is
// the best here, which no fit changes, and some targets lie at the ends of the range.
func TestJudged(t *testing.T) {
	c := mustCode(t, "unary", 8)
	s := draw(c, 200, 1, 0, 1, 9)
	for i, level := range s.Level {
		s.Exact[i] = float64(level)
	}
	r := fit(t, 0, c, s, observed.Logits, nil)
	must.Equal(t, "a fitted decoder is better", false, r.Better)
	j := r.Intervals
	score := func(x fitdecoder.Interval, lower, upper float64) float64 {
		return upper - lower + 20*max(lower-x.Target, x.Target-upper, 0)
	}
	var held, width, winkler, constant float64
	for n, x := range j.Samples {
		var residuals []float64
		for k, other := range j.Samples {
			if k/40 != n/40 {
				residuals = append(residuals, other.Target-other.Label)
			}
		}
		slices.Sort(residuals)
		const rank = 153 // ⌈161 · 0.95⌉ of 160
		if x.Lower <= x.Target && x.Target <= x.Upper {
			held++
		}
		width += x.Upper - x.Lower
		winkler += score(x, x.Lower, x.Upper)
		constant += score(x, max(1, x.Label+residuals[160-rank]), min(8, x.Label+residuals[rank-1]))
		must.Within(t, "ends", x.Lower, 1, x.Upper)
		must.Within(t, "ends", x.Upper, x.Lower, 8)
	}
	must.Equal(t, "coverage, width, and scores", []float64{held / 200, width / 200, winkler / 200, constant / 200},
		[]float64{j.Coverage, j.Width, j.Winkler, j.Constant}, cmpopts.EquateApprox(1e-12, 0))
}

// TestSigma: intervals of a decoder are those of a few lines that know the file alone.
func TestSigma(t *testing.T) {
	for _, name := range []string{"unary", "johnson", "binary"} {
		for _, bitByBit := range []bool{false, true} {
			c := mustCode(t, name, 8)
			s := draw(c, 300, 1, 0.5, 1, 9)
			decodings := must.Get(observed.Decodings(decode.Builtin(), c, observed.Logits, decode.Options{}))(t)
			in := fitdecoder.Input{Code: c, Samples: s, Logits: true, Decodings: decodings, BitByBit: bitByBit,
				Values: []float64{0, 1, 2, 4, 8, 16, 32, 64}}
			d := must.Get(fitdecoder.Fit(t.Context(), 0, in))(t).Decoder
			if d.About().Reads != "logits" {
				t.Fatalf("%s reads bits", name)
			}
			path, _ := written(t, d)
			of, again := ends(t, d, 0.9), ends(t, must.Get(fitdecoder.Read(path))(t), 0.9)
			for i := range 50 {
				lower, upper := of(s.Row(i))
				wantLower, wantUpper := byHand(t, path, s.Row(i), d.DecodeLogits(s.Row(i)), bitByBit && name == "unary",
					in.Values)
				if l, u := again(s.Row(i)); l != lower || u != upper || math.Abs(lower-wantLower) > 1e-9 ||
					math.Abs(upper-wantUpper) > 1e-9 {
					t.Fatalf("%s, bit by bit %v: %v to %v, want %v to %v; from the file %v to %v", name, bitByBit,
						lower, upper, wantLower, wantUpper, l, u)
				}
			}
		}
	}
}

// byHand are the ends of an interval of 0.9, of the arrays of a file. The label is known.
func byHand(t testing.TB, path string, z []float64, label float64, sigmoids bool, values []float64) (lower,
	upper float64) {
	array := func(name string) *mat.Dense { return must.Get(arrayfile.ReadFile(path + ":" + name))(t) }
	w, b, residuals := array("weights"), array("offsets"), array("residuals").RawMatrix().Data
	levels, m := w.Dims()
	p, total, mean, variance, within := make([]float64, levels), 0.0, 0.0, 0.0, 0.0
	for n := range p {
		score := b.At(n, 0)
		for k := range m {
			score += w.At(n, k) * z[k]
		}
		p[n] = math.Exp(score)
	}
	if sigmoids { // P(level ≥ n) − P(level ≥ n + 1)
		above := []float64{1}
		for _, v := range slices.Sorted(slices.Values(z)) {
			above = slices.Insert(above, 1, 1/(1+math.Exp(-v)))
		}
		for n := range p {
			p[n] = above[n]
			if n < m {
				p[n] -= above[n+1]
			}
		}
	}
	for n := range p {
		total += p[n]
		mean += p[n] * values[n]
	}
	for n := range p {
		half := 0.0 // of the level, on either side
		for _, beside := range []int{n - 1, n + 1} {
			if beside < 0 || beside == levels {
				beside = 2*n - beside
			}
			half += math.Abs(values[beside]-values[n]) / 2
		}
		variance += p[n] / total * (values[n] - mean/total) * (values[n] - mean/total)
		within += p[n] / total * half * half / 12
	}
	sigma := math.Sqrt(variance + array("floor").At(0, 0)*within)
	rank := 286 // ⌈301 · 0.95⌉ of 300
	return min(max(label+residuals[300-rank]*sigma, values[0]),
		values[levels-1]), min(max(label+residuals[rank-1]*sigma, values[0]), values[levels-1])
}

const examples = "../../testdata/decoders/"

// TestExample: the labels are those of the NumPy lines, which made labels.npy.
func TestExample(t *testing.T) {
	d := must.Get(fitdecoder.Read(examples + "decoder.npz"))(t)
	if d.About().Kind != fitdecoder.KindAffine {
		t.Errorf("the example is %s; one with all parts shows more", d.About().Text())
	}
	outputs := must.Get(arrayfile.ReadFile(examples + "more.npy"))(t)
	labels := must.Get(arrayfile.ReadFile(examples + "labels.npy"))(t).RawMatrix().Data
	if n, _ := outputs.Dims(); n != 300 || len(labels) != n {
		t.Fatalf("%d outputs and %d labels", n, len(labels))
	}
	for i, want := range labels {
		if got := d.DecodeLogits(outputs.RawRowView(i)); math.Abs(got-want) > 1e-9 {
			t.Errorf("sample %d: %v, and %v by NumPy", i+1, got, want)
		}
	}
}

// TestLines: the command's reference shows the lines of apply.py, which the gate runs.
func TestLines(t *testing.T) {
	read := func(path string) string { return string(must.Get(os.ReadFile(path))(t)) }
	script, reference := read(examples+"apply.py"), read("../../cmd/belsim/README.md")
	_, lines, _ := strings.Cut(script, "# NumPy\n")
	lines, _, found := strings.Cut(lines, "\n\n\n# end")
	if !found || !strings.Contains(reference, lines) {
		t.Errorf("the reference does not show these lines of apply.py:\n%s", lines)
	}
}
