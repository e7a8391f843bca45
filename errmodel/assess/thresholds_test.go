package assess

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/errmodel/fault"
	"belsim/errmodel/forecast"
	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory/base/must"
	"belsim/theory/base/position"
	"belsim/theory/code"
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
