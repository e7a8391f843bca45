package scenario_test

import (
	"strings"
	"testing"

	"belsim/errmodel/scenario"
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
