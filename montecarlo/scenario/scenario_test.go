package scenario_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

func mustNew(t *testing.T, name string, levels int) *code.Code {
	t.Helper()
	return must.Get(code.New(name, levels))(t)
}

func mustDecoder(t *testing.T, s *scenario.Scenario, name string, c *code.Code) decode.Decoder {
	t.Helper()
	return must.Get(s.Decoder(name, c))(t)
}

// TestRange: both ends are there, and the steps are even.
func TestRange(t *testing.T) {
	for text, want := range map[string][]float64{
		"1:3:3":       {1, 2, 3},
		"2:2:1":       {2},
		"1:100:3:log": {1, 10, 100},
	} {
		var r scenario.Axis
		must.Succeed(t, r.UnmarshalText([]byte(text)))
		got := r.Values
		for i := range want {
			// exp(log) is good to a few units in the last place.
			if math.Abs(got[i]-want[i]) > 1e-14*want[i] {
				t.Errorf("%s: %v, want %v", text, got, want)
			}
		}
	}
	// Ranges whose ends are further apart than numbers reach.
	for text, want := range map[string][]float64{
		"1e-200:1e200:3:log":     {1e-200, 1, 1e200},
		"5e-324:1.7e308:2:log":   {5e-324, 1.7e308},
		"1e-300:1e300:5:log":     {1e-300, 1e-150, 1, 1e150, 1e300},
		"2.2e-308:1.7e308:1:log": {2.2e-308},
		"5e-324:1.6e308:3":       {5e-324, 0.8e308, 1.6e308},
	} {
		var r scenario.Axis
		must.Succeed(t, r.UnmarshalText([]byte(text)))
		for i, got := range r.Values {
			if !(math.Abs(got-want[i]) <= 1e-12*want[i]) {
				t.Errorf("%s: value %d is %v, want %v", text, i+1, got, want[i])
			}
		}
	}
	if got := scenario.NewAxis(-1.5e308, 1.5e308, 3, false).Values; !slices.Equal(got,
		[]float64{-1.5e308, 0, 1.5e308}) {
		t.Errorf("a range whose difference is no number: %v", got)
	}
	// The values of ordinary ranges are what they were, to the last bit.
	for i, got := range scenario.NewAxis(0.3, 170, 61, true).Values[:60] {
		if want := 0.3 * math.Exp(float64(i)/60*math.Log(170/0.3)); got != want {
			t.Errorf("value %d is %v, want %v", i+1, got, want)
		}
	}
	for _, v := range []float64{5e-324, 1e-308, 1e308, math.MaxFloat64} {
		for i, got := range scenario.AxisAround(v, 8, 61).Values {
			if !(got > 0) || math.IsInf(got, 0) {
				t.Errorf("around %v: value %d is %v", v, i+1, got)
			}
		}
	}
	for _, text := range []string{"1:1.0000000000000002:3", "1:1.0000000000000002:3:log", "5e-324:1e-323:9", "", "1:2",
		"1:2:3:4", "0:1:2", "2:1:2", "1:Inf:2", "1:2:0", "1:2:10001", "a:2:3"} {
		if err := new(scenario.Axis).UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(),
			fmt.Sprintf("%q", text)) {
			t.Errorf("range %q: error %v", text, err)
		}
	}
	if got := scenario.AxisAround(2, 8, 61).Values; math.Abs(got[30]-2) > 1e-14 || got[0] != 0.25 || got[60] != 16 {
		t.Errorf("around 2: %v", got)
	}
}

