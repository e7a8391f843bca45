// Command paper prints tables.md, forecasts beside the errors that the paper publishes:
//
//	go run ./testdata/paper > testdata/paper/tables.md
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"belsim/testdata/forecast/evidence"
)

var codes = []string{"unary", "johnson", "b1jdj", "b2jdj", "hexj", "hadamard"}

func main() {
	log.SetFlags(0)
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	all, err := evidence.LoadPublished(filepath.Join("testdata", "paper", "published.csv"))
	if err != nil {
		return err
	}
	var tables []string
	pairs := map[string][]evidence.Pair{}
	for _, p := range all {
		if slices.Contains(tables, p.Table) {
			continue
		}
		tables = append(tables, p.Table)
		r, err := evidence.ForecastPublished(ctx, runtime.GOMAXPROCS(0), all, p.Table, nil)
		if err != nil {
			return err
		}
		pairs[p.Table] = r.Pairs
	}
	fmt.Print("Tables of `go run ./testdata/paper`; README.md says what they mean.\n\n## Published, and forecast\n\n" +
		"Published errors, with forecasts from the error of unary (BCE, gen) and a uniform prior in parentheses; `*`: outside the interval of 95 %.\n\n")
	header(append([]string{"table", "trained", "read"}, codes...)...)
	rowOf := func(p evidence.Published) string { return fmt.Sprintf("%s | %s", p.Training.Loss(), reader(p)) }
	find := func(p evidence.Published) *evidence.Pair {
		i := slices.IndexFunc(pairs[p.Table], func(q evidence.Pair) bool { return matches(q, p) })
		if i < 0 {
			return nil
		}
		return &pairs[p.Table][i]
	}
	for _, group := range groups(all, func(p evidence.Published) string { return p.Table + " | " + rowOf(p) }) {
		text := fmt.Sprintf("| %s | %s", group[0].Table, rowOf(group[0]))
		for _, name := range codes {
			i := slices.IndexFunc(group, func(p evidence.Published) bool { return p.Code == name })
			if i < 0 {
				text += " |"
				continue
			}
			text += fmt.Sprintf(" | %.2f (", group[i].Error)
			switch q := find(group[i]); {
			case q == nil:
				text += "–)"
			case q.Inside() == 0 && !source(group[i]):
				text += fmt.Sprintf("%.2f)*", q.Error*group[i].Width())
			default:
				text += fmt.Sprintf("%.2f)", q.Error*group[i].Width())
			}
		}
		fmt.Println(text + " |")
	}
	fmt.Print("\n## How near\n\nMedian of ln(published/forecast), and how many intervals hold, over all tables.\n\n")
	header(append([]string{"trained", "read"}, codes...)...)
	for _, group := range groups(all, rowOf) {
		text := "| " + rowOf(group[0])
		for _, name := range codes {
			var off []float64
			held := 0
			for _, p := range group {
				if q := find(p); p.Code == name && q != nil && !source(p) {
					off, held = append(off, math.Log(q.Observed/q.Error)), held+q.Inside()
				}
			}
			if len(off) == 0 {
				text += " | –"
				continue
			}
			slices.Sort(off)
			text += fmt.Sprintf(" | %+.0f %%, %d of %d", 100*(off[(len(off)-1)/2]+off[len(off)/2])/2, held, len(off))
		}
		fmt.Println(text + " |")
	}
	least := map[string]evidence.Published{}
	for _, p := range all {
		if best, known := least[p.Table]; !known || p.Error < best.Error {
			least[p.Table] = p
		}
	}
	fmt.Printf("\n## What rules lose\n\nThe error over the smallest of its table: mean and largest, over %d tables. L1 is L2 in the tables that have no L1.\n\n", len(tables))
	header("always", "mean", "largest")
	type rule struct {
		name       string
		sum, worst float64
		tables     int
	}
	var rules []rule
	for _, group := range groups(all, func(p evidence.Published) string {
		return fmt.Sprintf("%s, %s, %s", p.Code, strings.Replace(p.Training.Loss(), "L2", "L1", 1), reader(p))
	}) {
		r := rule{name: fmt.Sprintf("%s, %s, %s", group[0].Code, strings.Replace(group[0].Training.Loss(), "L2", "L1",
			1), reader(group[0]))}
		for _, p := range group {
			over := p.Error/least[p.Table].Error - 1
			r.sum, r.worst, r.tables = r.sum+over, max(r.worst, over), r.tables+1
		}
		rules = append(rules, r)
	}
	first := rule{name: "what is forecast first"}
	for _, t := range tables {
		over := pairs[t][0].Observed/(least[t].Error/least[t].Width()) - 1
		first.sum, first.worst, first.tables = first.sum+over, max(first.worst, over), first.tables+1
	}
	rules = append(rules, first)
	slices.SortStableFunc(rules, func(a, b rule) int {
		return cmp.Compare(a.sum/float64(a.tables),
			b.sum/float64(b.tables))
	})
	for _, r := range rules {
		fmt.Printf("| %s | %.1f %% | %.1f %% |\n", r.name, 100*r.sum/float64(r.tables), 100*r.worst)
	}
	fmt.Print("\n## The best of each table\n\nOver the first: the forecast of the network with the smallest published error, over the smallest forecast.\n\n")
	header("table", "best", "published", "forecast", "interval", "over the first", "first", "loses")
	near, held, known := 0, 0, 0
	for _, t := range tables {
		p, f := least[t], pairs[t][0]
		w := p.Width()
		text := fmt.Sprintf("| %s | %s, %s, %s | %.2f", t, p.Code, p.Training.Loss(), reader(p), p.Error)
		if q := find(p); q != nil {
			over := q.Error/f.Error - 1
			known, held = known+1, held+q.Inside()
			if over <= evidence.Tie {
				near++
			}
			text += fmt.Sprintf(" | %.2f | %.2f to %.2f | %+.1f %%", q.Error*w, q.Lo*w, q.Hi*w, 100*over)
		} else {
			text += " | – | – | –"
		}
		fmt.Printf("%s | %s, %s, %s | %.1f %% |\n", text, f.Code.Name(), f.Training.Loss(), f.Reading().Decoder,
			100*(f.Observed/(p.Error/w)-1))
	}
	fmt.Printf("\nOf %d that can be forecast, %d are within 3 %% of the first forecast, and %d within their intervals.\n", known, near, held)
	return nil
}

// source reports whether a figure is of the network that forecasts are made from.
func source(p evidence.Published) bool {
	return p.Code == "unary" && p.Training.Loss() == "BCE" && p.Decoder != "gen-ex"
}

func matches(q evidence.Pair, p evidence.Published) bool {
	return q.Code.Name() == p.Code && q.Training == p.Training && q.Reading().Decoder == p.Decoder
}

// reader is the name of a decoder; the paper has one for bel-u and bel-j.
func reader(p evidence.Published) string {
	if strings.HasPrefix(p.Decoder, "bel-") {
		return "bel"
	}
	return p.Decoder
}

// groups are figures with the same key, in the order of the first of each.
func groups(all []evidence.Published, key func(evidence.Published) string) (out [][]evidence.Published) {
	for _, p := range all {
		i := slices.IndexFunc(out, func(g []evidence.Published) bool { return key(g[0]) == key(p) })
		if i < 0 {
			out = append(out, []evidence.Published{p})
			continue
		}
		out[i] = append(out[i], p)
	}
	return out
}

// header writes the head of a table.
func header(columns ...string) {
	fmt.Printf("| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)))
}
