package scenario_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/montecarlo/tables"
	"belsim/theory"
	"belsim/theory/code"
)

var networks = scenario.Perceived{Perceived: errmodel.Perceived{Noise: 1.4, Misfit: 0.25, Training: errmodel.BitByBit}}

func newCode(t *testing.T, name string, levels int) *code.Code {
	t.Helper()
	c, err := code.New(name, levels)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestPerceivedVerifies: samples of networks that know a perceived label agree with exact values
// and are within their bounds, for hard and soft decisions.
func TestPerceivedVerifies(t *testing.T) {
	for _, tt := range []struct {
		code, decoder string
		outputs       scenario.Outputs
		exact, bound  bool
	}{
		{"unary", "bel-u", scenario.AutoOutputs, true, true},
		{"johnson", "bel-j", scenario.AutoOutputs, true, true},
		{"b1jdj", "gen", scenario.AutoOutputs, true, true},
		{"gray", "gen", scenario.AutoOutputs, true, true},
		{"hadamard", "gen", scenario.Logits, false, true},
		{"hexj", "gen", scenario.Logits, false, true},
		{"hexj", "gen-ex", scenario.AutoOutputs, false, false},
	} {
		s := scenario.New(networks)
		s.Outputs = tt.outputs
		c := newCode(t, tt.code, 32)
		d, err := s.Decoder(tt.decoder, c)
		if err != nil {
			t.Fatal(err)
		}
		draw := scenario.Usual()
		draw.Samples = 6400
		p, err := s.Problem(context.Background(), c, d, draw)
		if err != nil {
			t.Fatal(err)
		}
		th, err := scenario.Theory(context.Background(), 0, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := !math.IsNaN(th[3].Mean); got != tt.exact {
			t.Errorf("%s, %s: an exact value: %v, want %v", tt.code, tt.decoder, got, tt.exact)
		}
		if got := !math.IsNaN(th[3].Bound); got != tt.bound {
			t.Errorf("%s, %s: a bound: %v, want %v", tt.code, tt.decoder, got, tt.bound)
		}
		weights := theory.Uniform(32)
		v, err := s.Verify(context.Background(), scenario.Run{Backend: montecarlo.CPU{}}, p, th, weights, draw)
		if err != nil || (v.Pass == nil) == (tt.exact || tt.bound) || v.Pass != nil && !*v.Pass {
			t.Errorf("%s, %s: %v, %v", tt.code, tt.decoder, v.Failures, err)
		}
		if tt.exact && math.Abs(float64(v.Overall.Mean-v.Overall.Exact)) > 6.5*float64(v.Overall.StdErr) {
			t.Errorf("%s, %s: sampled %v ± %v, exact %v", tt.code, tt.decoder, v.Overall.Mean, v.Overall.StdErr, v.Overall.Exact)
		}
		// The means that maps and sweeps take are those of the levels.
		for name, of := range map[string]func() (*scenario.Mean, error){
			"bound": func() (*scenario.Mean, error) { return scenario.BoundOf(p) },
			"exact": func() (*scenario.Mean, error) { return scenario.ExactOf(context.Background(), p) },
		} {
			want := float64(v.Overall.Bound)
			if name == "exact" {
				want = float64(v.Overall.Exact)
			}
			m, err := of()
			if math.IsNaN(want) {
				if !errors.Is(err, theory.ErrNoClosedForm) {
					t.Errorf("%s, %s: %s: %v", tt.code, tt.decoder, name, err)
				}
				continue
			}
			got, err := m.Mean(context.Background(), weights, p.Errors)
			if err != nil || math.Abs(got-want) > 1e-9*want {
				t.Errorf("%s, %s: mean %s %v, want %v (%v)", tt.code, tt.decoder, name, got, want, err)
			}
		}
	}
}

// TestPerceivedStrata: the exact value is the mean of the exact values at the strata.
func TestPerceivedStrata(t *testing.T) {
	s := scenario.New(networks)
	c := newCode(t, "b2jdj", 32)
	d, err := s.Decoder("gen", c)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Problem(context.Background(), c, d, scenario.Usual())
	if err != nil {
		t.Fatal(err)
	}
	th, err := scenario.Theory(context.Background(), 0, p)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float64, 32)
	for j := range tables.Sublevels {
		e := mat.NewDense(32, c.Bits(), nil)
		for i := range 32 {
			p.Errors.(montecarlo.Perceived).WrongTo(e.RawRowView(i), i, float64(i+1)+networks.Noise*errmodel.Stratum(j))
		}
		m, err := theory.ExactMoments(context.Background(), 0, c, d, e)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			want[i] += m[i].Mean / tables.Sublevels
		}
	}
	for i := range want {
		if math.Abs(th[i].Mean-want[i]) > 1e-10 {
			t.Errorf("level %d: %v, want %v", i+1, th[i].Mean, want[i])
		}
	}
}

