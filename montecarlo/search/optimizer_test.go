package search

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"belsim/errmodel"
	"belsim/errmodel/perceived"
	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/montecarlo/compare"
	"belsim/theory/base/must"
	"belsim/theory/base/refuse"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// draws is a sampling for tests.
func draws(samples uint64) montecarlo.Sampling {
	draw := montecarlo.FixedSampling()
	draw.Samples = samples
	return draw
}

// ignore is progress that nobody follows.
func ignore(uint64, float64) {}

// optimizer returns an Optimizer for a mixture.
func optimizer(t *testing.T, r, sigma float64, o Options) *Optimizer {
	t.Helper()
	return must.Get(NewOptimizer(scenario.New(scenario.Mixture{R: r, Sigma: sigma}), "gen", draws(2000), o))(t)
}

// TestFind: the code is estimated by the given seed and number of samples, beside all named
// codes of no more bits, in order.
func TestFind(t *testing.T) {
	p := optimizer(t, 0.6, 1.5, Options{Levels: 12, Bits: 7, Steps: 2000})
	found := must.Get(p.Find(t.Context(), montecarlo.CPU{}, ignore))(t)
	must.Succeed(t, found.Interrupted())
	s := scenario.New(scenario.Mixture{R: 0.6, Sigma: 1.5})
	s.Prior.Fitted = p.Options.Prior
	candidates := must.Get(compare.NewCandidates(t.Context(), s, []*code.Code{found.Found}, []string{"gen"}, draws(2000)))(t)
	same := must.Get(compare.Rank(t.Context(), s, montecarlo.Run{Backend: montecarlo.CPU{}}, candidates, draws(2000)))(t)
	want, r := *found, same.Results[0]
	want.Mean, want.StdErr, want.Exact, want.Design = r.Mean, r.StdErr, r.Exact, r.Design
	want.Steps, want.Bits, want.Outputs, want.Stopped = 2000, 7, decode.Bits, false
	must.Equal(t, "found", want, *found, cmpopts.IgnoreUnexported(Estimate{}), cmpopts.IgnoreFields(*found, "Found"))
	var names []string
	for i, b := range found.Baselines {
		names = append(names, b.Code)
		if b.Bits > 7 || i > 0 && b.Mean < found.Baselines[i-1].Mean {
			t.Errorf("baseline %d: %+v", i+1, b)
		}
	}
	for _, f := range code.Families() {
		if slices.Contains(names, f.Name) != (f.Bits(12) <= 7) {
			t.Errorf("%s of %d bits: baselines %v", f.Name, f.Bits(12), names)
		}
	}
	if found.Improvement < 0 || found.ImprovementCI[0] != found.ImprovementCI[1] {
		t.Errorf("improvement %v, %v: both codes have exact values", found.Improvement, found.ImprovementCI)
	}
}

// TestNeverWorse: what a random small search answers is, by what it reports, never worse than a
// named code that it could begin from.
func TestNeverWorse(t *testing.T) {
	searches := 16
	if long {
		searches = 30
	}
	rng, compared := rand.New(rand.NewPCG(1, 2)), 0
	for range searches {
		levels, sigma := 3+rng.IntN(12), 0.5+4*rng.Float64()
		s := scenario.New(scenario.Mixture{R: sigma * rng.Float64(), Sigma: sigma})
		if s.Outputs = decode.Bits; rng.IntN(2) == 0 {
			s.Outputs = decode.Logits
		}
		if rng.IntN(4) == 0 {
			outputs := s.Outputs
			s = network(sigma, perceived.BCE)
			s.Outputs = outputs
		}
		o := Options{Levels: levels, Bits: leastBits(levels) + rng.IntN(1+levels), Steps: 1 + rng.Uint64N(200),
			MaxTransitions: rng.IntN(2) * (2 + rng.IntN(6))}
		draw := draws(200)
		draw.Seed = rng.Uint64()
		p := must.Get(NewOptimizer(s, "gen", draw, o))(t)
		found, err := p.Find(t.Context(), montecarlo.CPU{}, ignore)
		if err != nil && strings.HasPrefix(err.Error(), "impossible") { // all codes have probabilities above 1
			continue
		}
		must.Succeed(t, err)
		for _, c := range must.Get(p.Options.known(t.Context()))(t) {
			c.Code = must.Get(c.words.code(c.Start))(t)
			e, err := p.estimate(t.Context(), montecarlo.CPU{}, c.Code)
			if errmodel.Invalid(err) {
				continue
			}
			must.Succeed(t, err)
			if compared++; !(found.best() <= e.best()) {
				t.Errorf("%d levels, %d bits, %v: found %+v, and %s has %+v", levels, found.Bits, s, found.Estimate,
					c.Start, e)
			}
		}
	}
	if compared < 2*searches {
		t.Errorf("%d comparisons", compared)
	}
}

