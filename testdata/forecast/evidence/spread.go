package evidence

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"belsim/montecarlo/forecast"
)

// Respread changes the standard deviations that forecasts are made with: errors, intervals and the order follow.
func (r *Result) Respread(s forecast.Spread) {
	all := make([]forecast.Forecast, len(r.Pairs))
	for i, p := range r.Pairs {
		all[i] = p.Forecast
	}
	r.Forecaster.Spread = s
	r.Forecaster.Relate(all)
	for i := range all {
		r.Pairs[i].Forecast = all[i]
	}
	slices.SortStableFunc(r.Pairs, func(a, b Pair) int { return cmp.Compare(a.Error, b.Error) })
}

// Widths says how good intervals are.
type Widths struct {
	Networks int
	Held     float64 // share of the networks
	Width    float64 // median hi/lo
	Score    float64 // mean interval score of ln(error), as IntervalScore
}

// alpha is the share of errors that intervals are to miss.
const alpha = 0.05

// IntervalScore is the interval score of Gneiting and Raftery of an interval of 95 % for a number: its width, and for a
// number outside 40 times the distance from it. The smallest mean has the sharpest of all honest intervals.
func IntervalScore(lo, hi, x float64) float64 {
	return hi - lo + 2/alpha*(max(lo-x, 0)+max(x-hi, 0))
}

// Rated are the intervals of codes whose bits have so many transitions, from and to, without the sources. Each network
// counts once for each reading.
func Rated(results []*Result, from, to int) Widths {
	var some []Pair
	for _, r := range results {
		for _, p := range r.Pairs {
			if t := forecast.MostTransitions(p.Code); !p.Source && t >= from && t <= to {
				some = append(some, p)
			}
		}
	}
	return RatedPairs(some)
}

// Shown has the pairs that fit --recommend shows: each network in the reading with its smallest forecast.
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

// RatedPairs are the intervals of pairs. Each network counts once for each reading.
func RatedPairs(pairs []Pair) Widths {
	var widths, scores []float64
	held := 0
	for _, p := range pairs {
		held += p.Inside()
		for _, e := range p.Each {
			widths = append(widths, p.Hi/p.Lo)
			scores = append(scores, IntervalScore(math.Log(p.Lo), math.Log(p.Hi), math.Log(e)))
		}
	}
	n := len(widths)
	return Widths{n, float64(held) / float64(n), median(widths), stat.Mean(scores, nil)}
}

// mean is the mean interval score over tasks, each as heavy as the others.
func mean(results []*Result) float64 {
	sums, counts := map[Task]float64{}, map[Task]float64{}
	for _, r := range results {
		sums[r.Task] += Rated([]*Result{r}, 0, Any).Score
		counts[r.Task]++
	}
	total := 0.0
	for t, n := range counts {
		total += sums[t] / n / float64(len(counts))
	}
	return total
}

// FitSpread finds the constants with the smallest mean interval score: one after the other, each times some
// steps, until none is better. It leaves the results with some of them. It begins far from the defaults, because all tasks chose these.
func FitSpread(results []*Result) forecast.Spread {
	return fitSpread(results, constants, mean)
}

// FitHeads is FitSpread for the standard deviations and means of heads alone, by their pairs of those results where they are told.
func FitHeads(results []*Result) forecast.Spread {
	results = slices.DeleteFunc(slices.Clone(results), func(r *Result) bool { return !r.Forecaster.Told() })
	return fitSpread(results, ofHeads, func(results []*Result) float64 {
		sum := 0.0
		for _, r := range results {
			for _, kind := range [][]Pair{r.Head(true), r.Head(false)} {
				if len(kind) > 0 {
					sum += RatedPairs(kind).Score / float64(len(results))
				}
			}
		}
		return sum
	})
}

// Head returns the pairs of direct regression, or those of soft targets, without the sources.
func (r *Result) Head(direct bool) []Pair {
	return slices.DeleteFunc(slices.Clone(r.Pairs), func(p Pair) bool { return p.Source || (p.Code.Name() == forecast.Direct) != direct })
}

