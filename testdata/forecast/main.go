// Command forecast puts forecasts of codes that were not trained beside networks that were, and
// prints the comparison as Markdown:
//
//	go run ./testdata/forecast
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"belsim/errmodel/perceived"
	"belsim/montecarlo/forecast"
	"belsim/testdata/forecast/evidence"
)

var (
	johnson = evidence.Source{Code: "johnson", Training: perceived.BCE}
	unary   = evidence.Source{Code: "unary", Training: perceived.BCE}
	b1jdj   = evidence.Source{Code: "b1jdj", Training: perceived.BCE}
	gray    = evidence.Source{Code: "gray", Training: perceived.BCE}
	decoder = evidence.Source{Code: "johnson", Training: perceived.CE}
)

// A section has forecasts from the same networks of all tasks.
type section struct {
	title   string
	sources []evidence.Source
	results []*evidence.Result
}

// sections forecasts all tasks of a set that have this in their name.
func sections(ctx context.Context, workers int, set *evidence.Set, only string) []section {
	all := []section{
		{"Johnson network, trained with BCE", []evidence.Source{johnson}, nil},
		{"unary network, trained with BCE", []evidence.Source{unary}, nil},
		{"Johnson network, trained with CE", []evidence.Source{decoder}, nil},
		{"Johnson network and one b1jdj network", []evidence.Source{johnson, b1jdj}, nil},
		{"Johnson network and one Gray network", []evidence.Source{johnson, gray}, nil},
	}
	for i := range all {
		of := &all[i]
		for _, t := range set.Tasks() {
			if strings.Contains(t.String(), only) && set.Trained(t, of.sources...) {
				r, err := set.Forecast(ctx, workers, t, of.sources...)
				check(err)
				of.results = append(of.results, r)
			}
		}
	}
	return all
}

// easy is the most transitions of a bit in codes that are easy to learn.
const easy = 4

func main() {
	log.SetFlags(0)
	root := flag.String("root", ".", "the root of the repository")
	only := flag.String("tasks", "", "only the tasks that have this in their name, for example \"diamonds, mlp\"; blind for the blind tasks, or paper for the paper's tables")
	flag.Parse()
	ctx := context.Background()
	folder := filepath.Join(*root, "testdata", "forecast")
	set, err := evidence.Load(folder)
	check(err)
	chosen, err := evidence.LoadChosen(folder)
	check(err)
	blind, err := evidence.LoadBlind(folder)
	check(err)
	published, err := evidence.LoadPublished(filepath.Join(*root, "testdata", "paper", "published.csv"))
	check(err)
	workers := runtime.GOMAXPROCS(0)
	all := sections(ctx, workers, set, *only)
	if len(all[0].results) > 0 {
		for _, of := range []section{all[0], all[3]} {
			fmt.Printf("### From one %s\n\n", of.title)
			summary(of.results)
		}
		intervals(all)
		decisions(ctx, workers, set, all)
	}
	asTheyStand(ctx, workers, "Networks with a learning rate of their own", chosen, *only)
	asTheyStand(ctx, workers, "Blind tasks", blind, strings.TrimPrefix(*only, "blind"))
	if strings.Contains("heads", *only) || len(all[0].results) > 0 {
		heads(ctx, workers, folder, *only)
	}
	if strings.Contains("paper", *only) {
		paper(ctx, workers, published)
	}
}

