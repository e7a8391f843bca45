package compare_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"belsim/errmodel"
	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/montecarlo/compare"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
	"belsim/theory/expect"
)

// ranked ranks codes of a number of levels with decoders, with few samples.
func ranked(t *testing.T, s *scenario.Scenario, levels int, decoders []string, names ...string) *compare.Ranking {
	t.Helper()
	var codes []*code.Code
	for _, name := range names {
		codes = append(codes, must.Get(code.New(name, levels))(t))
	}
	draw := montecarlo.Sampling{Samples: 500, Seed: 1}
	candidates := must.Get(compare.NewCandidates(t.Context(), s, codes, decoders, draw))(t)
	candidates.Skip.AnyLaw = len(decoders) == 1 // it takes long, and TestCompare alone looks at it
	return must.Get(compare.Rank(t.Context(), s, montecarlo.Run{Backend: montecarlo.CPU{}}, candidates, draw))(t)
}

// compared ranks codes of 32 levels, read by gen.
func compared(t *testing.T, m scenario.Model, names ...string) *compare.Ranking {
	t.Helper()
	return ranked(t, scenario.New(m), 32, []string{"gen"}, names...)
}

// TestCompare: the smallest error comes first, the exact one where it is known, and every
// decoder fits something.
func TestCompare(t *testing.T) {
	s := scenario.New(scenario.Mixture{R: 0.4, Sigma: 1})
	c := ranked(t, s, 40, []string{"bel-u", "gen"}, "hexj", "unary")
	if len(c.Results) != 3 {
		t.Errorf("%d rows, want 3", len(c.Results))
	}
	if !slices.IsSortedFunc(c.Results,
		func(a, b compare.Result) int { return int(math.Copysign(1, a.Best()-b.Best())) }) {
		t.Errorf("not sorted: %+v", c.Results)
	}
	for _, r := range c.Results { // the union bound is above, and Eq. 2 is nearly any law's
		if r.AnyLaw == nil || (r.Bound > 2*r.AnyLaw[1]) != (r.Decoder == "gen") {
			t.Errorf("%s, %s: bound %v, any law %v", r.Code, r.Decoder, r.Bound, r.AnyLaw)
		}
	}
	hexj, draw := []*code.Code{must.Get(code.New("hexj", 40))(t)}, montecarlo.FixedSampling()
	if _, err := compare.NewCandidates(t.Context(), s, hexj, []string{"gen", "bel-j"}, draw); !errors.Is(err,
		decode.ErrUnfit) {
		t.Errorf("bel-j fits no code: error %v", err)
	}
	if _, err := compare.NewCandidates(t.Context(), s, hexj, []string{"gen", "gen"}, draw); err == nil {
		t.Error("a decoder twice is accepted")
	}
}

// TestIntervals: where no formula gives the exact value, an interval does. It is near the
// sampled mean. Where errors are frequent there is none. A false alarm comes less than once in 10⁸ runs.
func TestIntervals(t *testing.T) {
	for _, tt := range []struct {
		model    scenario.Model
		code     string
		interval bool
	}{
		{scenario.Mixture{R: 0.5, Sigma: 2}, "johnson", true},
		{scenario.Mixture{R: 0.5, Sigma: 2}, "onehot", true},
		{scenario.Mixture{R: 0.6, Sigma: 1.5}, "hadamard", false},
	} {
		r := ranked(t, scenario.New(tt.model), 48, []string{"gen"}, tt.code).Results[0]
		if tt.interval != (r.ExactLo != nil && r.ExactHi != nil && !table.Missing(r.Exact)) {
			t.Fatalf("%s: exact %v from %v to %v, want an interval: %v", tt.code, r.Exact, r.ExactLo, r.ExactHi,
				tt.interval)
		}
		if !tt.interval {
			continue
		}
		if !(*r.ExactLo <= r.Exact && r.Exact <= *r.ExactHi) || *r.ExactHi-*r.ExactLo > expect.ExactWidth**r.ExactHi {
			t.Errorf("%s: exact %v from %v to %v", tt.code, r.Exact, *r.ExactLo, *r.ExactHi)
		}
		if d := math.Abs(r.Mean - r.Exact); d > 6*r.StdErr {
			t.Errorf("%s: exact %v, sampled %v ± %v", tt.code, r.Exact, r.Mean, r.StdErr)
		}
	}
}

