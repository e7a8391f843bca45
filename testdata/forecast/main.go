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
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"belsim/errmodel/perceived"
	"belsim/montecarlo/forecast"
	"belsim/testdata/forecast/evidence"
)

// easy is the most transitions of a bit in codes that are easy to learn.
const easy = 4

func main() {
	log.SetFlags(0)
	root := flag.String("root", ".", "the root of the repository")
	only := flag.String("tasks", "", "only the tasks that have this in their name, for example \"diamonds, mlp\"")
	fit := flag.Bool("fit", false,
		"fit the law, and write montecarlo/forecast/fitted.go and testdata/forecast/laws.csv")
	flag.Parse()
	check(run(context.Background(), *root, *only, *fit))
}

func run(ctx context.Context, root, only string, fit bool) error {
	workers, folder := runtime.GOMAXPROCS(0), filepath.Join(root, "testdata", "forecast")
	sets, err := evidence.Load(folder)
	if err != nil {
		return err
	}
	var results []*evidence.Result
	for _, set := range sets {
		some, err := forecasts(ctx, workers, set, only)
		if err != nil {
			return err
		}
		results = append(results, some...)
	}
	log.Printf("%d forecasts of tasks", len(results))
	if fit {
		if err := fitAll(ctx, workers, root, results); err != nil {
			return err
		}
	}
	laws, err := evidence.LoadLaws(folder)
	if err != nil {
		return err
	}
	fmt.Print("Tables of `go run ./testdata/forecast`; README.md says what they mean.\n\n## Data sets that are left out\n\n")
	for _, r := range results {
		if _, known := laws[r.Task.Group()]; !known {
			return fmt.Errorf("no law leaves %s out: run with -fit", r.Task.Group())
		}
		leaveOut(r, laws)
	}
	besideDirect(sets[1])
	tables(results)
	if err := userTables(ctx, workers, folder, "more.csv", only, laws); err != nil {
		return err
	}
	if err := throughGenEx(ctx, workers, folder, only, sets[1], laws); err != nil {
		return err
	}
	blind, err := evidence.LoadBlind(folder)
	if err != nil {
		return err
	}
	fmt.Print("## Blind data sets\n\n")
	besideDirect(blind)
	if results, err = forecasts(ctx, workers, blind, only); err != nil {
		return err
	}
	tables(results)
	return userTables(ctx, workers, folder, "blind.csv", only, laws)
}

// leaveOut makes a result that of the law without its own data set. A blind data set is in no law.
func leaveOut(r *evidence.Result, laws map[string]forecast.Law) {
	if law, known := laws[r.Task.Group()]; known {
		r.Relate(law)
	}
}

// userTables prints what is against real labels, and of networks that were stopped. laws leave data
// sets out.
func userTables(ctx context.Context, workers int, folder, table, only string, laws map[string]forecast.Law) error {
	set, err := evidence.LoadStopped(folder, table, 1, true)
	if err != nil {
		return err
	}
	results, err := forecasts(ctx, workers, set, only)
	if err != nil {
		return err
	}
	for _, r := range results {
		leaveOut(r, laws)
	}
	fmt.Printf("### Against real labels\n\nThe errors that users see, |answer − label|, of the networks of %s.\n\n",
		table)
	intervals(results)
	regrets(results, false)
	return stopped(ctx, workers, folder, table, only, laws)
}