// asTheyStand prints how good the forecasts of a set are with the constants as they are.
func asTheyStand(ctx context.Context, workers int, title string, set *evidence.Set, only string) {
	all := sections(ctx, workers, set, only)
	if len(all[0].results) == 0 {
		return
	}
	fmt.Printf("### %s, from one Johnson network\n\n", title)
	summary(all[0].results)
	widths(all, nil)
	decisions(ctx, workers, set, all)
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
			six, held := r.All(perceived.BCE, reading), 0
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
	fmt.Println("| data, network | s | κ | bits, gen | … of codes ≤ 4 transitions | bits, gen-ex | decoder, gen-ex | order | first |")
	fmt.Println("| ---" + strings.Repeat(" | ---", 8) + " |")
	var right, apart int
	lowest := 1.0
	for _, r := range results {
		cell := func(t perceived.Training, reading evidence.Reading) string {
			s := evidence.Rate(r.Select(t, reading, evidence.Any))
			return fmt.Sprintf("%.2f, %s, %s", s.Rank, percent(s.Median), worst(s))
		}
		few := evidence.Rate(r.Select(perceived.BCE, evidence.GenBits, easy))
		if in, of := r.Separated(); of > 0 {
			right, apart, lowest = right+in, apart+of, min(lowest, float64(in)/float64(of))
		}
		best, over := r.First()
		fmt.Printf("| %v | %.2f | %.1f | %s | %s, %s | %s | %s | %s | %s: %.3f |\n", r.Task, r.Noise.Value, r.Cutoff.Value,
			cell(perceived.BCE, evidence.GenBits), percent(few.Median), worst(few), cell(perceived.BCE, evidence.GenEx), cell(perceived.CE, evidence.GenEx),
			percent(evidence.Rate(r.Select(perceived.CE, evidence.GenEx, evidence.Any)).Order), best.Code.Name(), over)
	}
	fmt.Printf("\nOf the pairs that the forecasts tell apart, %s are in the right order, and at least %s for each row.\n\n", share(right, apart), percent(lowest))
}

// intervals prints how good the intervals of each task are with constants that the other tasks chose.
func intervals(all []section) {
	var results []*evidence.Result
	for _, of := range all {
		results = append(results, of.results...)
	}
	chosen := evidence.FitSpread(results)
	fmt.Printf("### Intervals, each task with the constants that the others choose\n\nAll tasks choose `%+v`.\n\n", chosen)
	for _, r := range results {
		r.Respread(chosen)
	}
	for _, of := range all {
		evidence.LeaveOneOut(of.results, evidence.Constant)
	}
	constant := rated(all)
	evidence.LeaveOneOut(results, evidence.Spreads)
	widths(all, constant)
}

// widths prints how good intervals are as they stand, beside those of one width where there are such, and those from one Johnson network by task.
func widths(all []section, constant []ratedRow) {
	columns := " | hi/lo | shown: hold | hi/lo | score"
	if constant != nil {
		columns += " | with one width"
	}
	fmt.Printf("| from one | data | ≤ 4 transitions: hold%s | more: hold%s |\n|%s\n", columns, columns, strings.Repeat(" --- |", 2+2*strings.Count(columns, "|")+2))
	for i, row := range rated(all) {
		for k, w := range row.widths {
			row.text += fmt.Sprintf(" | %s of %d | %.2f | %s of %d | %.2f | %.2f", percent(w.Held), w.Networks, w.Width, percent(row.shown[k].Held), row.shown[k].Networks, row.shown[k].Width, w.Score)
			if constant != nil {
				row.text += fmt.Sprintf(" | %.2f", constant[i].widths[k].Score)
			}
		}
		fmt.Println(row.text + " |")
	}
	fmt.Print("\nFrom one Johnson network, each task:\n\n| data, network | excess | tail | temperature | b1jdj | ≤ 4 transitions: hold | hi/lo | more: hold | hi/lo |\n| ---" + strings.Repeat(" | ---", 8) + " |\n")
	for _, r := range all[0].results {
		few, more := evidence.Rated([]*evidence.Result{r}, 0, easy), evidence.Rated([]*evidence.Result{r}, easy+1, evidence.Any)
		fmt.Printf("| %v | %.3f | %.2f | %.2f | %s | %s of %d | %.2f | %s of %d | %.2f |\n", r.Task, r.Forecaster.Excess, r.Forecaster.Tail, r.Forecaster.Temperature, over(r, "b1jdj"), percent(few.Held), few.Networks, few.Width, percent(more.Held), more.Networks, more.Width)
	}
	fmt.Println()
}

