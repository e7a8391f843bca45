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

// TestWhatToTrain: the network's own code is kept where it is first, or tied with the first; else the first is trained.
func TestWhatToTrain(t *testing.T) {
	f := &Fit{Code: "johnson", LevelWidth: 1}
	first := RankedCode{Code: "unary", Decoder: "gen", Training: "bits", Forecast: 1, Interval: [2]float64{0.9, 1.1}}
	for _, tt := range []struct {
		own, other RankedCode
		want       string
	}{
		{RankedCode{Code: "johnson", Trained: true, Tie: true}, RankedCode{Code: "hexj"}, "stay with johnson: no code is certain to be better."},
		{RankedCode{Code: "johnson", Trained: true}, RankedCode{Code: "hexj"}, "train unary for its bits (BCE) and read it with gen: 1 levels, 0.9 to 1.1 forecast. No other code may be as good."},
		{RankedCode{Code: "johnson", Trained: true}, RankedCode{Code: "hexj", Tie: true}, "One other code may be as good."},
	} {
		if got := f.whatToTrain([]RankedCode{first, tt.own, tt.other}); !strings.Contains(got, tt.want) {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	first.Trained = true
	if got := f.whatToTrain([]RankedCode{first}); !strings.HasPrefix(got, "stay with johnson") {
		t.Errorf("the own code is first: %q", got)
	}
}
