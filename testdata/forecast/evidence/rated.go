package evidence

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"belsim/errmodel/forecast"
	"belsim/errmodel/perceived"
)

// Section begins a section of a page, Header writes the head of a table, and Row a row.
func Section(title, text string) { fmt.Printf("\n## %s\n\n%s\n\n", title, text) }

func Header(columns ...string) {
	Row(columns...)
	fmt.Printf("|%s\n", strings.Repeat(" --- |", len(columns)))
}

func Row(cells ...string) { fmt.Printf("| %s |\n", strings.Join(cells, " | ")) }

// Widths says how good intervals are.
type Widths struct {
	Networks int
	Held     float64 // share of the networks
	Width    float64 // median hi/lo
	Off      float64 // median |ln(observed/forecast)|
}

// Rated rates the intervals of pairs. Each network counts once for each reading.
func Rated(pairs []Pair) Widths {
	var widths, off []float64
	held := 0
	for _, p := range pairs {
		held += p.Inside()
		for _, e := range p.Each {
			widths = append(widths, p.Hi/p.Lo)
			off = append(off, math.Abs(math.Log(e.Mean/p.Error)))
		}
	}
	return Widths{len(widths), float64(held) / float64(len(widths)), Median(widths), Median(off)}
}

// Tie is the difference, as a share of the smaller error, up to which two codes are equally good.
const Tie = 0.03

// Median is the mean of the two central numbers where their number is even; NaN where there are none.
func Median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// A Chance is the probability, by the forecast, that a network is better than the measured one, and
// whether it is.
type Chance struct {
	Said float64
	Came bool
}

// Chances are those of the networks that fit --recommend shows, other than the measured one.
func (r *Result) Chances() (out []Chance) {
	yours := r.Forecaster.Measured[0].Error.Mean
	for _, p := range r.Shown().Unseen(Any) {
		for _, e := range p.Each {
			out = append(out, Chance{p.Better, e.Mean < yours})
		}
	}
	return out
}

// Brier is the mean of (Said − Came)², and base that of the share that came true in the place of
// Said.
func Brier(all []Chance) (score, base float64) {
	came := 0.0
	for _, c := range all {
		is := 0.0
		if c.Came {
			is = 1
		}
		came += is / float64(len(all))
		score += (c.Said - is) * (c.Said - is) / float64(len(all))
	}
	return score, came * (1 - came)
}

// A Rule always trains the same head, read by its best reading.
type Rule struct {
	Name     string
	Code     string
	Training perceived.Training
}

// Rules are those that a forecast is to beat.
var Rules = []Rule{
	{"unary, BCE", "unary", perceived.BCE},
	{"johnson, BCE", "johnson", perceived.BCE},
	{"unary, CE", "unary", perceived.CE},
	{"johnson, CE", "johnson", perceived.CE},
	{"HL-Gauss", "onehot", perceived.Soft},
	{"direct regression", forecast.Direct, perceived.BCE},
}

// The decisions whose costs Regret has, before those of Rules.
const (
	Advice = iota
	Stay
	First
	Ruled
)

// Regret is how much larger than the smallest observed error the error is that one has after each
// decision, as a share of it: by the advice, without another network, with the smallest forecast,
// and by each rule, from Ruled on; NaN where the task has no such network. trains says that the
// advice is to train another network.
func (r *Result) Regret() (costs []float64, trains bool) {
	type network struct {
		code     string
		training perceived.Training
	}
	least, own := math.Inf(1), r.Forecaster.Measured[0].Error.Mean
	best := map[network]float64{} // observed: the reading with the smallest forecast
	for _, p := range r.Shown().Pairs {
		e := p.Observed
		if p.Source {
			e = own
		}
		best[network{p.Code.Name(), p.Training}] = e
		least = min(least, e)
	}
	of := func(code string, t perceived.Training) float64 {
		if v, known := best[network{code, t}]; known {
			return v/least - 1
		}
		return math.NaN()
	}
	first := r.Pairs[0]
	costs = []float64{Advice: own/least - 1, Stay: own/least - 1, First: of(first.Code.Name(), first.Training)}
	d := forecast.Decide(r.Source.Code, r.Source.Training, r.forecasts())
	if trains = d.Action == forecast.Train; trains {
		costs[Advice] = of(d.Best.Code.Name(), d.Best.Training)
	}
	for _, rule := range Rules {
		costs = append(costs, of(rule.Code, rule.Training))
	}
	return costs, trains
}

func meanOf(all []Trained) (mean float64) {
	for _, e := range all {
		mean += e.Mean / float64(len(all))
	}
	return mean
}