// over is by how much the error of a code with hard decisions is larger than its forecast.
func over(r *evidence.Result, name string) string {
	for _, p := range r.All(perceived.BCE, evidence.GenBits) {
		if p.Code.Name() != name {
			continue
		}
		if v := math.Round(100 * (p.Observed/p.Error - 1)); v != 0 {
			return strings.Replace(fmt.Sprintf("%+.0f %%", v), "-", "−", 1)
		}
		return "0 %"
	}
	return "–"
}

// decisions prints what the sentences of fit --recommend cost: a network of each of these codes, trained bit by bit, is kept, or
// another one is trained, as Decide says. The regret is the error of what one has then over the smallest that was observed. The
// intervals are those of the first section, whose constants the other tasks chose.
func decisions(ctx context.Context, workers int, set *evidence.Set, all []section) {
	fmt.Printf("### What to do, by the forecasts\n\n")
	fmt.Println("| from one | data | decisions | train another | regret | … if one always stays | … if one always trains the first |")
	fmt.Println("| ---" + strings.Repeat(" | ---", 6) + " |")
	for _, name := range []string{"unary", "johnson", "b1jdj", "hexj", "gray"} {
		type costs struct {
			decisions, trained   int
			regret, stays, first float64
		}
		kinds := map[bool]*costs{false: {}, true: {}}
		for _, like := range all[0].results {
			source := evidence.Source{Code: name, Training: perceived.BCE}
			if !set.Trained(like.Task, source) {
				continue
			}
			r := known(all, like.Task, source)
			if r == nil {
				var err error
				r, err = set.Forecast(ctx, workers, like.Task, source)
				check(err)
			}
			r.Respread(like.Forecaster.Spread)
			train, has, own, first, err := r.Decide(ctx, workers)
			check(err)
			c := kinds[r.Task.Image()]
			c.decisions++
			if train {
				c.trained++
			}
			c.regret, c.stays, c.first = c.regret+has, c.stays+own, c.first+first
		}
		for _, images := range []bool{false, true} {
			if c := kinds[images]; c.decisions > 0 {
				mean := func(v float64) string { return percent(v / float64(c.decisions)) }
				fmt.Printf("| %s | %s | %d | %d | %s | %s | %s |\n", name, kindOf(images), c.decisions, c.trained, mean(c.regret), mean(c.stays), mean(c.first))
			}
		}
	}
	fmt.Println()
}

// known is the result of a section from one network; nil where there is none.
func known(all []section, t evidence.Task, source evidence.Source) *evidence.Result {
	for _, of := range all {
		for _, r := range of.results {
			if r.Task == t && slices.Equal(r.Sources, []evidence.Source{source}) {
				return r
			}
		}
	}
	return nil
}

// heads prints how good forecasts of all heads are from one network of each, with constants of heads that the other tasks chose.
func heads(ctx context.Context, workers int, folder, only string) {
	set, err := evidence.LoadHeads(folder)
	check(err)
	var all []*evidence.Result
	sources := set.Sources()
	for _, source := range sources {
		for _, t := range set.Tasks() {
			if only == "heads" || strings.Contains(t.String(), only) {
				r, err := set.Forecast(ctx, workers, t, source)
				check(err)
				all = append(all, r)
			}
		}
	}
	fmt.Printf("### Heads, each task with the constants that the others choose\n\nAll tasks choose `%+v`.\n\n", evidence.FitHeads(all).Heads)
	evidence.LeaveOneOut(all, evidence.SpreadsOfHeads)
	fmt.Println("From one network of each, all others, read by the mean, and after BCE by gen on bits, too:")
	headTable("from one", all, func(show func(name string, from func(*evidence.Result, evidence.Pair) bool)) {
		for _, source := range sources {
			show(head(source.Code, source.Training), func(r *evidence.Result, p evidence.Pair) bool { return r.Sources[0] == source && usual(p) })
		}
	})
	fmt.Println("Each head, from one network of every other:")
	headTable("of", all, func(show func(name string, from func(*evidence.Result, evidence.Pair) bool)) {
		for _, source := range sources {
			of := func(p evidence.Pair) bool { return p.Code.Name() == source.Code && p.Training == source.Training }
			show(head(source.Code, source.Training), func(_ *evidence.Result, p evidence.Pair) bool { return of(p) && usual(p) })
			if source.Training != perceived.BCE {
				show(head(source.Code, source.Training)+", read by argmax", func(_ *evidence.Result, p evidence.Pair) bool { return of(p) && !usual(p) })
			}
		}
	})
}