// TestPerceivedPrior: networks learn under the scenario's prior.
func TestPerceivedPrior(t *testing.T) {
	s := scenario.New(networks)
	c := newCode(t, "unary", 16)
	alike, err := s.Errors(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	weights := make([]float64, 16)
	for i := range weights {
		weights[i] = math.Exp(-float64(i) / 3)
	}
	total := 0.0
	for _, w := range weights {
		total += w
	}
	for i := range weights {
		weights[i] /= total
	}
	s.Prior.Fitted = weights
	uneven, err := s.Errors(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	// Low levels are frequent, so the network takes labels for lower ones: the bit that changes
	// from level 8 to 9 errs more often at level 9, and less often at level 8.
	k := 0
	for c.Bit(7, k) == c.Bit(8, k) {
		k++
	}
	if !(uneven.At(7, k) < alike.At(7, k)) || !(uneven.At(8, k) > alike.At(8, k)) {
		t.Errorf("e at levels 8 and 9: %v and %v, but %v and %v where labels occur equally often", uneven.At(7, k), uneven.At(8, k), alike.At(7, k), alike.At(8, k))
	}
}

// TestNoiseOf: the label noise that an error of unary gives leads back to that error.
func TestNoiseOf(t *testing.T) {
	s := scenario.New(nil)
	weights := theory.Uniform(48)
	run := scenario.Run{Backend: montecarlo.CPU{}}
	for _, mae := range []float64{0.3, 1.2, 5} {
		m := networks
		var err error
		if m.Noise, err = s.NoiseOf(context.Background(), run, m, weights, mae); err != nil {
			t.Fatal(err)
		}
		of := s.With(m)
		candidates, _, err := of.Candidates(context.Background(), []*code.Code{newCode(t, "unary", 48)}, []string{"bel-u"}, scenario.Usual())
		if err != nil {
			t.Fatal(err)
		}
		_, exact, err := scenario.AverageTheory(context.Background(), 0, candidates[0], weights)
		// bel-u is nearly gen where words are nearly code words.
		if err != nil || math.Abs(float64(exact)/mae-1) > 0.02 {
			t.Errorf("%v levels: s = %v, which gives %v (%v)", mae, m.Noise, exact, err)
		}
	}
	for _, mae := range []float64{1e-4, 40, 48} {
		if _, err := s.NoiseOf(context.Background(), run, networks, weights, mae); err == nil {
			t.Errorf("an error of %v of 48 levels was taken", mae)
		}
	}
}

// TestCheckTrained: what TrainedCandidates refuses is refused without learning, which takes minutes
// for codes of this size: the test would not end in time.
func TestCheckTrained(t *testing.T) {
	codes := []*code.Code{newCode(t, "unary", 20000), newCode(t, "johnson", 20000)}
	both := []errmodel.Training{errmodel.BitByBit, errmodel.ForDecoder}
	for _, tt := range []struct {
		trainings []errmodel.Training
		decoders  []string
		want      string
	}{
		{both[:1], []string{"bel-u"}, "johnson is not unary"},
		{both[:1], []string{"gen", "gen"}, "decoder gen is given twice"},
		{both[1:], []string{"bel-j"}, "networks trained for the decoder give logits"},
		{append(both, both...), []string{"gen"}, "training bits is given twice"},
		{both, []string{"gen", "gen-ex", "bel-u"}, ""}, // bel-u is for one code and one training
	} {
		err := scenario.New(networks).CheckTrained(networks, tt.trainings, codes, tt.decoders)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %q", tt.decoders, err, tt.want)
		}
	}
}

// TestPerceivedComparison: a row says its training and its forecast; networks trained for the
// decoder give logits.
func TestPerceivedComparison(t *testing.T) {
	var candidates []*montecarlo.Problem
	s := scenario.New(networks)
	codes := []*code.Code{newCode(t, "unary", 16), newCode(t, "hexj", 16)}
	for _, training := range []errmodel.Training{errmodel.BitByBit, errmodel.ForDecoder} {
		m := networks
		m.Training = training
		of := s.With(m)
		some, _, err := of.Candidates(context.Background(), codes, of.Fitting([]string{"bel-u", "gen", "gen-ex"}), scenario.Usual())
		if err != nil {
			t.Fatal(err)
		}
		candidates = append(candidates, some...)
	}
	draw := scenario.Usual()
	draw.Samples = 640
	c, err := s.Compare(context.Background(), scenario.Run{Backend: montecarlo.CPU{}}, candidates, theory.Uniform(16), draw)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Results) != 5+4 {
		t.Errorf("%d rows, want 9", len(c.Results))
	}
	for _, r := range c.Results {
		want := r.Best()
		if r.Training == errmodel.ForDecoder { // as fit --recommend has it
			want *= errmodel.DecoderFactor(codes[slices.IndexFunc(codes, func(c *code.Code) bool { return c.Name() == r.Code })])
		}
		if r.Forecast == nil || math.Abs(float64(*r.Forecast)-want) > 1e-12 {
			t.Errorf("%s, %s: forecast %v", r.Code, r.Decoder, r.Forecast)
		}
		if want := r.Training == errmodel.ForDecoder || r.Decoder == "gen-ex"; (r.Outputs == scenario.Logits) != want {
			t.Errorf("%s, %s, trained %s reads %s", r.Code, r.Decoder, r.Training, r.Outputs)
		}
	}
}

