package main

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"belsim/errmodel/perceived"
	"belsim/montecarlo/scenario"
	"belsim/montecarlo/search"
	"belsim/theory"
	"belsim/theory/base/must"
)

// TestPerceived: every command takes the networks that know a perceived label.
func TestPerceived(t *testing.T) {
	t.Chdir(t.TempDir())
	golden(t, "perceived-compare.txt", mustRun(t, strings.Fields("compare unary johnson hexj hadamard --levels 16 --label-noise 1.2 --training bce,ce --decoder gen,gen-ex --samples 1600 --backend cpu")...))
	golden(t, "perceived-verify.txt", mustRun(t, strings.Fields("verify --code b1jdj --levels 16 --label-noise 1.2 --samples 1600 --backend cpu")...))
	out := mustRun(t, strings.Fields("verify --code hexj --levels 20 --decoder gen --outputs logits --label-noise 1.2 --misfit 0.4 --cutoff 9 --samples 1600 --backend cpu")...)
	if !strings.Contains(out, "PASS every sampled mean is within its bound") || !strings.Contains(out, "label noise 1.2, misfit 0.4, cutoff 9, trained with BCE") {
		t.Errorf("verify on logits printed %s", out)
	}

	var c scenario.Comparison
	runJSON(t, &c, strings.Fields("compare unary gray --levels 16 --mae 0.9 --training bce,ce --samples 640 --backend cpu --decoder gen")...)
	if c.LabelNoise == nil || math.Abs(*c.LabelNoise-1.15) > 0.1 || c.R != nil || c.Misfit == nil || *c.Misfit != 0.25 || c.Training != "" || len(c.Results) != 4 {
		t.Errorf("compare --mae 0.9: %+v", c)
	}
	for _, r := range c.Results {
		if r.Training == "" || r.Forecast == nil {
			t.Errorf("row %+v has no training or no forecast", r)
		}
		if r.Code == "unary" && r.Training == "bce" && math.Abs(*r.Forecast-0.9) > 0.02 {
			t.Errorf("unary has an error of %v levels, want 0.9", *r.Forecast)
		}
	}

	// A map and a sweep of the same cells have the same numbers.
	mustRun(t, strings.Fields("heatmap unary johnson --levels 16 --label-noise 0.8:1.6:2 --misfit 0.2:0.4:2 --method exact -o map.csv -o map.png -o map.json")...)
	write(t, "plan.json", `{"codes": ["unary", "johnson"], "levels": [16], "label_noise": [0.8, 1.6], "misfit": [0.2, 0.4], "methods": ["exact"]}`)
	mustRun(t, "sweep", "plan.json", "--out", "cells", "--backend", "cpu", "--quiet")
	mustRun(t, "merge", "cells", "-o", "cells.csv", "-o", "cells.png", "-o", "cells.json")
	cells, table := readCSV(t, "map.csv"), readCSV(t, "cells.csv")
	at := slices.Index(table[0], "label_noise")
	if want := strings.Fields("label_noise misfit method valid mean"); len(cells) != 5 || len(table) != 9 || at < 0 || !slices.Equal(table[0][at:at+5], want) {
		t.Fatalf("the CSVs have %q and %q", cells, table)
	}
	for i, c := range cells[1:] {
		for k, row := range [][]string{table[1+i], table[5+i]} {
			if want := []string{c[0], c[1], "exact", "true", c[2+k]}; !slices.Equal(row[at:at+5], want) {
				t.Errorf("the map has %q, the sweep %q", want, row)
			}
		}
	}

	// What is found is better than the named codes.
	var found search.Optimized
	runJSON(t, &found, strings.Fields("optimize --levels 12 --bits 5 --label-noise 1 --steps 200 --samples 2000 --backend cpu --quiet")...)
	if found.LabelNoise == nil || found.Training != "bce" || !(found.Improvement > 0) {
		t.Errorf("optimize found %+v", found)
	}

	// What is promised has the model's interval, and a named code that is better with another training or decoder is named.
	out = mustRun(t, strings.Fields("optimize --levels 16 --start binary --label-noise 1.2 --steps 1 --samples 2000 --decoder gen --outputs bits --backend cpu --quiet -o found.json")...)
	readJSON(t, "found.json", &found)
	p, r := found.Promise, found.Rival
	if p == nil || r == nil {
		t.Fatal("no promise, or no rival")
	}
	x, y := found.Forecast.Error, found.Baselines[0].Forecast.Error
	if p.Code != found.Baselines[0].Code || math.Abs(p.Gain-100*(1-x/y)) > 1e-9 || !(p.Interval[0] < p.Gain && p.Gain < p.Interval[1]) || (p.Better > 0.5) != (p.Gain > 0) {
		t.Errorf("%+v of forecasts %v and %v", p, x, y)
	}
	if r.Gain > p.Gain || r.Outputs != "logits" || r.Gain >= 0 || !strings.Contains(out, r.Code+", trained with ") || !strings.Contains(out, "networks trained with it are forecast to gain") {
		t.Errorf("%+v, %+v: %s", r, p, out)
	}
}