func fitSpread(results []*Result, constants []func(*forecast.Spread) *float64, mean func([]*Result) float64) forecast.Spread {
	s := forecast.DefaultSpread()
	for _, of := range constants {
		*of(&s) *= 1.5
	}
	score := func(s forecast.Spread) float64 {
		for _, r := range results {
			r.Respread(s)
		}
		return mean(results)
	}
	best := score(s)
	for range rounds {
		before := best
		for _, of := range constants {
			for _, step := range []float64{0.7, 0.85, 1.2, 1.4} {
				next := s
				*of(&next) *= step
				if v := score(next); v < best {
					best, s = v, next
				}
			}
		}
		if before-best < 1e-3*best {
			break
		}
	}
	return s
}

// rounds is the largest number of passes over the constants.
const rounds = 6

// constants are those that FitSpread changes.
var constants = []func(*forecast.Spread) *float64{
	func(s *forecast.Spread) *float64 { return &s.Cutoff },
	func(s *forecast.Spread) *float64 { return &s.Coarse },
	func(s *forecast.Spread) *float64 { return &s.Uneven },
	func(s *forecast.Spread) *float64 { return &s.Logits },
	func(s *forecast.Spread) *float64 { return &s.Gross },
	func(s *forecast.Spread) *float64 { return &s.Columns },
	func(s *forecast.Spread) *float64 { return &s.Overconfident },
	func(s *forecast.Spread) *float64 { return &s.Excess },
	func(s *forecast.Spread) *float64 { return &s.Tail },
	func(s *forecast.Spread) *float64 { return &s.TailUnary },
	func(s *forecast.Spread) *float64 { return &s.TailDecoder },
	func(s *forecast.Spread) *float64 { return &s.Gain },
}

// ofHeads are those that FitHeads changes.
var ofHeads = []func(*forecast.Spread) *float64{
	func(s *forecast.Spread) *float64 { return &s.Heads.Any },
	func(s *forecast.Spread) *float64 { return &s.Heads.Soft.Mean },
	func(s *forecast.Spread) *float64 { return &s.Heads.Soft.SD },
	func(s *forecast.Spread) *float64 { return &s.Heads.Direct.Mean },
	func(s *forecast.Spread) *float64 { return &s.Heads.Direct.SD },
	func(s *forecast.Spread) *float64 { return &s.Heads.Share },
}

// LeaveOneOut gives the intervals of each task the constants that the results of the other tasks choose, by fit.
func LeaveOneOut(results []*Result, fit func(others []*Result) (use func(*Result))) {
	uses := map[Task]func(*Result){}
	for _, r := range results {
		if uses[r.Task] == nil {
			uses[r.Task] = fit(slices.DeleteFunc(slices.Clone(results), func(other *Result) bool { return other.Task == r.Task }))
		}
	}
	for _, r := range results {
		uses[r.Task](r)
	}
}

// Spreads fits forecast.Spread, for LeaveOneOut.
func Spreads(results []*Result) func(*Result) {
	s := FitSpread(results)
	return func(r *Result) { r.Respread(s) }
}

// SpreadsOfHeads fits those of heads, for LeaveOneOut.
func SpreadsOfHeads(results []*Result) func(*Result) {
	s := FitHeads(results)
	return func(r *Result) { r.Respread(s) }
}

// Constant finds the one width of all intervals that has the smallest mean interval score, for LeaveOneOut.
func Constant(results []*Result) func(*Result) {
	best, use := math.Inf(1), (func(*Result))(nil)
	for w := 0.02; w < 2; w *= 1.1 {
		constant := func(r *Result) {
			for i := range r.Pairs {
				p := &r.Pairs[i]
				p.Lo, p.Hi = p.Error*math.Exp(-w), p.Error*math.Exp(w)
			}
		}
		for _, r := range results {
			constant(r)
		}
		if v := mean(results); v < best {
			best, use = v, constant
		}
	}
	return use
}
