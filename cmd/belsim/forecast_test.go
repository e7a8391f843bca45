package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"belsim/errmodel/forecast"
	"belsim/theory/base/must"
)

// TestForecast: the flags of forecast, and what a fit says in their place.
func TestForecast(t *testing.T) {
	inFolderWithData(t)
	ask := func(args string) (out forecast.Ranking) {
		t.Helper()
		runJSON(t, &out, "forecast unary --levels 8,16 "+args)
		return out
	}
	if drawn := mustRun(t, "forecast unary gray --levels 8,16 --range 0:1 --mae 0.1 -o l.png -o l.svg"); len(content(t, "l.png")) < 1000 || !strings.Contains(drawn, "suffice") && !strings.Contains(drawn, "may still help") {
		t.Errorf("%q", drawn)
	}
	mustRun(t, "forecast unary --levels 8,16 --range 0:1 --mae 0.1 --style column -o l.svg")
	if !strings.Contains(content(t, "l.svg"), `width="237.6pt"`) {
		t.Errorf("a picture for a column is not 3.3 inches wide")
	}
	out := ask("--range 0:1 --mae 0.1 -o x.csv")
	want, unexported := out, cmpopts.IgnoreUnexported(forecast.EnoughLevels{})
	want.MAE, want.MAELevels, want.Unit = new(0.1), 16, "label units"
	must.Equal(t, "forecast, as the flags say", want, out, unexported)
	if len(out.Results) != 2 || out.Results[0].Forecast > 0.1 {
		t.Errorf("%d rows, want 2; the first forecast is %v", len(out.Results), out.Results[0].Forecast)
	}

	_, _, network := smallNetwork(t)
	f := fitOf(t, append(network, "-o", "fit.json")...)
	out = ask("--model fit.json --training bce,ce")
	want = out
	want.Range, want.LabelNoise, want.Misfit = *f.Range, f.LevelWidth*f.Perceived.Noise, f.LevelWidth*f.Perceived.Misfit
	must.Equal(t, "forecast, as the fit says", want, out, cmpopts.EquateApprox(1e-12, 0), unexported)
	must.Equal(t, "rows of two trainings", 4, len(out.Results))
	// Without a range label units are levels, and without levels those of the fit count.
	var own, plain forecast.Ranking
	runJSON(t, &own, "forecast unary --model fit.json")
	must.Equal(t, "levels of the fit", []int{16}, own.Levels)
	runJSON(t, &plain, "forecast unary --levels 16 --mae 0.9")
	must.Equal(t, "unit", "levels", plain.Unit)
	must.Equal(t, "misfit", 0.25*15/63, plain.Misfit)
	must.Within(t, "label noise", plain.LabelNoise, 1, 1.3)
}
