package assess

import (
	"strings"
	"testing"
)

// TestBesideDirect: a network is better or worse than direct regression where 1.96 standard errors tell them apart.
func TestBesideDirect(t *testing.T) {
	f := &Fit{LevelWidth: 1, Decoders: []DecoderResult{{Decoder: "gen", Outputs: "bits", Observed: 1, Target: 1, TargetStdErr: 0.1}}}
	for direct, want := range map[float64]string{1.2: "better by 17 %.", 1.19: "not told apart from it.", 0.81: "not told apart from it.", 0.8: "worse by 25 %.", 1e-9: "more than 10,000 times as wrong."} {
		if got := f.besideDirect(direct); !strings.HasSuffix(got, "this network is "+want) {
			t.Errorf("direct regression %v: %q, want %q", direct, got, want)
		}
	}
}

// TestDecisionText says each decision, and the fitted decoder first where that gains more.
func TestDecisionText(t *testing.T) {
	for _, tt := range []struct {
		d      Decision
		fitted *Fitted
		want   string
	}{
		{Decision{Action: "train", Code: "unary", Training: "decoder", Decoder: "gen-ex", Gain: 0.0751, Better: 0.934}, nil,
			"train unary for the decoder (CE) and read it with gen-ex: expected gain 7.5 %, probability 0.93."},
		{Decision{Action: "take", Code: "unary", Training: "bits", Decoder: "gen", Gain: 0.123}, nil,
			"take the network that was trained with unary for its bits (BCE) and read it with gen: it gains 12 %."},
		{Decision{Action: "probe", Code: "unary", Training: "bits", Gain: 0.04, Better: 0.7, Probe: "b1jdj", ProbeFor: "bits"}, nil,
			"first train a second network with b1jdj for its bits (BCE): it would decide between unary (forecast gain 4 %, probability 0.70) and johnson."},
		{Decision{Action: "stay", Code: "unary", Gain: 0.01}, nil, "stay with johnson: no gain above 2 % is likely."},
		{Decision{Action: "stay"}, &Fitted{Better: true, Gain: 0.1, BaselineErr: 2},
			"read this network with the fitted decoder: it gains 5 %, more than any code is forecast to add. Beyond that, stay with johnson: no gain above 2 % is likely."},
		{Decision{Action: "train", Code: "unary", Training: "bits", Decoder: "gen", Gain: 0.08, Better: 1}, &Fitted{Better: true, Gain: 0.1, BaselineErr: 2},
			"train unary for its bits (BCE) and read it with gen: expected gain 8 %, probability 0.99."},
		{Decision{Action: "stay"}, &Fitted{Gain: 0.1, BaselineErr: 2}, "stay with johnson: no gain above 2 % is likely."},
	} {
		f := &Fit{Code: "johnson", Fitted: tt.fitted, Recommendation: &Recommendation{Decision: &tt.d}}
		if got := f.decisionText(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// TestRelative writes ratios.
func TestRelative(t *testing.T) {
	for want, r := range map[string][3]float64{
		"−1.4 % (−4 to +2 %)": {0.986, 0.96, 1.02}, "+25 % (+1 to +50 %)": {1.25, 1.01, 1.5}, "0 % (−0.4 to +0.4 %)": {1.0001, 0.996, 1.004}, "+9.9 % (0 to +20 %)": {1.099, 1.001, 1.2},
	} {
		if got := relative(r[0], [2]float64{r[1], r[2]}); got != want {
			t.Errorf("%v: %q, want %q", r, got, want)
		}
	}
}