// TestObjective: codes that are decoded from logits are searched by samples of the scenario; gen on
// independent bits is not.
func TestObjective(t *testing.T) {
	for want, set := range map[string]func(s *scenario.Scenario) (decoder string){
		"gen":    func(*scenario.Scenario) string { return "gen" },
		"gen-ex": func(*scenario.Scenario) string { return "gen-ex" },
		"logits": func(s *scenario.Scenario) string { s.Outputs = decode.Logits; return "gen" },
		"model by code": func(s *scenario.Scenario) string { // and invalid for most codes
			s.Model = byCode{scenario.Mixture{R: 1.5, Sigma: 0.6}}
			return "gen"
		},
	} {
		s := scenario.New(scenario.Mixture{R: 0.6, Sigma: 1.5})
		decoder := set(s)
		p := must.Get(NewOptimizer(s, decoder, draws(200), Options{Levels: 9, Bits: 8, Steps: 20}))(t)
		if (p.Options.Objective != nil) != (want != "gen") {
			t.Errorf("%s: sampled objective %v", want, p.Options.Objective != nil)
		}
		if _, err := p.Find(t.Context(), montecarlo.CPU{}, ignore); err != nil {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// byCode is a model that says nothing about single bits.
type byCode struct{ scenario.Model }

// TestRemarks: a code of many transitions has the warning of a comparison; not a code that networks can
// learn, and not where no mixture ranks codes.
func TestRemarks(t *testing.T) {
	r := 0.6
	for _, tt := range []struct {
		name   string
		levels int
		r      *float64
		want   string
	}{
		{"hadamard", 32, &r, code.LearnedBadly(code.Learned{Name: "hadamard", Transitions: 15.5})},
		{"hadamard", 32, nil, ""}, {"unary", 32, &r, ""},
	} {
		c := must.Get(code.New(tt.name, tt.levels))(t)
		o := &Optimized{Design: scenario.Design{Code: tt.name, Transitions: c.TransitionsPerBit()}, Found: c,
			Parameters: scenario.Parameters{R: tt.r}}
		o.Improvement = math.NaN()
		text := strings.Join(o.Remarks(), "\n")
		if strings.Contains(text, "badly") != (tt.want != "") || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, text, tt.want)
		}
	}
}

// TestTable: a table wants codes of as many bits as it has columns.
func TestTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.csv")
	must.Succeed(t, os.WriteFile(path, []byte(strings.Repeat("0,0.5,0,0.5,0\n", 6)), 0o644))
	s := scenario.New(scenario.Table{Path: path})
	p := must.Get(NewOptimizer(s, "gen", draws(500), Options{Levels: 6, Steps: 3000}))(t)
	must.Succeed(t, os.Remove(path)) // it was read
	found := must.Get(p.Find(t.Context(), montecarlo.CPU{}, ignore))(t)
	if found.Bits != 5 || found.R != nil {
		t.Errorf("found %d bits, want 5; r is %v, want none", found.Bits, found.R)
	}
	for _, b := range found.Baselines {
		if b.Bits != 5 {
			t.Errorf("%s has %d bits", b.Code, b.Bits)
		}
	}
	if _, err := NewOptimizer(s, "gen", draws(500), Options{Levels: 6}); err == nil {
		t.Error("a table without a file is taken")
	}
	var value *refuse.Value
	if _, err := NewOptimizer(s, "gen", draws(500), Options{Levels: 1}); !errors.As(err, &value) ||
		value.Name != "levels" {
		t.Errorf("one level: %v", err)
	}
}

