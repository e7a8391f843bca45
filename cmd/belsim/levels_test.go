package main

import (
	"math"
	"strings"
	"testing"

	"belsim/montecarlo/forecast"
)

// TestLevels: the flags of levels, and what a fit says in their place.
func TestLevels(t *testing.T) {
	inFolderWithData(t)
	levels := func(args string) (out forecast.Ranking) {
		t.Helper()
		runJSON(t, &out, "levels unary --levels 8,16 "+args)
		return out
	}
	if drawn := mustRun(t, "levels unary gray --levels 8,16 --range 0:1 --label-noise 0.1 -o l.png -o l.svg"); len(content(t, "l.png")) < 1000 || !strings.Contains(drawn, "suffice") && !strings.Contains(drawn, "may still help") {
		t.Errorf("%q", drawn)
	}
	if out := levels("--range 0:1 --label-noise 0.1 --misfit 0.01 -o x.csv"); len(out.Results) != 2 ||
		out.LabelNoise != 0.1 || out.Misfit != 0.01 || out.Unit != "label units" || out.Results[0].Forecast >= 0.1 {
		t.Errorf("%+v", out)
	}

	_, _, network := smallNetwork(t)
	f := fitOf(t, append(network, "-o", "fit.json")...)
	out := levels("--model fit.json --training bce,ce")
	s := f.Perceived.Noise
	if want := f.LevelWidth * s; out.Range != *f.Range || math.Abs(out.LabelNoise/want-1) > 1e-12 ||
		math.Abs(out.Misfit/(f.LevelWidth*f.Perceived.Misfit)-1) > 1e-12 || len(out.Results) != 4 {
		t.Errorf("with the fit's label noise, %v: %+v", want, out)
	}
	if out := levels("--model fit.json --misfit 0.02"); out.Misfit != 0.02 || out.Results[0].Training != "bce" {
		t.Errorf("%+v", out)
	}
}
