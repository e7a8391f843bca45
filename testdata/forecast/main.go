// Command forecast puts forecasts of codes that were not trained beside networks that were, and
// prints the comparison as Markdown:
//
//	go run ./testdata/forecast
//
// With -figure it draws the forecasts from one Johnson network of each data set, and prints
// nothing.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"belsim/errmodel/perceived"
	"belsim/plots"
	"belsim/testdata/forecast/evidence"
)

var (
	johnson = evidence.Source{Code: "johnson", Training: perceived.BitByBit}
	unary   = evidence.Source{Code: "unary", Training: perceived.BitByBit}
	gray    = evidence.Source{Code: "gray", Training: perceived.BitByBit}
	decoder = evidence.Source{Code: "johnson", Training: perceived.ForDecoder}
)

// easy is the most transitions of a bit in codes that are easy to learn.
const easy = 4

func main() {
	log.SetFlags(0)
	root := flag.String("root", ".", "the root of the repository")
	figure := flag.String("figure", "", "PNG file for the picture, for example testdata/forecast/forecast.png")
	only := flag.String("tasks", "", "only the tasks that have this in their name, for example \"diamonds, mlp\", or paper for the paper's tables")
	flag.Parse()
	ctx := context.Background()
	set, err := evidence.Load(filepath.Join(*root, "testdata", "forecast"))
	check(err)
	published, err := evidence.LoadPublished(filepath.Join(*root, "testdata", "paper", "published.csv"))
	check(err)
	workers := runtime.GOMAXPROCS(0)
	if *figure != "" {
		check(draw(ctx, workers, set, *figure))
		return
	}
	for _, s := range []struct {
		title   string
		sources []evidence.Source
	}{
		{"From one Johnson network, trained bit by bit", []evidence.Source{johnson}},
		{"From one unary network, trained bit by bit", []evidence.Source{unary}},
		{"From one Johnson network, trained for the decoder", []evidence.Source{decoder}},
		{"From one Johnson network and one Gray network, both trained bit by bit", []evidence.Source{johnson, gray}},
	} {
		var results []*evidence.Result
		for _, t := range set.Tasks() {
			if !strings.Contains(t.String(), *only) {
				continue
			}
			r, err := set.Forecast(ctx, workers, t, s.sources...)
			check(err)
			results = append(results, r)
		}
		if len(results) == 0 {
			continue
		}
		fmt.Printf("### %s\n\n", s.title)
		summary(results)
	}
	if strings.Contains("paper", *only) {
		paper(ctx, workers, published)
	}
}

// paper prints the comparison with published tables.
func paper(ctx context.Context, workers int, published []evidence.Published) {
	fmt.Printf("### The paper's tables, from the error of unary with gen\n\n")
	fmt.Println("| table | levels | s | reads | rank, six codes | median, six codes | median without unary | largest | intervals hold | forecast / published |")
	fmt.Println("| ---" + strings.Repeat(" | ---", 9) + " |")
	for _, table := range []string{"HPE1", "HPE2", "HPE3", "AE1"} {
		r, err := evidence.ForecastPublished(ctx, workers, published, table)
		check(err)
		for _, reading := range []evidence.Reading{evidence.Gen, evidence.GenEx} {
			six, held := r.All(perceived.BitByBit, reading), 0
			var others []evidence.Pair
			var each []string
			for _, p := range six {
				each = append(each, fmt.Sprintf("%s %.2f/%.2f", p.Code.Name(), p.Error, p.Observed))
				if p.Code.Name() != unary.Code {
					others = append(others, p)
					held += p.Inside()
				}
			}
			all, most := evidence.Rate(six), evidence.Rate(others)
			fmt.Printf("| %s | %d | %.2f | %s | %.2f | %s | %s | %s | %d of %d | %s |\n", table, r.Task.Levels, r.Noise.Value, reading.Decoder,
				all.Rank, percent(all.Median), percent(most.Median), worst(most), held, len(others), strings.Join(each, ", "))
		}
	}
}

