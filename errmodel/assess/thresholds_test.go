package assess

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/errmodel/fault"
	"belsim/errmodel/fitdecoder"
	"belsim/errmodel/forecast"
	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/base/position"
	"belsim/theory/code"
	"belsim/theory/decode"
)

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
		want           perceived.Training
	}{
		{100, 0, observed.Logits, 0.0899, perceived.BCE}, {100, 0, observed.Logits, 0.0901, perceived.CE},
		{10000, 0, observed.Logits, 0.0449, perceived.BCE}, {10000, 0, observed.Logits, 0.0451, perceived.CE},
		{10000, 100, observed.Logits, 0, perceived.BCE}, {10000, 101, observed.Logits, 0, perceived.CE}, {10000, 101,
			observed.Bits, math.NaN(), perceived.BCE},
	} {
		n := seenNetwork(t, "hexj", 16, []uint64{tt.samples}, constant, tt.wrong)
		n.source.Kind, n.seen.Miscalibration = tt.kind, tt.calibration
		if got := n.trained(); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

// TestUnknown: what is known of a network holds for none that has a warning.
func TestUnknown(t *testing.T) {
	c := must.Get(code.New("gray", 8))(t)
	of := func(mean float64, warning string) *network {
		n := &network{code: c, seen: &observed.Summary{Labels: []observed.Error{{Mean: mean, StdErr: 0.01}}}}
		if warning != "" {
			n.misread = &fault.Finding{Text: warning}
		}
		return n
	}
	if s := siblingsOf(of(1, ""), []*network{of(1, ""), of(3, "shuffled")}, 1); !s.ended() || s.count != 1 {
		t.Errorf("%+v", s)
	}
}

// TestShow: soft targets are shown where they were measured, or differ from CE by a hundredth.
func TestShow(t *testing.T) {
	soft := func(ratio float64, measured bool) bool {
		r := Recommendation{Ranking: []forecast.Row{{Best: true, Ratio: 1},
			{Best: true, Ratio: ratio, Measured: measured}}}
		r.Ranking[0].Code, r.Ranking[0].Training = "gray", perceived.CE
		r.Ranking[1].Code, r.Ranking[1].Training = "gray", perceived.Soft
		r.show()
		return r.Ranking[1].Shown
	}
	if !soft(1, true) || soft(0.991, false) || !soft(0.989, false) {
		t.Errorf("%v, %v, %v", soft(1, true), soft(0.991, false), soft(0.989, false))
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
		f := &Fit{LevelWidth: 1, Decoders: []DecoderRow{{Network: 1, Observed: 1, StdErr: 0.1}}}
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
	f := recommended(t).Fit
	best := f.Decoders[bestDecoder(f.Decoders)]
	labels := labelsOf(t, o, best.Decoder, best.Outputs == "logits")
	y, direct := easy.targets(), mat.NewDense(easy.samples, 1, nil)
	for _, tt := range []struct {
		file string
		off  float64 // of the prediction, from the network's answer towards the target
		want string
	}{
		{"same.npy", 0, "not told apart from it: as much error (standard error 0 %, paired by sample)."}, {"nearer.npy", 0.05, "worse: "},
		{"nearer.csv", 0.05, "worse: "}, {"further.npy", -0.05, "better: "},
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
		o.Baseline.File = filepath.Join(folder, tt.file)
		if filepath.Ext(tt.file) == ".csv" {
			f := must.Get(os.Create(o.Baseline.File))(t)
			must.Succeed(t, errors.Join(arrayfile.WriteCSV(t.Context(), f, direct), f.Close()))
		} else {
			save(t, o.Baseline.File, direct)
		}
		f := judge(t, o).Fit
		says(t, f.Verdict, tt.want)
		mean, d := sum/float64(len(labels)), f.Direct
		want := *d
		want.Error, want.Difference, want.Told = mean, d.Network-d.Error, tt.off != 0
		same(t, tt.file, want, *d, nearly)
		must.Within(t, tt.file+": the standard error of the difference", d.DifferenceErr, -1, d.StdErr)
	}
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

// TestDecisionText says each decision, and the fitted decoder first where that gains more.
func TestDecisionText(t *testing.T) {
	const fitted, keep, train = "read this network with the fitted decoder", "keep johnson", "train "
	gain := func(gain float64, better bool) *Fitted {
		return &Fitted{Judgement: fitdecoder.Judgement{Better: better, Gain: gain, BaselineErr: 2}}
	}
	stay, next := forecast.Decision{Action: "stay", Ended: true}, forecast.Decision{Action: "train", Gain: 0.08, Better: 1}
	next.Design.Code, next.Design.Training, next.Design.Decoder = "unary", "bce", "gen"
	further := next
	further.Action, further.Gain = "stay", 0.06
	for _, tt := range []struct {
		d      forecast.Decision
		fitted *Fitted
		want   string
	}{
		{next, nil, train}, {next, gain(0.1, true), train}, {stay, nil, keep}, {stay, gain(0.0199, true), keep},
		{stay, gain(0.0201, true), fitted}, {stay, gain(0.1, false), keep}, {further, gain(0.1, true), fitted},
	} {
		if got := decisionText(&tt.d, tt.fitted, "johnson"); !strings.HasPrefix(got, tt.want) && (tt.want != keep ||
			!strings.Contains(got, keep) || strings.HasPrefix(got, fitted)) {
			t.Errorf("%+v: %q, want %q", tt.d, got, tt.want)
		}
	}
}

// TestChosenSpacing: half even levels are chosen where the error that is written beside them is
// smaller by 1 % at least, whatever the baseline is.
func TestChosenSpacing(t *testing.T) {
	y := mat.NewDense(2000, 1, nil)
	for i := range 2000 {
		y.Set(i, 0, math.Exp(5*float64(i)/1999))
	}
	path, seen := save(t, filepath.Join(t.TempDir(), "y.npy"), y), map[bool]bool{}
	for _, baseline := range []float64{0, 0.1, 1, 5, 100} {
		s := must.Get(NewSpacings(t.Context(), path, LabelRange{}, []int{4, 16, 64}, baseline))(t)
		for i := 0; i < len(s.Results); i += 2 {
			even, half := s.Results[i], s.Results[i+1]
			want := math.Hypot(half.Quantization, baseline) <= 0.99*math.Hypot(even.Quantization, baseline)
			seen[want] = true
			if half.Chosen != want || even.Chosen == want {
				t.Errorf("baseline %v: %+v is chosen beside %+v", baseline, half.Chosen, even.Chosen)
			}
		}
	}
	must.Equal(t, "choices", map[bool]bool{true: true, false: true}, seen)
}
