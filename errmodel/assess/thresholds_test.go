package assess

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/errmodel/forecast"
	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory/base/must"
	"belsim/theory/code"
)

// seenNetwork is a network of a code of which a summary is known: so many samples of each level,
// and of wrong outputs of a bit at all levels.
func seenNetwork(t *testing.T, name string, levels int, samples []uint64, bit int, wrong uint64) *network {
	c := must.Get(code.New(name, levels))(t)
	counts := errmodel.NewCounts(levels, c.Bits())
	copy(counts.Samples, samples)
	counts.Wrong[bit] = wrong
	seen := &observed.Summary{Counts: counts, Ones: make([]uint64, c.Bits())}
	return &network{code: c, source: &observed.Source{Kind: observed.Logits}, transitions: c.Transitions(),
		dependence: make([]float64, c.Bits()), seen: seen}
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

// TestDeadBits: a bit is dead where it is wrong in more than half of the samples, or in more than
// 10 % where it is constant and its logits do not depend on its target: for one bit up to 2.576
// standard errors, the quantile of 99 %.
func TestDeadBits(t *testing.T) {
	for _, tt := range []struct {
		wrong, ones uint64
		z           float64
		want        bool
	}{
		{500, 300, 9, false}, {501, 300, 9, true}, {100, 0, 0, false}, {101, 0, 0, true}, {101, 1000, 0, true}, {101, 1,
			0, false},
		{101, 0, 2.575, true}, {101, 0, 2.577, false}, {101, 0, math.NaN(), true},
	} {
		n := seenNetwork(t, "unary", 2, []uint64{400, 600}, 0, tt.wrong)
		n.seen.Ones[0], n.dependence[0] = tt.ones, tt.z
		if got := len(n.deadBits()) == 1; got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestOneSided: outputs of one side are no logits where more than a quarter of the bits is wrong, as
// those of one-hot, which are all 0, are not.
func TestOneSided(t *testing.T) {
	for _, tt := range []struct {
		wrong, ones uint64 // of 2 bits and 100 samples
		want        bool
	}{{51, 100, true}, {51, 0, true}, {50, 100, false}, {51, 99, false}} {
		n := seenNetwork(t, "unary", 3, []uint64{30, 30, 40}, 0, tt.wrong)
		n.seen.Ones[0], n.seen.Ones[1] = tt.ones, tt.ones
		if bit, yes := n.oneSided(); yes != tt.want || yes && bit != int(tt.ones/100) {
			t.Errorf("%+v: %d, %v", tt, bit, yes)
		}
	}
}

// TestSaveLogits: logits are worth saving from a gain of 2 % on, where they were not measured.
func TestSaveLogits(t *testing.T) {
	n := seenNetwork(t, "unary", 8, nil, 0, 0)
	n.training = perceived.BCE
	own, other := forecast.Forecast{Code: n.code, Training: "bce", Decoding: observed.Prediction(),
		Ratio: 0.9799}, forecast.Forecast{Code: n.code, Training: "ce", Ratio: 0.5}
	few, measured := own, own
	few.Ratio, measured.Measured = 0.9801, true
	for x, want := range map[*forecast.Forecast]bool{&own: true, &few: false, &measured: false, &other: false} {
		if text := saveLogits(n, []forecast.Forecast{other, *x}); (text != "") != want {
			t.Errorf("%+v: %q", x, text)
		}
	}
}

// TestUnknown: what is known of a network holds for none that has a warning, nor for several
// outputs of which one lacks it.
func TestUnknown(t *testing.T) {
	c := must.Get(code.New("gray", 8))(t)
	of := func(mean float64, warning string) *network {
		return &network{code: c, warning: warning,
			seen: &observed.Summary{Labels: []observed.Error{{Mean: mean, StdErr: 0.01}}}}
	}
	if s := siblingsOf(of(1, ""), []*network{of(1, ""), of(3, "shuffled")}, 1); !s.ended() || len(s.over) != 1 {
		t.Errorf("%+v", s)
	}
	r := recommended(t)
	f, rec, decision := *r.Fit, *r.Fit.Recommendation, *r.Fit.Recommendation.Decision
	decision.Ended, rec.Decision, f.Recommendation = true, &decision, &rec
	ended := *r
	ended.Fit = &f
	if NewSeveral([]*Report{r, &ended}).Recommendation.Decision.Ended {
		t.Error("the training has ended, and nobody knows it of the first output")
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

// TestMedian: a guess is the median: of levels 1 to 3 with these shares, the second one is 0.9 levels
// from the targets.
func TestMedian(t *testing.T) {
	n := seenNetwork(t, "unary", 3, []uint64{45, 10, 45}, 0, 0)
	for mean, want := range map[float64]bool{0.89: false, 0.91: true} {
		must.Equal(t, "it is the error of guessing", want, n.asGuess(observed.Error{Mean: mean}))
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

// TestWritten: a fit writes no interval that its reader refuses.
func TestWritten(t *testing.T) {
	if got := written(0.3, [2]float64{1e-7, 4e7}); !math.IsNaN(got[0]) || !math.IsNaN(got[1]) {
		t.Errorf("%v", got)
	}
	if got := written(0.3, [2]float64{0.2, 0.4}); got != [2]float64{0.2, 0.4} {
		t.Errorf("%v", got)
	}
	if checkInterval("r_interval", 0.3, unknown()) != nil {
		t.Error("an interval without ends is refused")
	}
}
