package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"log"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"belsim/errmodel/forecast"
	"belsim/testdata/forecast/evidence"
)

// steps of a fit.
const steps = 60

// fitAll fits the law to all results, and to all but those of each data set: the former is what
// forecasts are made with, and the latter judge it and give its standard errors (a jackknife over
// data sets). It writes laws.csv, and logs what stands in fitted.go.
func fitAll(ctx context.Context, workers int, results []*evidence.Result) error {
	law, density, err := evidence.FitLaw(ctx, workers, results, forecast.Fitted(), steps)
	if err != nil {
		return err
	}
	without, err := evidence.Without(ctx, workers, results, law)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	out, names := csv.NewWriter(&text), evidence.Numbers()
	write := func(group string, law forecast.Law) error {
		cells := []string{group}
		for i := range names {
			cells = append(cells, strconv.FormatFloat(field(law, i), 'g', 6, 64))
		}
		return out.Write(cells)
	}
	err = errors.Join(out.Write(append([]string{"without"}, names...)), write("none", law))
	var groups []string
	for _, r := range results {
		if g := r.Task.Group(); !slices.Contains(groups, g) {
			groups, err = append(groups, g), errors.Join(err, write(g, without[g]))
		}
	}
	out.Flush()
	log.Printf("of %d data sets, with a log density of %.2f:", len(groups), density)
	for i, name := range names {
		var left []float64
		for _, g := range groups {
			left = append(left, field(without[g], i))
		}
		// The variance of a jackknife is n−1 times that of the estimates that leave one out.
		log.Printf("%s: %.3g ± %.2g", name, field(law, i), math.Sqrt(float64(len(left)-1))*stat.PopStdDev(left, nil))
	}
	return errors.Join(err, os.WriteFile(filepath.Join(folder, "laws.csv"), text.Bytes(), 0o644))
}

func field(law forecast.Law, i int) float64 { return reflect.ValueOf(law).Field(i).Float() }
