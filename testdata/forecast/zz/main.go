package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"belsim/errmodel/perceived"
	"belsim/montecarlo/forecast"
	"belsim/testdata/forecast/evidence"
)

func main() {
	set, err := evidence.LoadHeads("testdata/forecast")
	if os.Getenv("CHOSEN") != "" {
		set, err = evidence.LoadChosen("testdata/forecast")
	}
	perceived.ShareCE, _ = strconv.ParseFloat(os.Getenv("SHARE"), 64)
	perceived.FactorCE, _ = strconv.ParseFloat(os.Getenv("FACTOR"), 64)
	if err != nil {
		panic(err)
	}
	_ = forecast.Direct
	seen := map[evidence.Source]bool{}
	for _, n := range set.Networks {
		if n.Seed == 0 {
			seen[evidence.Source{Code: n.Code, Training: n.Training}] = true
		}
	}
	only := ""
	if len(os.Args) > 1 {
		only = os.Args[1]
	}
	for src := range seen {
		if only != "" && !slices.Contains(strings.Split(only, ","), src.Code+"/"+string(src.Training)) {
			continue
		}
		for _, t := range set.Tasks() {
			if t.Levels > 64 || t.Architecture == "wide" {
				continue
			}
			r, err := set.Forecast(context.Background(), 2, t, src)
			if err != nil {
				fmt.Fprintln(os.Stderr, src, t, err)
				continue
			}
			for _, p := range r.Pairs {
				rd := "gen-ex"
				if !p.Decoding.Soft {
					rd = "bits"
				} else if p.Decoding.Decoder.Name() == "gen" {
					rd = "gen"
				}
				fmt.Printf("%s,%s,%s,%s,%s,%s,%v,%.5g,%.5g,%.5g,%.5g,%.4g,%.4g,%.4g,%.4g,%.4g", src.Code, src.Training, t.Data, p.Code.Name(), p.Training, rd, p.Source, p.Observed, p.Error, p.Lo, p.Hi, r.Forecaster.Excess, r.Forecaster.Tail, r.Noise.Value, r.Cutoff.Value, r.Forecaster.Measured[0].Error.Mean)
				for _, e := range p.Each {
					fmt.Printf(",%.5g", e)
				}
				fmt.Println()
			}
		}
	}
}
