package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"belsim/errmodel/forecast"
	"belsim/errmodel/perceived"
	"belsim/testdata/forecast/evidence"
)

// easy is the most transitions of a bit in codes that are easy to learn.
const easy = 4

// part are the results of the data sets that are left out of the law, or of the blind ones; or of
// the tables or the images among them.
type part struct {
	name    string
	results []*evidence.Result
}

// from selects the results from one source.
func (p part) from(source evidence.Source) []*evidence.Result {
	return slices.DeleteFunc(slices.Clone(p.results), func(r *evidence.Result) bool { return r.Source != source })
}

// groups divide parts into tables and images.
func groups(parts []part) (out []part) {
	for _, p := range parts {
		for _, images := range []bool{false, true} {
			g := part{name: p.name + ", " + kindOf(images)}
			for _, r := range p.results {
				if r.Task.Image() == images {
					g.results = append(g.results, r)
				}
			}
			out = append(out, g)
		}
	}
	return out
}

func kindOf(images bool) string {
	if images {
		return "images"
	}
	return "tables"
}

// held are the columns that say how good intervals are, and rated their cells.
var held = []string{"networks", "hold", "hi/lo", "median off"}

func rated(pairs []evidence.Pair) []string {
	w := evidence.Rated(pairs)
	if w.Networks == 0 {
		return []string{"–", "–", "–", "–"}
	}
	return []string{fmt.Sprint(w.Networks), percent(w.Held), fmt.Sprintf("%.2f", w.Width), percent(w.Off)}
}

// intervals prints how good those of codes that are easy to learn, and of others are.
func intervals(levels, labels []part) {
	evidence.Section("Intervals", `Of the rows that fit --recommend shows: how many are of codes that are easy to learn, and of
others. Failed are the data sets whose own rows hold in less than 80 %. With real labels errors are |answer − label|,
which users see.`)
	evidence.Header(slices.Concat([]string{"from one", "data", "easy codes"}, held[1:], []string{"others"}, held[1:],
		[]string{"failed"})...)
	line := func(name string, g part, results []*evidence.Result) {
		var few, more []evidence.Pair
		byData := map[string][]evidence.Pair{}
		for _, r := range results {
			for _, p := range r.Shown().Unseen(evidence.Any) {
				byData[r.Task.Group()] = append(byData[r.Task.Group()], p)
				if forecast.MostTransitions(p.Code) <= easy {
					few = append(few, p)
				} else {
					more = append(more, p)
				}
			}
		}
		if len(byData) == 0 {
			return
		}
		cells := []string{name, g.name}
		cells = append(append(cells, rated(few)...), rated(more)...)
		var failed []string
		for _, data := range slices.Sorted(maps.Keys(byData)) {
			if held := evidence.Rated(byData[data]).Held; held < 0.8 {
				failed = append(failed, data+" "+percent(held))
			}
		}
		text := fmt.Sprintf("%d of %d", len(failed), len(byData))
		if len(failed) > 0 {
			text += ": " + strings.Join(failed, ", ")
		}
		evidence.Row(append(cells, text)...)
	}
	for _, source := range evidence.Sources {
		for _, g := range groups(levels) {
			line(head(source), g, g.from(source))
		}
	}
	for _, source := range evidence.Sources[:2] {
		for _, g := range groups(labels) {
			line(head(source)+", real labels", g, g.from(source))
		}
	}
}

// chances prints what came true of the probability that a network is better than the measured one.
func chances(levels []part) {
	evidence.Section("Better", "What was said, and what came true, by tenths of what was said; from any of the sources.")
	columns := []string{"rows", "data", "Brier", "base"}
	for i := range 10 {
		columns = append(columns, fmt.Sprintf(".%d", i))
	}
	evidence.Header(columns...)
	for _, p := range levels {
		var all []evidence.Chance
		for _, r := range p.results {
			all = append(all, r.Chances()...)
		}
		score, base := evidence.Brier(all)
		said, rows := []string{"said", p.name, "", ""}, []string{"number", p.name, "", ""}
		came := []string{"came true", p.name, fmt.Sprintf("%.3f", score), fmt.Sprintf("%.3f", base)}
		for _, x := range tenths(all) {
			said = append(said, fmt.Sprintf("%.2f", x.said/x.rows))
			came = append(came, fmt.Sprintf("%.2f", x.came/x.rows))
			rows = append(rows, fmt.Sprint(x.rows))
		}
		evidence.Row(said...)
		evidence.Row(came...)
		evidence.Row(rows...)
	}
}

// tenth are sums over the chances of a tenth of what was said.
type tenth struct{ said, came, rows float64 }

func tenths(all []evidence.Chance) (out [10]tenth) {
	for _, c := range all {
		x := &out[int(min(c.Said*10, 9))]
		x.said, x.rows = x.said+c.Said, x.rows+1
		if c.Came {
			x.came++
		}
	}
	return out
}

// decisions prints what they cost: the error of what one has over the smallest observed one.
func decisions(levels []part) {
	evidence.Section("What to do", `Regret: means over the results of a data set, and then over data sets, from any of the
sources. Below it stands how much more the advice loses than what the column does, with the standard error over data
sets. The results are those of tasks that have networks of all rules.`)
	columns := []string{"data", "data sets", "trains", "advice", "staying", "the first"}
	for _, rule := range evidence.Rules {
		columns = append(columns, "always "+rule.Name)
	}
	evidence.Header(columns...)
	all := groups(levels)
	for i, p := range levels {
		all = slices.Insert(all, 3*i+2, part{p.name + ", all", p.results})
	}
	for _, g := range all {
		costs, trains := regrets(g.results)
		if len(costs) == 0 {
			continue
		}
		cells := []string{g.name, fmt.Sprint(len(costs)), fmt.Sprintf("%.0f", 100*trains)}
		below := []string{"", "", "", ""}
		for i := range costs[0] {
			var cost, more []float64
			for _, c := range costs {
				cost, more = append(cost, c[i]), append(more, c[evidence.Advice]-c[i])
			}
			if cells = append(cells, percent(stat.Mean(cost, nil))); i > 0 {
				below = append(below, fmt.Sprintf("%+.1f±%.1f", 100*stat.Mean(more, nil),
					100*stat.StdErr(stat.StdDev(more, nil), float64(len(more)))))
			}
		}
		evidence.Row(cells...)
		evidence.Row(below...)
	}
}

// regrets are the costs of decisions on each data set, means over its results, as Result.Regret has
// them; and the share of the results in which the advice is to train. Results of tasks that have no
// networks of some rule are left out.
func regrets(results []*evidence.Result) (costs [][]float64, trains float64) {
	byData, trained, all := map[string][][]float64{}, 0.0, 0.0
	for _, r := range results {
		cost, train := r.Regret()
		if slices.ContainsFunc(cost, math.IsNaN) {
			continue
		}
		byData[r.Task.Group()] = append(byData[r.Task.Group()], cost)
		if all++; train {
			trained++
		}
	}
	for _, data := range slices.Sorted(maps.Keys(byData)) {
		mean := make([]float64, evidence.Ruled+len(evidence.Rules))
		for _, cost := range byData[data] {
			floats.AddScaled(mean, 1/float64(len(byData[data])), cost)
		}
		costs = append(costs, mean)
	}
	return costs, trained / all
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
		return fmt.Sprintf("%.0f", 100*v)
	}
	return fmt.Sprintf("%.1f", 100*v)
}