// summary prints a row for each task.
func summary(results []*evidence.Result) {
	fmt.Println("| data, network | s | κ | bits, gen | … of codes ≤ 4 transitions | bits, gen-ex | decoder, gen-ex | order | intervals hold | … ≤ 4 transitions | first |")
	fmt.Println("| ---" + strings.Repeat(" | ---", 10) + " |")
	var held, all, heldEasy, allEasy, right, apart int
	lowest := 1.0
	for _, r := range results {
		cell := func(t perceived.Training, reading evidence.Reading) string {
			s := evidence.Rate(r.Select(t, reading, evidence.Any))
			return fmt.Sprintf("%.2f, %s, %s", s.Rank, percent(s.Median), worst(s))
		}
		few := evidence.Rate(r.Select(perceived.BitByBit, evidence.GenBits, easy))
		h, n := r.Coverage(evidence.Any)
		he, ne := r.Coverage(easy)
		held, all, heldEasy, allEasy = held+h, all+n, heldEasy+he, allEasy+ne
		if in, of := r.Separated(); of > 0 {
			right, apart, lowest = right+in, apart+of, min(lowest, float64(in)/float64(of))
		}
		best, over := r.First()
		fmt.Printf("| %v | %.2f | %.1f | %s | %s, %s | %s | %s | %s | %s | %s | %s: %.3f |\n", r.Task, r.Noise.Value, r.Cutoff.Value,
			cell(perceived.BitByBit, evidence.GenBits), percent(few.Median), worst(few), cell(perceived.BitByBit, evidence.GenEx), cell(perceived.ForDecoder, evidence.GenEx),
			percent(evidence.Rate(r.Select(perceived.ForDecoder, evidence.GenEx, evidence.Any)).Order), share(h, n), share(he, ne), best.Code.Name(), over)
	}
	fmt.Printf("\nThe intervals hold for %s of all readings of networks, and for %s of those whose codes have at most %d transitions a bit.\n",
		share(held, all), share(heldEasy, allEasy), easy)
	fmt.Printf("Of the pairs that the forecasts tell apart, %s are in the right order, and at least %s for each row.\n\n", share(right, apart), percent(lowest))
}

func share(held, all int) string {
	return fmt.Sprintf("%s (%d of %d)", percent(float64(held)/float64(all)), held, all)
}

func percent(v float64) string {
	digits := 1
	if v >= 0.0995 {
		digits = 0
	}
	return fmt.Sprintf("%.*f %%", digits, 100*v)
}

func worst(s evidence.Score) string { return percent(s.Largest) + " (" + s.Worst.Code.Name() + ")" }

// draw draws the forecasts from one Johnson network beside what was observed, for the data sets
// that the README of the project shows.
func draw(ctx context.Context, workers int, set *evidence.Set, path string) error {
	d := plots.AgreementData{
		Title: "Twelve codes, hard decisions: forecast from one Johnson network, and observed",
		X:     "observed mean |error| (levels)", Y: "forecast, with its 95 % interval",
	}
	for _, shown := range []struct {
		name string
		task evidence.Task
	}{
		{"diamonds", evidence.Task{Data: "diamonds", Architecture: "mlp", Levels: 64}},
		{"flights", evidence.Task{Data: "flights", Architecture: "mlp", Levels: 64}},
		{"weather", evidence.Task{Data: "weather", Architecture: "mlp", Levels: 64}},
		{"digits (images)", evidence.Task{Data: "digits", Architecture: "conv", Levels: 64}},
	} {
		r, err := set.Forecast(ctx, workers, shown.task, johnson)
		if err != nil {
			return err
		}
		g := plots.AgreementGroup{Name: shown.name}
		for _, p := range r.Select(perceived.BitByBit, evidence.GenBits, evidence.Any) {
			point := plots.Point{X: p.Observed, Y: p.Error, Lo: p.Lo, Hi: p.Hi}
			if p.Off() > 0.25 || p.Off() < -0.25 {
				point.Name = p.Code.Name()
			}
			g.Points = append(g.Points, point)
		}
		d.Groups = append(d.Groups, g)
	}
	f, err := plots.Agreement(d)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := f.Write(&b, "png"); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