// usual reports whether a network is read so as a rule.
func usual(p evidence.Pair) bool { return p.Training == perceived.BCE || p.Reading() == evidence.GenEx }

// head is the name of a code after a training.
func head(code string, t perceived.Training) string {
	switch {
	case code == forecast.Direct || code == forecast.CORN:
		return code
	case code == "onehot" && t == perceived.CE:
		return "softmax"
	case code == "onehot" && t == perceived.Soft:
		return "HL-Gauss"
	}
	return code + ", " + t.Loss()
}

// headTable prints rows of forecasts that each row selects, of tables and of images.
func headTable(title string, all []*evidence.Result, rows func(show func(string, func(*evidence.Result, evidence.Pair) bool))) {
	fmt.Printf("\n| %s | tables: median, largest | hold | hi/lo | images: median, largest | hold | hi/lo |\n|%s\n", title, strings.Repeat(" --- |", 7))
	rows(func(name string, from func(*evidence.Result, evidence.Pair) bool) {
		row := "| " + name
		for _, images := range []bool{false, true} {
			var some []evidence.Pair
			for _, r := range all {
				for _, p := range r.Pairs {
					if r.Task.Image() == images && !p.Source && from(r, p) {
						some = append(some, p)
					}
				}
			}
			if len(some) == 0 {
				row += " | – | – | –"
				continue
			}
			s, w := evidence.Rate(some), evidence.RatedPairs(some)
			row += fmt.Sprintf(" | %s, %s | %s of %d | %.2f", percent(s.Median), percent(s.Largest), percent(w.Held), w.Networks, w.Width)
		}
		fmt.Println(row + " |")
	})
	fmt.Println()
}

// kindOf is the kind of data.
func kindOf(images bool) string {
	if images {
		return "images"
	}
	return "tables"
}

// ratedRow is a row of a table: codes of few transitions, and the others.
type ratedRow struct {
	text          string
	widths, shown [2]evidence.Widths // of all readings, and of those that fit --recommend shows
}

// rated rates tables of data and images of each section.
func rated(all []section) (rows []ratedRow) {
	for _, of := range all {
		for _, images := range []bool{false, true} {
			var some, shown []*evidence.Result
			for _, r := range of.results {
				if r.Task.Image() == images {
					some, shown = append(some, r), append(shown, r.Shown())
				}
			}
			if len(some) > 0 {
				both := func(of []*evidence.Result) [2]evidence.Widths {
					return [2]evidence.Widths{evidence.Rated(of, 0, easy), evidence.Rated(of, easy+1, evidence.Any)}
				}
				rows = append(rows, ratedRow{"| " + of.title + " | " + kindOf(images), both(some), both(shown)})
			}
		}
	}
	return rows
}

func share(held, all int) string {
	return fmt.Sprintf("%s (%d of %d)", percent(float64(held)/float64(all)), held, all)
}

func percent(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	digits := 1
	if v >= 0.0995 {
		digits = 0
	}
	return fmt.Sprintf("%.*f %%", digits, 100*v)
}

func worst(s evidence.Score) string { return percent(s.Largest) + " (" + s.Worst.Code.Name() + ")" }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