// TestInvalidCode: a code for which the model is invalid has a row of its own, the last one, and
// others are compared. Where all are invalid, that is an error.
func TestInvalidCode(t *testing.T) {
	m := scenario.Mixture{R: 2, Sigma: 1}
	c := compared(t, m, "onehot", "unary", "gray")
	must.Equal(t, "number of codes", 3, len(c.Results))
	var valid []string
	for _, r := range c.Valid().Results {
		valid = append(valid, r.Code)
	}
	must.Equal(t, "valid codes", []string{"unary", "gray"}, valid)
	if r := c.Results[2]; !strings.Contains(r.Invalid, "a probability is at most 1") || r.Tie {
		t.Errorf("%s is invalid because of %q, and a tie: %v", r.Code, r.Invalid, r.Tie)
	}
	must.Equal(t, "error of the invalid code", math.NaN(), c.Results[2].Mean)
	b, err := table.JSON(c.Results[2])
	if err != nil || !strings.Contains(string(b), `"mean":null`) || !strings.Contains(string(b), `"invalid":"`) {
		t.Errorf("%s, %v; want null and the reason", b, err)
	}
	onehot := []*code.Code{must.Get(code.New("onehot", 32))(t)}
	if _, err := compare.NewCandidates(t.Context(), scenario.New(m), onehot, []string{"gen"},
		montecarlo.FixedSampling()); !errmodel.Invalid(err) {
		t.Errorf("error %v; want that the model is invalid", err)
	}
}

// TestMarks: transitions, ties and the worst level.
func TestMarks(t *testing.T) {
	m := scenario.Mixture{R: 0.5, Sigma: 1.5}
	c := compared(t, m, "unary", "johnson", "hadamard", "hexj")
	rows := map[string]compare.Result{}
	for _, r := range c.Results {
		rows[r.Code] = r
	}
	if got := rows["hadamard"].Transitions; got != 15.5 {
		t.Errorf("hadamard of 32 levels: %v transitions a bit, want 15.5", got)
	}
	if unary, johnson := rows["unary"], rows["johnson"]; unary.Tie == johnson.Tie || rows["hexj"].Tie {
		t.Errorf("ties: unary %v, johnson %v, hexj %v; unary and johnson are alike, one is first", unary.Tie,
			johnson.Tie, rows["hexj"].Tie)
	}
	if r := rows["hexj"]; r.WorstErr != 0 || r.WorstMean < r.Exact {
		t.Errorf("hexj: worst level %d, %v ± %v; want an exact value above the mean %v", r.WorstLevel, r.WorstMean,
			r.WorstErr, r.Exact)
	}
	if r := rows["hadamard"]; r.WorstErr <= 0 {
		t.Errorf("hadamard: standard error %v of the worst level; want a positive one", r.WorstErr)
	}
}

// TestReached: a comparison has what was asked for where each row has, beside exact values to 1 %.
// Rows without one say where they have not.
func TestReached(t *testing.T) {
	draw := montecarlo.DefaultSampling()
	draw.RelErr, draw.MaxSamples, draw.Seed = 0.001, 20000, 1
	for r, few := range map[float64]bool{0.6: false, 1e-4: true} { // errors to see
		s, codes := scenario.New(scenario.Mixture{R: r, Sigma: 1.5}), []*code.Code{}
		for _, name := range []string{"hadamard", "unary"} {
			codes = append(codes, must.Get(code.New(name, 24))(t))
		}
		candidates := must.Get(compare.NewCandidates(t.Context(), s, codes, []string{decode.Auto}, draw))(t)
		candidates.Skip = expect.Skip{AnyLaw: true, Intervals: true}
		c := must.Get(compare.Rank(t.Context(), s, montecarlo.Run{Backend: montecarlo.CPU{}}, candidates, draw))(t)
		for _, row := range c.Results {
			must.Equal(t, row.Code+" is capped", row.Code == "hadamard", row.Capped)
			if row.Code == "unary" {
				must.Equal(t, "the sampled error is within 1 %", !few, row.StdErr < 0.011*row.Mean)
				must.Within(t, "and no nearer", row.StdErr/row.Mean, 0.006, 1)
			}
		}
	}
}