// TestOneNoise: every command that takes --mae finds the same label noise, which perceived.Model.NoiseOf
// gives: around levels, and around real labels with --range.
func TestOneNoise(t *testing.T) {
	t.Chdir(t.TempDir())
	const levels, mae = 16, 0.9
	m := perceived.Model{Misfit: perceived.DefaultMisfit}
	want, err := m.NoiseOf(t.Context(), 0, perceived.Labels{Prior: theory.Uniform(levels)}, mae)
	must.Succeed(t, err)
	noise := func(args string) float64 {
		var out struct {
			LabelNoise float64 `json:"label_noise"`
		}
		must.Succeed(t, json.Unmarshal([]byte(mustRun(t, strings.Fields(args)...)), &out))
		return out.LabelNoise
	}
	for _, args := range []string{
		"compare gray --levels 16 --mae 0.9 --samples 640 --backend cpu --format=json",
		"compare unary --levels 16 --mae 0.9 --training ce --workers 1 --samples 640 --seed 2 --backend cpu --format=json",
		"optimize --levels 16 --bits 5 --mae 0.9 --steps 5 --samples 640 --backend cpu --quiet --format=json",
		"verify --code johnson --levels 16 --mae 0.9 --samples 640 --backend cpu --format=json",
	} {
		if got := noise(args); got != want {
			t.Errorf("belsim %s: s = %v, want %v", args, got, want)
		}
	}
	half := theory.Uniform(levels) // the first and the last level have half of the labels of others
	half[0], half[levels-1] = 0.5/levels, 0.5/levels
	m.Within = perceived.WithinLevel
	if want, err = m.NoiseOf(t.Context(), 0, perceived.Labels{Prior: half, Real: []perceived.Uniform{{From: 1, To: levels, Share: 1}}}, mae); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"levels gray --levels 16 --range 1:16 --misfit 0.25 --mae 0.9 --format=json",
		"levels gray --levels 8 --range 1:16 --misfit 0.25 --mae 0.9@16 --format=json",
	} {
		if got := noise(args); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("belsim %s: s = %v, want %v", args, got, want)
		}
	}
	var each []perceived.Uniform // of labels as --labels continuous has them
	for n := range levels {
		each = append(each, perceived.Uniform{From: float64(n) + 0.5, To: float64(n) + 1.5, Share: 1. / levels})
	}
	want, err = m.NoiseOf(t.Context(), 0, perceived.Labels{Prior: theory.Uniform(levels), Real: each}, mae)
	must.Succeed(t, err)
	for _, args := range []string{
		"compare gray --levels 16 --mae 0.9 --labels continuous --samples 640 --backend cpu --format=json",
		"verify --code johnson --levels 16 --mae 0.9 --labels continuous --samples 640 --backend cpu --format=json",
	} {
		if got := noise(args); got != want {
			t.Errorf("belsim %s: s = %v, want %v", args, got, want)
		}
	}
}

// TestPerceivedNotes: flags of networks that know a perceived label have no effect without them.
func TestPerceivedNotes(t *testing.T) {
	_, _, stderr := run(t, strings.Fields("compare unary --levels 4 --samples 50 --misfit 0.3 --training ce")...)
	for _, name := range []string{"misfit", "training"} {
		if !strings.Contains(stderr, "note: --"+name+" has no effect: it is for --label-noise, --mae and --model") {
			t.Errorf("no note that --%s has no effect: %s", name, stderr)
		}
	}
}
