package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"belsim/errmodel/perceived"
	"belsim/montecarlo/forecast"
	"belsim/testdata/forecast/evidence"
)

// from selects the results from one source, of tables or of images.
func from(results []*evidence.Result, source evidence.Source, images bool) []*evidence.Result {
	return slices.DeleteFunc(slices.Clone(results), func(r *evidence.Result) bool {
		return r.Sources[0] != source || r.Task.Image() != images
	})
}

func kindOf(images bool) string {
	if images {
		return "images"
	}
	return "tables"
}

// header writes the head of a table.
func header(columns ...string) {
	fmt.Printf("| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)))
}

// tables prints how good the intervals, the probabilities and the decisions of results are.
func tables(results []*evidence.Result) {
	fmt.Print("### Intervals\n\nOf the rows that `fit --recommend` shows. Failed are the data sets whose own rows hold in less than 80 %.\n\n")
	intervals(results)
	byTraining(results)
	chances(results)
	fmt.Print("### What to do\n\n")
	regrets(results)
}

// intervals prints how good those of codes that are easy to learn, and of others are.
func intervals(results []*evidence.Result) {
	header("from one", "data", "easy codes: hold", "hi/lo", "score", "median off", "others: hold", "hi/lo", "score",
		"median off", "failed")
	for _, source := range evidence.Sources {
		for _, images := range []bool{false, true} {
			var few, more []evidence.Pair
			byData := map[string][]evidence.Pair{}
			for _, r := range from(results, source, images) {
				for _, p := range r.Shown().Pairs {
					if p.Source {
						continue
					}
					byData[r.Task.Group()] = append(byData[r.Task.Group()], p)
					if forecast.MostTransitions(p.Code) <= easy {
						few = append(few, p)
					} else {
						more = append(more, p)
					}
				}
			}
			if len(byData) == 0 {
				continue
			}
			row := fmt.Sprintf("| %s | %s", head(source), kindOf(images))
			for _, some := range [][]evidence.Pair{few, more} {
				w := evidence.Rated(some)
				row += fmt.Sprintf(" | %s of %d | %.2f | %.2f | %s", percent(w.Held), w.Networks, w.Width, w.Score,
					percent(w.Off))
			}
			var failed []string
			for _, data := range slices.Sorted(maps.Keys(byData)) {
				if held := evidence.Rated(byData[data]).Held; held < 0.8 {
					failed = append(failed, fmt.Sprintf("%s %s", data, percent(held)))
				}
			}
			fmt.Printf("%s | %d of %d: %s |\n", row, len(failed), len(byData), strings.Join(failed, ", "))
		}
	}
	fmt.Println()
}

// byTraining prints how good forecasts from a network of bits trained one by one are for each
// training, of codes that are easy to learn.
func byTraining(results []*evidence.Result) {
	fmt.Print("### By training\n\nOf easy codes, from one johnson or unary network with BCE. Mean is that of ln(observed/forecast).\n\n")
	header("to", "data", "hold", "median off", "mean")
	for _, t := range []string{"bce", "ce", "soft", forecast.Direct} {
		for _, images := range []bool{false, true} {
			var some []evidence.Pair
			for _, source := range evidence.Sources[:2] {
				for _, r := range from(results, source, images) {
					for _, p := range r.Shown().Pairs {
						is := p.Code.Name() == t || string(p.Training) == t && p.Code.Name() != forecast.Direct
						if is && !p.Source && forecast.MostTransitions(p.Code) <= easy {
							some = append(some, p)
						}
					}
				}
			}
			w := evidence.Rated(some)
			fmt.Printf("| %s | %s | %s of %d | %s | %+.1f %% |\n", t, kindOf(images), percent(w.Held), w.Networks,
				percent(w.Off), 100*w.Mean)
		}
	}
	fmt.Println()
}

// chances prints what came true of the probability that a network is better than the measured one.
func chances(results []*evidence.Result) {
	fmt.Print("\n### Better\n\nSaid → came true (rows), by tenths of what was said.\n\n")
	columns := []string{"from one", "Brier", "base"}
	for i := range 10 {
		columns = append(columns, fmt.Sprintf(".%d", i))
	}
	header(columns...)
	all := []evidence.Chance{}
	row := func(name string, some []evidence.Chance) {
		score, base := evidence.Brier(some)
		text := fmt.Sprintf("| %s | %.3f | %.3f", name, score, base)
		for i := range 10 {
			said, came, n := 0.0, 0.0, 0.0
			for _, c := range some {
				if int(min(c.Said*10, 9)) == i {
					said, n = said+c.Said, n+1
					if c.Came {
						came++
					}
				}
			}
			if n == 0 {
				text += " | –"
				continue
			}
			text += fmt.Sprintf(" | %.2f → %.2f (%.0f)", said/n, came/n, n)
		}
		fmt.Println(text + " |")
	}
	for _, source := range evidence.Sources {
		var some []evidence.Chance
		for _, r := range results {
			if r.Sources[0] == source {
				some = append(some, r.Chances()...)
			}
		}
		if len(some) > 0 {
			row(head(source), some)
		}
		all = append(all, some...)
	}
	row("all", all)
}

// regrets prints what decisions cost: the error of what one has over the smallest observed one.
func regrets(results []*evidence.Result) {
	fmt.Print("Regret: means over the results of a data set, and then over data sets. Below it stands how much more the advice loses than what the\n" +
		"column does, with the standard error over data sets. The results are those of tasks that have networks of all rules.\n\n")
	columns := []string{"from one", "data", "data sets", "trains", "advice", "staying", "the first"}
	for _, rule := range evidence.Rules {
		columns = append(columns, "always "+rule.Name)
	}
	header(columns...)
	row := func(name, kind string, some []*evidence.Result, differences bool) {
		sums := map[string][]mean{} // by data set: the advice, staying, the first, and the rules
		var trained mean
		for _, r := range some {
			x := r.Regret(func(all []forecast.Forecast) *forecast.Forecast {
				d := forecast.Decide(r.Sources[0].Code, r.Sources[0].Training, all)
				if d.Action != forecast.Train {
					return nil
				}
				return d.Best
			})
			if slices.ContainsFunc(x.Rules, math.IsNaN) {
				continue
			}
			g := r.Task.Group()
			if sums[g] == nil {
				sums[g] = make([]mean, 3+len(x.Rules))
			}
			for i, v := range append([]float64{x.Advice, x.Stay, x.First}, x.Rules...) {
				sums[g][i].add(v)
			}
			if x.Trained {
				trained.add(1)
			} else {
				trained.add(0)
			}
		}
		if len(sums) == 0 {
			return
		}
		text := fmt.Sprintf("| %s | %s | %d | %.0f %%", name, kind, len(sums), 100*trained.value())
		below := "| | | | "
		for i := range 3 + len(evidence.Rules) {
			var all, more mean
			for _, s := range sums {
				all.add(s[i].value())
				more.add(s[0].value() - s[i].value())
			}
			text += " | " + percent(all.value())
			if below += " | "; i > 0 {
				below += fmt.Sprintf("%+.1f ± %.1f", 100*more.value(), 100*more.stdErr())
			}
		}
		fmt.Println(text + " |")
		if differences {
			fmt.Println(below + " |")
		}
	}
	for _, images := range []bool{false, true} {
		var all []*evidence.Result
		for _, source := range evidence.Sources {
			some := from(results, source, images)
			row(head(source), kindOf(images), some, false)
			all = append(all, some...)
		}
		row("any of these", kindOf(images), all, true)
	}
	row("any of these", "all", results, true)
	fmt.Println()
}

// mean is that of numbers; of those that are none it is NaN.
type mean struct{ values []float64 }

func (m *mean) add(v float64) {
	if !math.IsNaN(v) {
		m.values = append(m.values, v)
	}
}

func (m mean) value() float64 { return stat.Mean(m.values, nil) }

func (m mean) stdErr() float64 {
	return stat.StdErr(stat.StdDev(m.values, nil), float64(len(m.values)))
}

// head is the name of a source.
func head(s evidence.Source) string {
	switch {
	case s.Code == forecast.Direct:
		return s.Code
	case s.Code == "onehot" && s.Training == perceived.Soft:
		return "HL-Gauss"
	}
	return s.Code + ", " + s.Training.Loss()
}

// percent writes a share in percent: in whole numbers from ten on.
func percent(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case v >= 0.0995:
		return fmt.Sprintf("%.0f %%", 100*v)
	}
	return fmt.Sprintf("%.1f %%", 100*v)
}

// besideDirect prints the errors of heads over that of direct regression.
func besideDirect(set *evidence.Set) {
	fmt.Print("### Beside direct regression\n\nError over that of direct regression: mean over data sets (smallest to largest; data sets).\n\n")
	header("head", "tables", "images")
	for _, rule := range evidence.Rules {
		if rule.Code == forecast.Direct {
			continue
		}
		row := "| " + rule.Name
		for _, images := range []bool{false, true} {
			ratio, least, most, sets := set.BesideDirect(rule, images)
			row += fmt.Sprintf(" | %.2f (%.2f to %.2f; %d)", ratio, least, most, sets)
		}
		fmt.Println(row + " |")
	}
	fmt.Println()
}
