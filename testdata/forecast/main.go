// Command forecast puts forecasts of codes that were not trained beside networks that were, and
// prints the tables of tables.md; with -fit it first fits the law of the forecasts, and writes it
// and the laws that leave a data set out:
//
//	go run ./testdata/forecast > testdata/forecast/tables.md
//	go run ./testdata/forecast -fit
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"path/filepath"
	"runtime"

	"belsim/errmodel/forecast"
	"belsim/errmodel/perceived"
	"belsim/testdata/forecast/evidence"
)

// folder has the evidence.
var folder = filepath.Join("testdata", "forecast")

func main() {
	log.SetFlags(0)
	fit := flag.Bool("fit", false,
		"fit the law, and write errmodel/forecast/fitted.go and testdata/forecast/laws.csv")
	flag.Parse()
	if err := run(context.Background(), *fit); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, fit bool) error {
	f := &forecaster{workers: runtime.GOMAXPROCS(0)}
	sets, err := evidence.Load(folder)
	if err != nil {
		return err
	}
	var all []*evidence.Result
	for _, set := range sets {
		some, err := f.fromEach(ctx, set, evidence.Sources)
		if err != nil {
			return err
		}
		all = append(all, some...)
	}
	log.Printf("%d forecasts of tasks", len(all))
	if fit {
		if err := fitAll(ctx, f.workers, all); err != nil {
			return err
		}
	}
	if f.laws, err = evidence.LoadLaws(folder); err != nil {
		return err
	}
	for _, r := range all {
		if _, known := f.laws[r.Task.Group()]; !known {
			return fmt.Errorf("no law leaves %s out: run with -fit", r.Task.Group())
		}
		f.leaveOut(r)
	}
	blind, err := evidence.LoadBlind(folder)
	if err != nil {
		return err
	}
	fmt.Print("Tables of `go run ./testdata/forecast`; README.md says what they mean. Blind data sets chose nothing. " +
		"Of the\nothers each is left out of the law that forecasts it. Shares and regrets are in percent.\n")
	blindResults, err := f.fromEach(ctx, blind, evidence.Sources)
	if err != nil {
		return err
	}
	levels := []part{{"left out", all}, {"blind", blindResults}}
	var labels []part
	for _, table := range []string{"more.csv", "blind.csv"} {
		set, err := evidence.LoadStopped(folder, table, 1, true)
		if err != nil {
			return err
		}
		results, err := f.fromEach(ctx, set, evidence.Sources)
		if err != nil {
			return err
		}
		labels = append(labels, part{levels[len(labels)].name, results})
	}
	intervals(levels, labels)
	chances(levels)
	decisions(levels)
	return f.stopped(ctx)
}

// forecaster forecasts tasks.
type forecaster struct {
	workers int
	laws    map[string]forecast.Law // that leave a data set out
}

// fromEach forecasts all tasks of a set, from each source that was trained.
func (f *forecaster) fromEach(ctx context.Context, set *evidence.Set, sources []evidence.Source) (
	out []*evidence.Result, err error) {
	for _, t := range set.Tasks() {
		for _, source := range sources {
			if !set.Trained(t, source) {
				continue
			}
			r, err := set.Forecast(ctx, f.workers, t, source)
			switch {
			case errors.Is(err, perceived.ErrNothingObserved), errors.Is(err, perceived.ErrNoNoise):
				log.Printf("no forecast of %v from %s: %v", t, head(source), err)
				continue
			case err != nil:
				return nil, fmt.Errorf("%v from %s: %w", t, head(source), err)
			}
			f.leaveOut(r)
			out = append(out, r)
		}
	}
	return out, nil
}

// leaveOut makes a result that of the law without its own data set. A blind data set is in no law.
func (f *forecaster) leaveOut(r *evidence.Result) {
	if law, known := f.laws[r.Task.Group()]; known {
		r.Relate(law)
	}
}

// stopped prints how well intervals hold for networks that were stopped in the middle of their
// training, like the measured one.
func (f *forecaster) stopped(ctx context.Context) error {
	evidence.Section("Networks that were stopped", "All networks of a task were stopped at this share of their training.")
	evidence.Header(append([]string{"from one", "data", "share"}, held...)...)
	for _, source := range evidence.Sources[:2] {
		for i, table := range []string{"more.csv", "blind.csv"} {
			for _, share := range []float64{0.125, 0.25, 0.5, 1} {
				set, err := evidence.LoadStopped(folder, table, share, false)
				if err != nil {
					return err
				}
				results, err := f.fromEach(ctx, set, []evidence.Source{source})
				if err != nil {
					return err
				}
				var all []evidence.Pair
				for _, r := range results {
					all = append(all, r.Shown().Unseen(evidence.Any)...)
				}
				cells := []string{head(source), []string{"left out", "blind"}[i], fmt.Sprint(share)}
				evidence.Row(append(cells, rated(all)...)...)
			}
		}
	}
	fmt.Println()
	return nil
}