// TestImprovement: the interval of the delta method, exact values, and the cases
// without an interval.
func TestImprovement(t *testing.T) {
	none := math.NaN()
	half := 196 * math.Sqrt(0.01*0.01+0.8*0.8*0.02*0.02)
	of := func(mean, stderr, exact float64) Estimate { return Estimate{Mean: mean, StdErr: stderr, Exact: exact} }
	for name, tt := range map[string]struct {
		found, named Estimate
		want         [3]float64 // with both ends of the interval
	}{
		"sampled":              {of(0.8, 0.01, none), of(1, 0.02, none), [3]float64{20, 20 - half, 20 + half}},
		"exact":                {of(0.8, 0.01, 0.75), of(1, 0.02, 1), [3]float64{25, 25, 25}},
		"no sample was wrong":  {of(0, 0, none), of(1, 0.1, none), [3]float64{none, none, none}},
		"over no error":        {of(0.5, 0.1, none), of(0, 0, none), [3]float64{none, none, none}},
		"over an invalid code": {of(0.5, 0.1, none), of(none, none, none), [3]float64{none, none, none}},
	} {
		percent, interval := tt.found.improvement(tt.named)
		must.Equal(t, name, tt.want, [3]float64{percent, interval[0], interval[1]}, cmpopts.EquateApprox(0, 1e-9))
	}
}

// network is a scenario of networks with so much label noise.
func network(noise float64, t perceived.Training) *scenario.Scenario {
	s := scenario.New(nil)
	s.Network = &scenario.Network{Model: perceived.Model{Noise: noise, Misfit: 0.25, Training: t}}
	return s
}

// TestLearned: codes for networks that know a perceived label are found on any number of workers,
// have no constant column, and have the forecast of package forecast. They are not worse than the
// named ones.
func TestLearned(t *testing.T) {
	for _, training := range []perceived.Training{perceived.BCE, perceived.CE} {
		s := network(0.9, training)
		decoder := "gen"
		if training == perceived.CE {
			decoder = "gen-ex"
		}
		draw := montecarlo.FixedSampling()
		draw.Samples = 640
		find := func(workers int) *Optimized {
			p := must.Get(NewOptimizer(s, decoder, draw,
				Options{Levels: 12, Bits: 7, Workers: workers, Steps: 80}))(t)
			found := must.Get(p.Find(t.Context(), montecarlo.CPU{Workers: workers}, ignore))(t)
			all := must.Get(p.forecasts(t.Context(), found.Found))(t)
			f, i := all[0], *found.Interval
			must.Equal(t, "error, ends", [3]float64{f.Error, f.Lo, f.Hi}, [3]float64{found.Mean, i[0], i[1]})
			if !(f.Lo < f.Error && f.Error < f.Hi) {
				t.Errorf("%s: error %v, from %v to %v", training, f.Error, f.Lo, f.Hi)
			}
			return found
		}
		found := find(1)
		for k, at := range found.Found.Transitions() {
			if len(at) == 0 {
				t.Errorf("%s: column %d is constant", training, k+1)
			}
		}
		// The ranking, the baselines and the improvement have one number for each code, and say the
		// same.
		least := math.Inf(1)
		for i, r := range found.Ranking {
			want := r
			want.Levels, want.Ratio = 12, r.Forecast/found.Mean
			must.Equal(t, r.Code, want, r, cmpopts.EquateApprox(0, 1e-12))
			if i > 0 && r.Forecast < found.Ranking[i-1].Forecast {
				t.Errorf("%s: %s, %v, stands below %v", training, r.Code, r.Forecast, found.Ranking[i-1].Forecast)
			}
			if r.Code != "found" {
				least = min(least, r.Forecast)
			}
		}
		best := found.Baselines[0]
		if gain := 100 * (1 - found.Mean/least); best.Mean != least || math.Abs(found.Improvement-gain) > 1e-9 ||
			(gain > 0) != (*found.Better > 0.5) || !(found.ImprovementCI[0] < gain && gain < found.ImprovementCI[1]) {
			t.Errorf("%s: improvement %v, %v of %v over %v, %v", training, found.Improvement, found.ImprovementCI,
				found.Mean, best.Mean, least)
		}
		if text := strings.Join(found.Remarks(), "\n"); strings.Contains(text, "improves") ||
			!strings.Contains(text, "forecast to gain") {
			t.Error(text)
		}
		if training == perceived.CE { // takes long, and its steps are divided among workers in the same way
			continue
		}
		for i, word := range find(3).Words {
			if word != found.Words[i] {
				t.Fatalf("%s: level %d has the word %s with one worker, and %s with three", training, i+1,
					found.Words[i], word)
			}
		}
	}
}
