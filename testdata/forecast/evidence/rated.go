package evidence

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"belsim/errmodel/perceived"
	"belsim/montecarlo/forecast"
)

// Relate changes the law that forecasts are made with: errors, intervals and the order follow.
func (r *Result) Relate(law forecast.Law) {
	all := r.forecasts()
	r.Forecaster.Law = law
	r.Forecaster.Relate(all)
	for i := range all {
		r.Pairs[i].Forecast = all[i]
	}
	slices.SortStableFunc(r.Pairs, func(a, b Pair) int { return cmp.Compare(a.Error, b.Error) })
}

func (r *Result) forecasts() []forecast.Forecast {
	all := make([]forecast.Forecast, len(r.Pairs))
	for i, p := range r.Pairs {
		all[i] = p.Forecast
	}
	return all
}

// Widths says how good intervals are.
type Widths struct {
	Networks int
	Held     float64 // share of the networks
	Width    float64 // median hi/lo
	Score    float64 // mean interval score of ln(error), as IntervalScore
	Off      float64 // median |ln(observed/forecast)|
	Mean     float64 // of ln(observed/forecast)
}

// Bias is the median of error/forecast − 1 over the networks.
func Bias(pairs []Pair) float64 {
	var all []float64
	for _, p := range pairs {
		for _, e := range p.Each {
			all = append(all, e.Mean/p.Error-1)
		}
	}
	return median(all)
}

// alpha is the share of errors that intervals are to miss.
const alpha = 0.05

// IntervalScore is the interval score of Gneiting and Raftery of an interval of 95 % for a number:
// its width, and for a number outside 40 times the distance from it. The smallest mean has the
// sharpest of all honest intervals.
func IntervalScore(lo, hi, x float64) float64 {
	return hi - lo + 2/alpha*(max(lo-x, 0)+max(x-hi, 0))
}

// Shown has the pairs that fit --recommend shows: each network in the reading with its smallest
// forecast.
func (r *Result) Shown() *Result {
	out := *r
	out.Pairs = nil
	for _, p := range r.Pairs { // the smallest first
		if !slices.ContainsFunc(out.Pairs, func(q Pair) bool { return q.Code == p.Code && q.Training == p.Training }) {
			out.Pairs = append(out.Pairs, p)
		}
	}
	return &out
}

// Rated rates the intervals of pairs. Each network counts once for each reading.
func Rated(pairs []Pair) Widths {
	var widths, scores, off []float64
	held, sum := 0, 0.0
	for _, p := range pairs {
		held += p.Inside()
		for _, e := range p.Each {
			widths = append(widths, p.Hi/p.Lo)
			scores = append(scores, IntervalScore(math.Log(p.Lo), math.Log(p.Hi), math.Log(e.Mean)))
			off = append(off, math.Abs(math.Log(e.Mean/p.Error)))
			sum += math.Log(e.Mean / p.Error)
		}
	}
	n := len(widths)
	return Widths{n, float64(held) / float64(n), median(widths), stat.Mean(scores, nil), median(off), sum / float64(n)}
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
	for _, p := range r.Shown().Pairs {
		for _, e := range p.Each {
			if !p.Source {
				out = append(out, Chance{p.Better, e.Mean < yours})
			}
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
	{"unary, BCE", "unary", perceived.BCE}, {"johnson, BCE", "johnson", perceived.BCE}, {"unary, CE", "unary",
		perceived.CE},
	{"johnson, CE", "johnson", perceived.CE}, {"HL-Gauss", "onehot", perceived.Soft}, {"direct regression",
		forecast.Direct, perceived.BCE},
}

// Regret is how much larger an error is than the smallest observed one, as a share of it, for what
// one has after a decision.
type Regret struct {
	Stay, First, Advice float64
	Rules               []float64 // NaN where the task has no such network
	Trained             bool      // the advice is to train another network
}

// Regret of a decision between the networks of a result.
func (r *Result) Regret(advice func(all []forecast.Forecast) *forecast.Forecast) Regret {
	least, own := math.Inf(1), r.Forecaster.Measured[0].Error.Mean
	best := map[[2]string]float64{} // observed, by code and training: the reading with the smallest forecast
	for _, p := range r.Shown().Pairs {
		key := [2]string{p.Code.Name(), string(p.Training)}
		if p.Source {
			best[key] = own
		} else {
			best[key] = p.Observed
		}
		least = min(least, best[key])
	}
	of := func(code string, t perceived.Training) float64 {
		v, known := best[[2]string{code, string(t)}]
		if !known {
			return math.NaN()
		}
		return v/least - 1
	}
	out := Regret{Stay: own/least - 1, Advice: own/least - 1}
	for _, rule := range Rules {
		out.Rules = append(out.Rules, of(rule.Code, rule.Training))
	}
	first := r.Pairs[0]
	out.First = of(first.Code.Name(), first.Training)
	if x := advice(r.forecasts()); x != nil {
		out.Advice, out.Trained = of(x.Code.Name(), x.Training), true
	}
	return out
}

// BesideDirect is the error of a head over that of direct regression: the geometric mean over data
// sets, of tables or of images, the smallest and the largest, and how many there are. Networks of
// bits that were trained one by one are read by gen on bits, and others by gen-ex.
func (s *Set) BesideDirect(rule Rule, images bool) (ratio, least, most float64, sets int) {
	reading := GenEx
	if rule.Training == perceived.BCE {
		reading = GenBits
	}
	groups := map[string][]float64{}
	for _, t := range s.Tasks() {
		own := s.errors(t, rule.Code, rule.Training, reading)
		direct := s.errors(t, forecast.Direct, perceived.BCE, GenBits)
		if t.Image() == images && len(own) > 0 && len(direct) > 0 {
			groups[t.Group()] = append(groups[t.Group()], math.Log(meanOf(own)/meanOf(direct)))
		}
	}
	sum, least, most := 0.0, math.Inf(1), 0.0
	for _, logs := range groups {
		v := stat.Mean(logs, nil)
		sum, least, most = sum+v/float64(len(groups)), min(least, math.Exp(v)), max(most, math.Exp(v))
	}
	return math.Exp(sum), least, most, len(groups)
}

func meanOf(all []Trained) (mean float64) {
	for _, e := range all {
		mean += e.Mean / float64(len(all))
	}
	return mean
}
