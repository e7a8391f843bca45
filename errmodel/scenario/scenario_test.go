package scenario_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"belsim/errmodel"
	"belsim/errmodel/scenario"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

func mustNew(t *testing.T, name string, levels int) *code.Code {
	t.Helper()
	return must.Get(code.New(name, levels))(t)
}

// TestOutputs: what a decoder reads follows from what it can, unless the scenario says it.
func TestOutputs(t *testing.T) {
	c := mustNew(t, "johnson", 16)
	for _, tt := range []struct {
		outputs decode.Outputs
		decoder string
		name    string // of the decoder; "" for a refusal
		reads   decode.Outputs
	}{
		{decode.AutoOutputs, "auto", "bel-j", decode.Bits},
		{decode.AutoOutputs, "gen", "gen", decode.Bits},
		{decode.AutoOutputs, "gen-ex", "gen-ex", decode.Logits},
		{decode.Logits, "auto", "gen", decode.Logits},
		{decode.Logits, "gen", "gen", decode.Logits},
		{decode.Logits, "bel-j", "", ""},
		{decode.Bits, "gen-ex", "gen-ex", decode.Bits},
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
		must.Succeed(t, err)
		if reads := s.OutputsOf(c, d); d.Name() != tt.name || reads != tt.reads {
			t.Errorf("%+v: %s reads %v", tt, d.Name(), reads)
		}
	}
}

// TestInvalid: a mixture above 1 is told from other errors.
func TestInvalid(t *testing.T) {
	ctx := context.Background()
	c := mustNew(t, "unary", 16)
	s := scenario.New(scenario.Mixture{R: 5, Sigma: 1})
	d := must.Get(s.Decoder("auto", c))(t)
	if _, err := s.Problem(ctx, c, d); !errmodel.Invalid(err) {
		t.Errorf("r = 5, σ = 1: error %v", err)
	}
	// With σ = 0.3 the peak at the transition is 1.33·r, and at the levels next to it 0.33·r.
	s = scenario.New(scenario.Mixture{R: 1, Sigma: 0.3})
	if _, err := s.Problem(ctx, c, d); err != nil {
		t.Error(err)
	}
	if _, err := code.New("nothing", 16); err == nil || errmodel.Invalid(err) {
		t.Errorf("an unknown code: error %v", err)
	}
}

// TestFitted: a fit is for its own number of levels, and names its file.
func TestFitted(t *testing.T) {
	m := scenario.Mixture{R: 0.5, Sigma: 2, Path: "fit.json"}
	s := scenario.New(m)
	s.Prior = theory.Prior{Fitted: theory.Uniform(4), FitPath: "fit.json"}
	if _, err := s.Weights(5); err == nil || !strings.Contains(err.Error(),
		"fit.json: fitted to 4 levels, but the codes have 5") {
		t.Errorf("another number of levels: error %v", err)
	}
	if got := s.String(); got != "r = 0.5, σ = 2 from fit.json" {
		t.Errorf("text %q", got)
	}
}

// TestPair: auto is one of the other decoders; of several that do not fit the last says why, and of
// one code the reason is the error.
func TestPair(t *testing.T) {
	s := scenario.New(scenario.Mixture{R: 1, Sigma: 1})
	unary, johnson, hexj := mustNew(t, "unary", 8), mustNew(t, "johnson", 8), mustNew(t, "hexj", 40)
	pairs := must.Get(s.Pair([]*code.Code{unary, johnson, hexj}, []string{"bel-u", "auto", "bel-j"}))(t)
	for i, want := range []struct{ fit, unfit, why string }{
		{"bel-u", "bel-j", "bel-j reads"}, {"bel-j", "bel-u", "bel-u reads"}, {"gen", "bel-u bel-j", "bel-j reads"},
	} {
		var fit []string
		for _, d := range pairs[i].Decoders {
			fit = append(fit, d.Name())
		}
		if got := strings.Join(fit, " "); got != want.fit || strings.Join(pairs[i].Unfit, " ") != want.unfit ||
			!strings.Contains(pairs[i].Why.Error(), want.why) {
			t.Errorf("%s: %s; %v, %v", pairs[i].Code.Name(), got, pairs[i].Unfit, pairs[i].Why)
		}
	}
	for why, codes := range map[string][]*code.Code{"bel-j reads": {unary},
		"bel-j fits none of the codes": {unary, hexj}} {
		if _, err := s.Pair(codes, []string{"bel-j"}); !errors.Is(err, decode.ErrUnfit) ||
			!strings.Contains(err.Error(), why) {
			t.Errorf("%v, want %q", err, why)
		}
	}
}