// TestFinite: whatever the error model and its parameters are, at the ends of their ranges, in them
// or far outside, a comparison of any code and decoder gives numbers, or an error.
func TestFinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	path := filepath.Join(t.TempDir(), "e.csv")
	count, compared := 200, 0
	if os.Getenv("BELSIM_LONG") != "" {
		count = 2000
	}
	value := func() float64 {
		if rng.IntN(3) == 0 {
			return []float64{5e-324, 0x1p-1022, 1e-300, 1e-160, 1e-12, 1e-6, 0.5, 1, 65536, 1e9, 1e155, math.MaxFloat64,
				math.Inf(1), math.NaN(), 0, -1}[rng.IntN(16)]
		}
		return math.Exp(-3 + 6*rng.Float64())
	}
	for range count {
		levels := 2 + rng.IntN(12)
		name := []string{"unary", "johnson", "gray", "onehot", "hadamard", "b1jdj"}[rng.IntN(6)]
		c := must.Get(code.New(name, levels))(t)
		s := scenario.New(nil)
		switch rng.IntN(2) {
		case 0:
			s.Model = scenario.Mixture{R: value(), Sigma: value()}
		default:
			text := ""
			for range levels {
				for k := range c.Bits() {
					if k > 0 {
						text += ","
					}
					text += fmt.Sprint([]float64{0, 1, 5e-324, 1e-300, 1e-17, 0.5, 1 - 0x1p-53, 0.3}[rng.IntN(8)])
				}
				text += "\n"
			}
			must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
			s.Model = scenario.NewTable(path)
		}
		s.Outputs = []decode.Outputs{decode.AutoOutputs, decode.Bits, decode.Logits}[rng.IntN(3)]
		s.Temperature = value()
		draw := montecarlo.Sampling{Samples: 64, Seed: rng.Uint64()}
		candidates, err := compare.NewCandidates(t.Context(), s, []*code.Code{c},
			decode.Names()[rng.IntN(len(decode.Names())):][:1], draw)
		if err != nil {
			continue
		}
		found := must.Get(compare.Rank(t.Context(), s, montecarlo.Run{Backend: montecarlo.CPU{Workers: 1}, Workers: 1},
			candidates, draw))(t)
		p, r := candidates.Problems[0], found.Results[0]
		what := fmt.Sprintf("%s of %d levels, %s, %v, %s: %+v", r.Code, levels, r.Decoder, s, s.Outputs, r)
		compared++
		most := float64(levels) + 0.5
		if !(r.Mean >= 0 && r.Mean <= most && r.StdErr >= 0 && r.StdErr <= most &&
			r.WorstMean >= 0) || math.IsInf(r.RMS, 0) {
			t.Errorf("sampled: %s", what)
		}
		if _, err := expect.NewMean(t.Context(), p.Expected(), false); err == nil && !(r.Bound >= 0) || err != nil &&
			(!errors.Is(err, theory.ErrNoClosedForm) || !table.Missing(r.Bound)) {
			t.Errorf("bound: %s", what)
		}
		if _, err := expect.NewMean(t.Context(), p.Expected(), true); err == nil && !(r.Exact >= 0 && r.Exact <= most) &&
			r.ExactLo == nil {
			t.Errorf("exact: %s", what)
		}
	}
	if compared < count/5 {
		t.Errorf("%d comparisons", compared)
	}
}