// stopped prints how well intervals hold for networks that were stopped in the middle of their
// training, like the measured one.
func stopped(ctx context.Context, workers int, folder, table, only string, laws map[string]forecast.Law) error {
	fmt.Print("### Networks that were stopped\n\nAll networks of a task were stopped at this share of their training.\n\n")
	header("from one", "share", "hold", "hi/lo", "median off")
	for _, source := range []evidence.Source{evidence.Sources[0], evidence.Sources[1],
		{Code: forecast.Direct, Training: perceived.BCE}} {
		for _, share := range []float64{0.125, 0.25, 0.5, 1} {
			set, err := evidence.LoadStopped(folder, table, share, false)
			if err != nil {
				return err
			}
			var all []evidence.Pair
			for _, t := range set.Tasks() {
				if !strings.Contains(t.String(), only) || !set.Trained(t, source) {
					continue
				}
				r, err := set.Forecast(ctx, workers, t, source)
				switch {
				case unforecast(err):
					continue
				case err != nil:
					return err
				}
				leaveOut(r, laws)
				for _, p := range r.Shown().Pairs {
					if !p.Source {
						all = append(all, p)
					}
				}
			}
			w := evidence.Rated(all)
			fmt.Printf("| %s | %v | %s of %d | %.2f | %s |\n", head(source), share, percent(w.Held), w.Networks,
				w.Width, percent(w.Off))
		}
	}
	fmt.Println()
	return nil
}

// throughGenEx prints how well intervals hold for networks that were trained through gen-ex.
func throughGenEx(ctx context.Context, workers int, folder, only string, chosen *evidence.Set,
	laws map[string]forecast.Law) error {
	set, err := evidence.LoadGenEx(folder, chosen)
	if err != nil {
		return err
	}
	fmt.Print("### L1 and L2 through gen-ex\n\nEight codes, six data sets, two seeds. Collapsed: with more than 1.5 times the forecast.\n\n")
	header("from", "training", "data", "hold", "hi/lo", "score", "median off", "median over the forecast", "collapsed")
	direct := evidence.Source{Code: forecast.Direct, Training: perceived.BCE}
	for _, from := range [][]evidence.Source{
		{evidence.Sources[1]}, {evidence.Sources[0]}, {direct}, {evidence.Sources[1], direct},
	} {
		found := map[string][]evidence.Pair{}
		for _, t := range set.Tasks() {
			if !strings.Contains(t.String(), only) || !set.Trained(t, from...) {
				continue
			}
			r, err := set.Forecast(ctx, workers, t, from...)
			if err != nil {
				return err
			}
			leaveOut(r, laws)
			for _, p := range r.Pairs {
				if p.Training.ThroughGenEx() {
					key := fmt.Sprintf("%s | %s", p.Training.Loss(), kindOf(t.Image()))
					found[key] = append(found[key], p)
				}
			}
		}
		var names []string
		for _, s := range from {
			names = append(names, head(s))
		}
		for _, key := range slices.Sorted(maps.Keys(found)) {
			collapsed := 0
			for _, p := range found[key] {
				for _, e := range p.Each {
					if e.Mean > 1.5*p.Error {
						collapsed++
					}
				}
			}
			w := evidence.Rated(found[key])
			fmt.Printf("| %s | %s | %s of %d | %.2f | %.2f | %s | %+.1f %% | %d |\n",
				strings.Join(names, " and "), key, percent(w.Held), w.Networks, w.Width, w.Score,
				percent(w.Off), 100*evidence.Bias(found[key]), collapsed)
		}
	}
	fmt.Println()
	return nil
}

// forecasts are those of all tasks of a set, from each source that was trained.
func forecasts(ctx context.Context, workers int, set *evidence.Set, only string) (out []*evidence.Result, err error) {
	for _, t := range set.Tasks() {
		var none []string
		for _, source := range evidence.Sources {
			if !strings.Contains(t.String(), only) || !set.Trained(t, source) {
				continue
			}
			r, err := set.Forecast(ctx, workers, t, source)
			switch {
			case unforecast(err):
				none = append(none, head(source))
				continue
			case err != nil:
				return nil, fmt.Errorf("%v from %s: %w", t, head(source), err)
			}
			out = append(out, r)
		}
		if len(none) > 0 {
			fmt.Printf("No forecast of %v from %s: no decoder's error tells the noise.\n\n", t, strings.Join(none, "; "))
		}
	}
	return out, nil
}

// unforecast reports whether a network tells no noise, so that nothing is forecast from it.
func unforecast(err error) bool {
	return errors.Is(err, perceived.ErrNothingObserved) || errors.Is(err, perceived.ErrNoNoise)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