// TestCheck: a value without a meaning is refused by its name in files.
func TestCheck(t *testing.T) {
	var v *scenario.ValueError
	if err := scenario.CheckTemperature(math.Inf(1)); !errors.As(err, &v) || v.Name != "temperature" {
		t.Errorf("temperature: error %v", err)
	}
	for name, change := range map[string]func(*scenario.Sampling){
		"samples":     func(s *scenario.Sampling) { s.Samples = 1 },
		"rel_err":     func(s *scenario.Sampling) { s.RelErr = math.NaN() },
		"max_samples": func(s *scenario.Sampling) { s.RelErr, s.MaxSamples = 0.1, 5 },
		"within":      func(s *scenario.Sampling) { s.Within = -1 },
	} {
		s := scenario.FixedSampling()
		must.Succeed(t, s.Check())
		change(&s)
		if err := s.Check(); !errors.As(err, &v) || v.Name != name {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestOutputs: what a decoder reads follows from what it can, unless the scenario says it.
func TestOutputs(t *testing.T) {
	c := mustNew(t, "johnson", 16)
	for _, tt := range []struct {
		outputs scenario.Outputs
		decoder string
		name    string // of the decoder; "" for a refusal
		reads   scenario.Outputs
	}{
		{scenario.AutoOutputs, "auto", "bel-j", scenario.Bits},
		{scenario.AutoOutputs, "gen", "gen", scenario.Bits},
		{scenario.AutoOutputs, "gen-ex", "gen-ex", scenario.Logits},
		{scenario.Logits, "auto", "gen", scenario.Logits},
		{scenario.Logits, "gen", "gen", scenario.Logits},
		{scenario.Logits, "bel-j", "", ""},
		{scenario.Bits, "gen-ex", "gen-ex", scenario.Bits},
	} {
		s := scenario.New(scenario.Mixture{R: 0.5, Sigma: 3})
		s.Outputs = tt.outputs
		d, err := s.Decoder(tt.decoder, c)
		if tt.name == "" {
			if err == nil || !strings.Contains(err.Error(), "reads bits; outputs that are logits want gen or gen-ex") {
				t.Errorf("%+v: error %v", tt, err)
			}
			continue
		}
		if err != nil || d.Name() != tt.name || s.OutputsOf(c, d) != tt.reads {
			t.Errorf("%+v: %v reads %v, error %v", tt, d, s.OutputsOf(c, d), err)
		}
	}
}

// TestTheory: each kind of problem has the bound and the exact value that hold for it.
func TestTheory(t *testing.T) {
	ctx := context.Background()
	for _, tt := range []struct {
		code, decoder string
		change        func(*scenario.Scenario)
		bound         string // name; "" for none
		exact         bool   // by a formula
	}{
		{"unary", "auto", nil, "Eq. 2", true},
		{"johnson-nonzero", "auto", nil, "Eq. 26", true},
		{"gray", "gen", nil, "union bound", true},
		{"unary", "gen", nil, "union bound", false}, // of 40 bits
		{"gray", "gen-ex", nil, "", false},
		{"gray", "gen", func(s *scenario.Scenario) { s.Outputs = scenario.Logits }, "union bound on logits", false},
	} {
		s := scenario.New(scenario.Mixture{R: 0.3, Sigma: 2})
		if tt.change != nil {
			tt.change(s)
		}
		c := mustNew(t, tt.code, 41)
		d := mustDecoder(t, s, tt.decoder, c)
		p := must.Get(s.Problem(ctx, c, d, scenario.FixedSampling()))(t)
		for _, q := range []*montecarlo.Problem{p, s.Shape(c, d, scenario.Mixtures)} {
			b, err := scenario.BoundOf(q)
			switch {
			case tt.bound == "" && !errors.Is(err, theory.ErrNoClosedForm):
				t.Errorf("%s with %s: bound %v, error %v, want none", tt.code, tt.decoder, b, err)
			case tt.bound != "" && (err != nil || b.Name != tt.bound):
				t.Errorf("%s with %s: bound %v, error %v, want %s", tt.code, tt.decoder, b, err, tt.bound)
			}
			// by an interval
			if _, err := scenario.ExactOf(t.Context(), q); (err == nil) != (tt.exact || tt.code == "unary" &&
				tt.decoder == "gen") {
				t.Errorf("%s with %s: exact value: error %v, want one: %v", tt.code, tt.decoder, err, tt.exact)
			}
		}
		weights := must.Get(s.Weights(41))(t)
		bound, exact, err := scenario.Averages(ctx, 2, p, weights)
		// by an interval
		if err != nil || table.Missing(bound) != (tt.bound == "") ||
			table.Missing(exact) == (tt.exact || tt.code == "unary" && tt.decoder == "gen") {
			t.Errorf("%s with %s: average bound %v, exact %v, error %v", tt.code, tt.decoder, bound, exact, err)
		}
	}
}

// TestInvalid: a mixture above 1 is told from other errors.
func TestInvalid(t *testing.T) {
	ctx := context.Background()
	c := mustNew(t, "unary", 16)
	s := scenario.New(scenario.Mixture{R: 5, Sigma: 1})
	d := mustDecoder(t, s, "auto", c)
	if _, err := s.Problem(ctx, c, d, scenario.FixedSampling()); !scenario.Invalid(err) {
		t.Errorf("r = 5, σ = 1: error %v", err)
	}
	// With σ = 0.3 the peak at the transition is 1.33·r, and at the levels next to it 0.33·r.
	s = scenario.New(scenario.Mixture{R: 1, Sigma: 0.3})
	if _, err := s.Problem(ctx, c, d, scenario.FixedSampling()); err != nil {
		t.Error(err)
	}
	if _, err := code.New("nothing", 16); err == nil || scenario.Invalid(err) {
		t.Errorf("an unknown code: error %v", err)
	}
}

// TestFitted: a fit is for its own number of levels, and names its file.
func TestFitted(t *testing.T) {
	m := scenario.Mixture{R: 0.5, Sigma: 2, Path: "fit.json"}
	s := scenario.New(m)
	s.Prior = scenario.Prior{Fitted: theory.Uniform(4), FitPath: "fit.json"}
	if _, err := s.Weights(5); err == nil || !strings.Contains(err.Error(),
		"fit.json: fitted to 4 levels, but the codes have 5") {
		t.Errorf("another number of levels: error %v", err)
	}
	if got := s.String(); got != "r = 0.5, σ = 2 from fit.json" {
		t.Errorf("text %q", got)
	}
}

// TestCompare: the smallest error comes first, the exact one where it is known, and every
// decoder fits something.
func TestCompare(t *testing.T) {
	ctx := context.Background()
	s := scenario.New(scenario.Mixture{R: 0.4, Sigma: 2})
	draw := scenario.FixedSampling()
	draw.Samples = 500
	codes := []*code.Code{mustNew(t, "hexj", 40), mustNew(t, "unary", 40)}
	candidates := must.Get(s.Candidates(ctx, codes, []string{"bel-u", "gen"}, draw))(t)
	c := must.Get(s.Compare(ctx, scenario.Run{Backend: montecarlo.CPU{}}, candidates, draw))(t)
	if len(c.Results) != 3 {
		t.Errorf("%d rows, want 3", len(c.Results))
	}
	if !slices.IsSortedFunc(c.Results,
		func(a, b scenario.CodeResult) int { return int(math.Copysign(1, a.Best()-b.Best())) }) {
		t.Errorf("not sorted: %+v", c.Results)
	}
	for _, r := range c.Results { // of gen the union bound is above
		if r.AnyLaw == nil || (r.Bound == r.AnyLaw[1]) != (r.Decoder == "gen") {
			t.Errorf("%s, %s: bound %v, any law %v", r.Code, r.Decoder, r.Bound, r.AnyLaw)
		}
	}
	if _, err := s.Candidates(ctx, codes[:1], []string{"gen", "bel-j"}, draw); !errors.Is(err, decode.ErrUnfit) {
		t.Errorf("bel-j fits no code: error %v", err)
	}
	if _, err := s.Candidates(ctx, codes, []string{"gen", "gen"}, draw); err == nil {
		t.Error("a decoder twice is accepted")
	}
}

// TestMap: a cell is what Theory says of its mixture, by every method; invalid cells are blank.
func TestMap(t *testing.T) {
	ctx := context.Background()
	s := scenario.New(nil)
	codes := [2]*code.Code{mustNew(t, "unary", 15), mustNew(t, "johnson-nonzero", 15)}
	plane := scenario.MixturePlane{}
	weights := must.Get(s.Weights(15))(t)
	// Gaussians so narrow that no bit errs: an increase does not exist.
	narrow := must.Get(s.NewMap(ctx, codes, "auto", plane, scenario.NewAxis(1, 2, 2, false),
		scenario.NewAxis(1e-310, 1e-3, 3, true), scenario.Bound))(t)
	must.Succeed(t, s.Fill(ctx, scenario.Run{Workers: 1}, narrow, scenario.Sampling{}))
	if sum := narrow.Summary(); sum.Valid != 0 || sum.WithoutErrors != 6 {
		t.Errorf("without errors: %+v", sum)
	}
	x, y := scenario.NewAxis(0.5, 8, 4, false), scenario.NewAxis(1, 3, 3, false)
	draw := scenario.Sampling{Samples: 4000, Seed: 3}
	for _, method := range []scenario.Method{scenario.Bound, scenario.Exact, scenario.Sample} {
		var cells atomic.Int64
		m := must.Get(s.NewMap(ctx, codes, "auto", plane, x, y, method))(t)
		run := scenario.Run{Backend: montecarlo.CPU{}, Workers: 1, Done: func(n uint64) { cells.Add(int64(n)) }}
		must.Succeed(t, s.Fill(ctx, run, m, draw))
		if cells.Load() != int64(len(m.Cells)) {
			t.Errorf("%s: %d of %d cells are told", method, cells.Load(), len(m.Cells))
		}
		blank := 0
		for _, c := range m.Cells {
			at := scenario.New(scenario.Mixture{R: c.R, Sigma: c.Sigma})
			for i, got := range []float64{c.A, c.B} {
				p, err := at.Problem(ctx, codes[i], must.Get(at.Decoder("auto", codes[i]))(t), draw)
				if scenario.Invalid(err) {
					if !table.Missing(c.Increase) {
						t.Errorf("%s at (%v, %v): %v, and one code is invalid", method, c.R, c.Sigma, c.Increase)
					}
					blank++
					break
				}
				must.Succeed(t, err)
				if table.Missing(got) { // the other code is invalid here
					continue
				}
				bound, exact, err := scenario.Averages(ctx, 0, p, weights)
				must.Succeed(t, err)
				want, allowed := exact, 1e-12*exact
				switch method {
				case scenario.Bound:
					want = bound
				case scenario.Sample:
					allowed = 6.5 * *[]*float64{c.StdErrA, c.StdErrB}[i] // 1e−10 a value
				}
				if d := got - want; d > allowed || d < -allowed {
					t.Errorf("%s at (%v, %v), code %d: %v, want %v", method, c.R, c.Sigma, i, got, want)
				}
			}
		}
		sum := m.Summary()
		if sum.Valid+blank != len(m.Cells) || blank == 0 {
			t.Errorf("%s: %d valid and %d blank of %d", method, sum.Valid, blank, len(m.Cells))
		}
		if c := m.Nearest(0.5, 1); c == nil || c.R != 0.5 || c.Sigma != 1 {
			t.Errorf("%s: nearest cell %+v", method, c)
		}
	}
}

// ExampleScenario_Compare ranks three codes under one error model.
func ExampleScenario_Compare() {
	ctx := context.Background()
	s := scenario.New(scenario.Mixture{R: 0.6, Sigma: 1.5})
	codes, err := scenario.OpenCodes([]string{"unary", "johnson", "gray"}, scenario.Sizes{Levels: 16})
	if err != nil {
		fmt.Println(err)
		return
	}
	draw := scenario.FixedSampling()
	draw.Samples = 1000
	candidates, err := s.Candidates(ctx, codes, []string{decode.Auto}, draw)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := s.Compare(ctx, scenario.Run{Backend: montecarlo.CPU{}}, candidates, draw)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range c.Results {
		fmt.Printf("%s (%s): %s levels\n", r.Code, r.Decoder, table.Short(r.Exact))
	}
	// Output:
	// unary (bel-u): 0.4161 levels
	// johnson (bel-j): 0.5413 levels
	// gray (gen): 0.7579 levels
}

// TestIntervals: where no formula gives the exact value, an interval does. It is near the
// sampled mean, also for networks that know a perceived label. Where errors are frequent there is
// none. A false alarm comes less than once in 10⁸ runs.
func TestIntervals(t *testing.T) {
	for _, tt := range []struct {
		model    scenario.Model
		code     string
		interval bool
	}{
		{scenario.Mixture{R: 0.5, Sigma: 2}, "johnson", true},
		{scenario.Mixture{R: 0.5, Sigma: 2}, "onehot", true},
		{scenario.Mixture{R: 0.6, Sigma: 1.5}, "hadamard", false},
		{networks, "johnson", true},
	} {
		s := scenario.New(tt.model)
		draw := scenario.FixedSampling()
		draw.Samples = 2000
		candidates := must.Get(s.Candidates(t.Context(), []*code.Code{mustNew(t, tt.code, 48)}, []string{"gen"},
			draw))(t)
		result := must.Get(s.Compare(t.Context(), scenario.Run{Backend: montecarlo.CPU{}}, candidates, draw))(t)
		r := result.Results[0]
		if tt.interval != (r.ExactLo != nil && r.ExactHi != nil && !table.Missing(r.Exact)) {
			t.Fatalf("%s: exact %v from %v to %v, want an interval: %v", tt.code, r.Exact, r.ExactLo, r.ExactHi,
				tt.interval)
		}
		if !tt.interval {
			continue
		}
		if !(*r.ExactLo <= r.Exact && r.Exact <= *r.ExactHi) || *r.ExactHi-*r.ExactLo > scenario.ExactWidth**r.ExactHi {
			t.Errorf("%s: exact %v from %v to %v", tt.code, r.Exact, *r.ExactLo, *r.ExactHi)
		}
		if d := math.Abs(r.Mean - r.Exact); d > 6*r.StdErr {
			t.Errorf("%s: exact %v, sampled %v ± %v", tt.code, r.Exact, r.Mean, r.StdErr)
		}
	}
}
