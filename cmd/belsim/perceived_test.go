package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"belsim/errmodel/forecast"
	"belsim/theory/base/must"
)

// TestPerceived: every command takes the networks that know a perceived label.
func TestPerceived(t *testing.T) {
	t.Chdir(t.TempDir())
	var c forecast.Ranking
	runJSON(t, &c, "forecast unary gray --levels 16 --mae 0.9 --training bce,ce --decoder gen")
	want := c
	want.Misfit, want.Unit = 0.25*15/63, "levels"
	must.Equal(t, "forecast --mae 0.9", want, c)
	must.Equal(t, "rows of two trainings", 4, len(c.Results))
	must.Within(t, "label noise", c.LabelNoise, 1, 1.3)
	for _, r := range c.Results {
		if r.Code == "unary" && r.Training == "bce" && math.Abs(r.Forecast-0.9) > 0.01 {
			t.Errorf("unary has an error of %v levels, want 0.9", r.Forecast)
		}
	}

	// A map and a sweep of the same cells have the same numbers.
	mustRun(t, "heatmap unary johnson --levels 16 --label-noise 0.8:1.6:2 --misfit 0.2:0.4:2 --method exact "+
		"-o map.csv -o map.png -o map.json")
	write(t, "plan.json", `{"codes": ["unary", "johnson"], "levels": [16], "label_noise": [0.8, 1.6],
		"misfit": [0.2, 0.4], "methods": ["exact"]}`)
	mustRun(t, "sweep plan.json --out cells --backend cpu --quiet")
	mustRun(t, "merge cells -o cells.csv -o cells.png -o cells.json")
	cells, table := readCSV(t, "map.csv"), readCSV(t, "cells.csv")
	at := slices.Index(table[0], "label_noise")
	if want := strings.Fields("label_noise misfit method valid mean"); len(cells) != 5 || len(table) != 9 || at < 0 ||
		!slices.Equal(table[0][at:at+5], want) {
		t.Fatalf("the CSVs have %q and %q", cells, table)
	}
	for i, c := range cells[1:] {
		for k, row := range [][]string{table[1+i], table[5+i]} {
			if want := []string{c[0], c[1], "exact", "true", c[2+k]}; !slices.Equal(row[at:at+5], want) {
				t.Errorf("the map has %q, the sweep %q", want, row)
			}
		}
	}
}
