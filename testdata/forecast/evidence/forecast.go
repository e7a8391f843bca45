package evidence

import (
	"cmp"
	"context"
	"math"
	"slices"

	"belsim/errmodel/forecast"
	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory/code"
)

// Pair is a forecast and what was observed.
type Pair struct {
	forecast.Forecast
	Each     []Trained // each network, one for each seed
	Observed float64   // mean of Each
	Source   bool      // the forecast was made from a network of this code and training
}

// Reading is what reads the network.
func (p Pair) Reading() Reading { return Reading{p.Decoding.Decoder.Name(), p.Decoding.Soft} }

// Trained is the error of a network.
type Trained struct {
	observed.Error
	Seed int
}

// Inside is the number of networks that the interval holds for.
func (p Pair) Inside() (held int) {
	for _, v := range p.Each {
		if p.Lo <= v.Mean && v.Mean <= p.Hi {
			held++
		}
	}
	return held
}

// Result is a task with the forecasts from one network.
type Result struct {
	Task   Task
	Source Source
	Pairs  []Pair // the smallest forecast first

	Forecaster *forecast.Forecaster
}

// Forecast forecasts all codes and trainings of a task from the network named, and puts them beside
// the mean of the seeds that were trained.
func (s *Set) Forecast(ctx context.Context, workers int, t Task, source Source) (*Result, error) {
	codes, err := s.codes(t)
	if err != nil {
		return nil, err
	}
	f, err := s.forecaster(ctx, workers, t, source)
	if err != nil {
		return nil, err
	}
	all, err := f.Codes(ctx, workers, codes, nil)
	if err != nil {
		return nil, err
	}
	out := &Result{Task: t, Source: source, Forecaster: f}
	for _, x := range all {
		p := Pair{Forecast: x}
		if p.Each = s.errors(t, x.Code.Name(), x.Training, p.Reading()); len(p.Each) == 0 {
			continue
		}
		p.Observed = meanOf(p.Each)
		p.Source = source.Code == x.Code.Name() && source.Training == x.Training
		out.Pairs = append(out.Pairs, p)
	}
	return out, nil
}

// codes are those of a task, in the order of the table.
func (s *Set) codes(t Task) (out []*code.Code, err error) {
	for _, n := range s.Networks {
		if n.Task != t || slices.ContainsFunc(out, func(c *code.Code) bool { return c.Name() == n.Code }) {
			continue
		}
		c, err := forecast.OpenCode(n.Code, t.Levels)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// forecaster fits the network named.
func (s *Set) forecaster(ctx context.Context, workers int, t Task, source Source) (*forecast.Forecaster, error) {
	network, err := s.observed(t, source)
	if err != nil {
		return nil, err
	}
	prior := s.Prior(t)
	var labels *forecast.Labels
	if s.labels {
		labels = &forecast.Labels{Lo: 1, Hi: float64(t.Levels), Shares: prior}
	}
	nodes, err := forecast.NewNodes(perceived.ManyNodes, prior, labels, network.Code.Bits(), perceived.Seed)
	if err != nil {
		return nil, err
	}
	f, err := perceived.NewFit(ctx, workers, network, nodes, perceived.DefaultMisfit)
	if err != nil {
		return nil, err
	}
	out := forecast.New(f.Model, labels, prior, s.decoders())
	out.Tail, out.Trainings = f.Tail, s.trainings(t)
	out.Measure([]*perceived.Observed{network})
	return out, nil
}

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

// Unseen are the pairs without the sources, and without codes that have bits with more transitions.
func (r *Result) Unseen(transitions int) []Pair {
	return slices.DeleteFunc(slices.Clone(r.Pairs), func(p Pair) bool {
		return p.Source || forecast.MostTransitions(p.Code) > transitions
	})
}

// Any is more transitions than a bit can have.
const Any = math.MaxInt