// TestPerceivedPlane: a map over label noise and misfit has the numbers of its points.
func TestPerceivedPlane(t *testing.T) {
	s := scenario.New(nil)
	plane := scenario.PerceivedPlane{Model: scenario.Perceived{Perceived: errmodel.Perceived{Training: errmodel.BitByBit}}}
	var sides [2]scenario.Side
	for i, name := range []string{"unary", "johnson"} {
		var err error
		if sides[i], err = s.Side(context.Background(), newCode(t, name, 16), "auto", plane); err != nil {
			t.Fatal(err)
		}
	}
	weights := theory.Uniform(16)
	for _, method := range []scenario.Method{scenario.Bound, scenario.Exact, scenario.Sample} {
		m, err := s.NewMap(sides, scenario.Range{Lo: 0.7, Hi: 1.4, Count: 2}, scenario.Range{Lo: 0.25, Hi: 0.5, Count: 2}, method)
		if err != nil {
			t.Fatal(err)
		}
		draw := scenario.Sampling{Samples: 640, Seed: 1}
		if err := s.Fill(context.Background(), scenario.Run{Backend: montecarlo.CPU{}}, m, sides, weights, draw); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(m.X(), []float64{0.7, 1.4}) || m.R != nil || m.Cells[1].LabelNoise != 1.4 || m.Cells[1].Misfit != 0.25 || m.Cells[1].R != 0 {
			t.Errorf("%s: cells %+v", method, m.Cells)
		}
		of := s.With(networks) // the parameters of cell 1
		p, err := of.Problem(context.Background(), sides[0].Code, sides[0].Decoder, scenario.Usual())
		if err != nil {
			t.Fatal(err)
		}
		bound, exact, err := scenario.AverageTheory(context.Background(), 0, p, weights)
		if err != nil {
			t.Fatal(err)
		}
		got, want, off := float64(m.Cells[1].A), float64(exact), 1e-9
		switch method {
		case scenario.Bound:
			want = float64(bound)
		case scenario.Sample:
			off = 6.5 * float64(*m.Cells[1].StdErrA)
		}
		if math.Abs(got-want) > off {
			t.Errorf("%s: %v at s = 1.4 and η = 0.25, want %v", method, got, want)
		}
	}
}

// TestPerceivedContinuous: continuous labels have neither bounds nor exact values, and the
// error of an unquantized label is larger than at levels.
func TestPerceivedContinuous(t *testing.T) {
	s := scenario.New(networks)
	s.Labels = scenario.Continuous
	c := newCode(t, "unary", 24)
	d, err := s.Decoder("bel-u", c)
	if err != nil {
		t.Fatal(err)
	}
	draw := scenario.Usual()
	draw.Samples = 6400
	p, err := s.Problem(context.Background(), c, d, draw)
	if err != nil {
		t.Fatal(err)
	}
	bound, exact, err := scenario.AverageTheory(context.Background(), 0, p, theory.Uniform(24))
	if err != nil || !bound.IsMissing() || !exact.IsMissing() {
		t.Errorf("bound %v, exact %v, %v; want none", bound, exact, err)
	}
	sums, _, err := montecarlo.Estimate(context.Background(), montecarlo.CPU{}, p, draw.Target(theory.Uniform(24), false), nil)
	if err != nil {
		t.Fatal(err)
	}
	// |N(0, s² + 1/12)|, but for the ends and what the network does not fit.
	want := math.Sqrt(2/math.Pi) * math.Hypot(networks.Noise, math.Sqrt(1./12))
	if got := montecarlo.Average(theory.Uniform(24), sums).Mean; math.Abs(got/want-1) > 0.06 {
		t.Errorf("mean |error| %v, want about %v", got, want)
	}
}
