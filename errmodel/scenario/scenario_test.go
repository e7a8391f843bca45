package scenario_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"belsim/errmodel/scenario"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
	"belsim/theory/expect"
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
			must.Refused(t, err, "reads bits; outputs that are logits want gen or gen-ex")
			continue
		}
		must.Succeed(t, err)
		if reads := s.OutputsOf(c, d); d.Name() != tt.name || reads != tt.reads {
			t.Errorf("%+v: %s reads %v", tt, d.Name(), reads)
		}
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

// TestTheory: each kind of problem has the bound and the exact value that hold for it.
func TestTheory(t *testing.T) {
	ctx := context.Background()
	bits := func(s *scenario.Scenario) { s.Outputs = decode.Bits }
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
		{"gray", "gen-ex", bits, "", true},
		{"unary", "gen-ex", bits, "", false},
		{"unary", "best", bits, "", false},
		{"gray", "gen", func(s *scenario.Scenario) { s.Outputs = decode.Logits }, "union bound on logits", false},
	} {
		s := scenario.New(scenario.Mixture{R: 0.3, Sigma: 2})
		if tt.change != nil {
			tt.change(s)
		}
		c := mustNew(t, tt.code, 41)
		d := must.Get(s.Decoder(tt.decoder, c))(t)
		p := must.Get(s.Problem(ctx, c, d))(t)
		for _, q := range []*expect.Problem{p, s.WithoutErrors(c, d)} {
			b, err := expect.NewMean(ctx, q, false)
			switch {
			case tt.bound == "" && !errors.Is(err, theory.ErrNoClosedForm):
				t.Errorf("%s with %s: bound %v, error %v, want none", tt.code, tt.decoder, b, err)
			case tt.bound != "" && (err != nil || b.Name != tt.bound):
				t.Errorf("%s with %s: bound %v, error %v, want %s", tt.code, tt.decoder, b, err, tt.bound)
			}
			// by an interval
			if _, err := expect.NewMean(ctx, q, true); (err == nil) != (tt.exact || tt.code == "unary" &&
				tt.decoder == "gen") {
				t.Errorf("%s with %s: exact value: error %v, want one: %v", tt.code, tt.decoder, err, tt.exact)
			}
		}
		weights := must.Get(s.Weights(41))(t)
		th, err := expect.Of(ctx, 2, p, weights, expect.Skip{AnyLaw: true})
		must.Succeed(t, err)
		known := [2]bool{!table.Missing(th.Mean.Bound), !table.Missing(th.Mean.Exact)}
		// by an interval
		want := [2]bool{tt.bound != "", tt.exact || tt.code == "unary" && tt.decoder == "gen"}
		must.Equal(t, tt.code+" with "+tt.decoder+": a bound, an exact value", want, known)
	}
}

// TestQuickExact: where slow values are left out there are exact ones of small decision diagrams,
// the same as otherwise, and not of large ones.
func TestQuickExact(t *testing.T) {
	s := scenario.New(scenario.Mixture{R: 0.3, Sigma: 2})
	c := mustNew(t, "hexj", 32)
	p := must.Get(s.Problem(t.Context(), c, must.Get(s.Decoder("gen", c))(t)))(t)
	levels := func(omit expect.Skip) []expect.Level {
		return must.Get(expect.Of(t.Context(), 0, p, theory.Uniform(32), omit))(t).Levels
	}
	must.Equal(t, "levels", levels(expect.Skip{Bounds: true, AnyLaw: true}),
		levels(expect.Skip{Slow: true, Bounds: true, AnyLaw: true}))
	nodes := 0
	_, err := theory.NewLaw(t.Context(), 1, c, p.Decoder)
	_, none := fmt.Sscanf(err.Error(), "no closed form: an exact value takes a decision diagram of %d nodes", &nodes)
	must.Succeed(t, none)
	must.Get(theory.NewLaw(t.Context(), nodes, c, p.Decoder))(t)
	if _, err := theory.NewLaw(t.Context(), nodes-1, c, p.Decoder); !errors.Is(err, theory.ErrNoClosedForm) {
		t.Errorf("a diagram of one node too many: %v", err)
	}
}
