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

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"belsim/errmodel/forecast"
	"belsim/errmodel/perceived"
	"belsim/testdata/forecast/evidence"
)

var codes = []string{"unary", "johnson", "b1jdj", "b2jdj", "hexj", "hadamard"}

func main() {
	log.SetFlags(0)
	all, err := load(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("Tables of `go run ./testdata/paper`; README.md says what they mean.")
	all.beside()
	all.near()
	all.rules()
	all.best()
	if err := ages(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// ages prints a benchmark that nobody here trained a network of: what its heads lose, and how many
// intervals hold from the error of one of them.
func ages(ctx context.Context) error {
	figures, err := evidence.LoadPublished(filepath.Join("testdata", "paper", "ages.csv"))
	if err != nil {
		return err
	}
	set, heads := evidence.PublishedSet(figures), groups(figures, func(p evidence.Published) string { return p.Head })
	least := map[string]float64{}
	for _, p := range figures {
		least[p.Table] = min(cmp.Or(least[p.Table], p.Error), p.Error)
	}
	evidence.Section("Ages", "Of each head the error over that of regression (geometric mean), and over the smallest of its table (mean\n"+
		"and largest). Then forecasts from the error of regression, and from that of unary (OR-CNN), over a uniform prior: the median of\n"+
		"ln(published/forecast), and how many intervals of 95 % hold.")
	evidence.Header("head", "over regression", "loses", "at most", "from regression", "from unary")
	regression := heads[slices.IndexFunc(heads, func(g []evidence.Published) bool { return g[0].Code == forecast.Direct })]
	sources := []evidence.Source{{Code: forecast.Direct, Training: perceived.BCE}, {Code: "unary", Training: perceived.BCE}}
	pairs := make([]map[string][]evidence.Pair, len(sources))
	for i, source := range sources {
		pairs[i] = map[string][]evidence.Pair{}
		for _, t := range set.Tasks() {
			r, err := set.Forecast(ctx, runtime.GOMAXPROCS(0), t, source)
			if err != nil {
				return err
			}
			pairs[i][t.Data] = r.Pairs
		}
	}
	for _, head := range heads {
		var ratio, loss []float64
		for i, p := range head {
			ratio, loss = append(ratio, math.Log(p.Error/regression[i].Error)), append(loss, p.Error/least[p.Table]-1)
		}
		cells := []string{head[0].Head, fmt.Sprintf("%.3f", math.Exp(stat.Mean(ratio, nil))),
			fmt.Sprintf("%.2f %%", 100*stat.Mean(loss, nil)), fmt.Sprintf("%.1f %%", 100*floats.Max(loss))}
		for i, of := range pairs {
			if head[0].Code == sources[i].Code {
				of = nil
			}
			cells = append(cells, holding("%+.1f", head, of))
		}
		evidence.Row(cells...)
	}
	return nil
}

// holding says how near the forecasts of figures are, and how many intervals hold.
func holding(format string, figures []evidence.Published, pairs map[string][]evidence.Pair) string {
	var off []float64
	held := 0
	for _, p := range figures {
		if q, found := find(p, pairs[p.Table]); found {
			e := p.Error / p.Width()
			if off = append(off, math.Log(e/q.Error)); q.Lo <= e && e <= q.Hi {
				held++
			}
		}
	}
	if len(off) == 0 {
		return "–"
	}
	return fmt.Sprintf(format+" %%, %d of %d", 100*evidence.Median(off), held, len(off))
}

// find finds the forecast of a figure among those of its table.
func find(p evidence.Published, all []evidence.Pair) (q evidence.Pair, found bool) {
	i := slices.IndexFunc(all, func(q evidence.Pair) bool {
		return q.Code.Name() == p.Code && (q.Training == p.Training || p.Code == forecast.Direct) && q.Reading() == p.Reading()
	})
	if i < 0 {
		return q, false
	}
	return all[i], true
}

// tables are the figures of the paper, with the forecasts of each table, the smallest first.
type tables struct {
	names   []string
	figures []evidence.Published
	pairs   map[string][]evidence.Pair
}

func load(ctx context.Context) (*tables, error) {
	out := &tables{pairs: map[string][]evidence.Pair{}}
	var err error
	if out.figures, err = evidence.LoadPublished(filepath.Join("testdata", "paper", "published.csv")); err != nil {
		return nil, err
	}
	unary := evidence.Source{Code: "unary", Training: perceived.BCE}
	set := evidence.PublishedSet(out.figures)
	for _, t := range set.Tasks() {
		r, err := set.Forecast(ctx, runtime.GOMAXPROCS(0), t, unary)
		if err != nil {
			return nil, err
		}
		out.names, out.pairs[t.Data] = append(out.names, t.Data), r.Pairs
	}
	return out, nil
}

// find is the forecast of a figure.
func (t *tables) find(p evidence.Published) evidence.Pair {
	q, _ := find(p, t.pairs[p.Table])
	return q
}

// source reports whether a figure is of the network that forecasts are made from.
func source(p evidence.Published) bool {
	return p.Code == "unary" && p.Training == perceived.BCE && p.Decoder != "gen-ex"
}

// reader is the name of a decoder; the paper has one for bel-u and bel-j.
func reader(p evidence.Published) string {
	if strings.HasPrefix(p.Decoder, "bel-") {
		return "bel"
	}
	return p.Decoder
}

func trained(p evidence.Published) string { return p.Training.Loss() + ", " + reader(p) }

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

// beside prints the figures of networks that gen reads, with their forecasts.
func (t *tables) beside() {
	evidence.Section("Published, and forecast",
		"Published error/forecast of networks read by gen, from the error of unary (BCE, gen) and a uniform prior. "+
			"`*`: outside the\ninterval of 95 %.")
	evidence.Header(append([]string{"table"}, codes...)...)
	for _, group := range groups(t.figures, func(p evidence.Published) string { return p.Table + " " + trained(p) }) {
		if reader(group[0]) != "gen" {
			continue
		}
		cells := []string{group[0].Table + ", " + trained(group[0])}
		for _, p := range group {
			q, star := t.find(p), ""
			if q.Inside() == 0 && !source(p) {
				star = "*"
			}
			cells = append(cells, fmt.Sprintf("%.2f/%.2f%s", p.Error, q.Error*p.Width(), star))
		}
		evidence.Row(cells...)
	}
}

// near prints how near the forecasts of each code are.
func (t *tables) near() {
	evidence.Section("How near", "Median of ln(published/forecast), and how many intervals hold, over all tables.")
	evidence.Header(append([]string{"trained, read"}, codes...)...)
	for _, group := range groups(t.figures, trained) {
		cells := []string{trained(group[0])}
		for _, name := range codes {
			cells = append(cells, holding("%+.0f", slices.DeleteFunc(slices.Clone(group), func(p evidence.Published) bool {
				return p.Code != name || source(p)
			}), t.pairs))
		}
		evidence.Row(cells...)
	}
}

// least is the smallest figure of a table.
func (t *tables) least(name string) evidence.Published {
	mine := slices.DeleteFunc(slices.Clone(t.figures), func(p evidence.Published) bool { return p.Table != name })
	return slices.MinFunc(mine, func(a, b evidence.Published) int { return cmp.Compare(a.Error, b.Error) })
}

// most is the largest mean loss of a rule that is printed.
const most = 0.1

// rules prints what it costs to train the same in all tables.
func (t *tables) rules() {
	evidence.Section("What rules lose", fmt.Sprintf(`The error over the smallest of its table: mean and largest, over %d
tables, of the rules that lose less than %.0f %%. L1 is L2 in the tables that have no L1.`, len(t.names), 100*most))
	evidence.Header("always", "mean", "largest")
	losses := map[string][]float64{}
	for _, p := range t.figures {
		rule := p.Code + ", " + strings.Replace(trained(p), "L2", "L1", 1)
		losses[rule] = append(losses[rule], p.Error/t.least(p.Table).Error-1)
	}
	const first = "what is forecast first"
	for _, name := range t.names {
		p := t.least(name)
		losses[first] = append(losses[first], t.pairs[name][0].Observed*p.Width()/p.Error-1)
	}
	type rule struct {
		name          string
		mean, largest float64
	}
	var all []rule
	for name, loss := range losses {
		if r := (rule{name, stat.Mean(loss, nil), floats.Max(loss)}); r.mean < most {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b rule) int {
		return cmp.Or(cmp.Compare(a.mean, b.mean), cmp.Compare(a.name, b.name))
	})
	for _, r := range all {
		evidence.Row(r.name, fmt.Sprintf("%.1f %%", 100*r.mean), fmt.Sprintf("%.1f %%", 100*r.largest))
	}
}

// best counts the tables whose best network is forecast near to the first, and is in its interval.
func (t *tables) best() {
	near, held := 0, 0
	for _, name := range t.names {
		p, first := t.least(name), t.pairs[name][0]
		q := t.find(p)
		held += q.Inside()
		if q.Error/first.Error-1 <= evidence.Tie {
			near++
		}
	}
	evidence.Section("The best of each table", fmt.Sprintf(`Of the %d networks with the smallest published error, %d are forecast
within 3 %% of the smallest forecast of their table, and %d are in their intervals.`, len(t.names), near, held))
}
