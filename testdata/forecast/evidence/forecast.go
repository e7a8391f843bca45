package evidence

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/montecarlo/forecast"
	"belsim/theory/code"
	"belsim/theory/decode"
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

// Off is forecast/observed − 1.
func (p Pair) Off() float64 { return p.Error/p.Observed - 1 }

// Result is a task with the forecasts from one network or several.
type Result struct {
	Task    Task
	Sources []Source
	Pairs   []Pair // the smallest forecast first

	Forecaster *forecast.Forecaster
}

// Codes lists the codes of a task, in the order of observed.csv.
func (s *Set) Codes(t Task) []string {
	var out []string
	for _, n := range s.Networks {
		if n.Task == t && !slices.Contains(out, n.Code) {
			out = append(out, n.Code)
		}
	}
	return out
}

// Forecast forecasts all codes and both trainings of a task from the networks named, the easiest
// first, and puts them beside the mean of the seeds that were trained.
func (s *Set) Forecast(ctx context.Context, workers int, t Task, sources ...Source) (*Result, error) {
	f, codes, err := s.Forecaster(ctx, workers, t, sources...)
	if err != nil {
		return nil, err
	}
	f.Trainings = s.trainings
	return result(ctx, workers, f, codes, t, sources, func(p Pair) []Trained {
		if !slices.Contains(s.readings(p.Code.Name(), p.Training), p.Reading()) {
			return nil
		}
		return s.errors(t, p.Code.Name(), p.Training, p.Reading())
	})
}

// result forecasts codes, and puts the forecasts beside the errors that each gives for them, where
// it gives some.
func result(ctx context.Context, workers int, f *forecast.Forecaster, codes []*code.Code, t Task, sources []Source,
	each func(Pair) []Trained) (*Result, error) {
	all, err := f.Codes(ctx, workers, codes, nil)
	if err != nil {
		return nil, err
	}
	out := &Result{Task: t, Sources: sources, Forecaster: f}
	for _, x := range all {
		p := Pair{Forecast: x}
		if p.Each = each(p); len(p.Each) == 0 {
			continue
		}
		for _, e := range p.Each {
			p.Observed += e.Mean / float64(len(p.Each))
		}
		p.Source = slices.ContainsFunc(sources, func(src Source) bool {
			return src.Code == x.Code.Name() &&
				src.Training == x.Training
		})
		out.Pairs = append(out.Pairs, p)
	}
	return out, nil
}

// Forecaster returns what forecasts from the networks named, and the codes of the task.
func (s *Set) Forecaster(ctx context.Context, workers int, t Task, sources ...Source) (*forecast.Forecaster,
	[]*code.Code, error) {
	var networks []*perceived.Observed
	var codes []*code.Code
	for _, name := range s.Codes(t) {
		c, err := forecast.OpenCode(name, t.Levels)
		if err != nil {
			return nil, nil, err
		}
		codes = append(codes, c)
	}
	for _, src := range sources {
		n, err := s.network(t, src)
		if err != nil {
			return nil, nil, err
		}
		networks = append(networks, n)
	}
	prior := s.Prior(t)
	var labels *forecast.Labels
	if s.labels {
		labels = &forecast.Labels{Lo: 1, Hi: float64(t.Levels), Shares: prior}
	}
	f, err := fit(ctx, workers, prior, labels, decoders(), networks)
	return f, codes, err
}

// fit returns the forecaster that fits the first network, whose errors are against real labels, or
// against levels where labels is nil.
func fit(ctx context.Context, workers int, prior []float64, labels *forecast.Labels, readers decode.Registry,
	networks []*perceived.Observed) (*forecast.Forecaster, error) {
	bits := 0
	for _, n := range networks {
		bits = max(bits, n.Code.Bits())
	}
	nodes, err := forecast.NewNodes(perceived.ManyNodes, prior, labels, bits, perceived.Seed)
	if err != nil {
		return nil, err
	}
	f, err := perceived.NewFit(ctx, workers, networks[0], nodes, perceived.DefaultMisfit)
	if err != nil {
		return nil, err
	}
	m := f.Model
	m.Cutoff = f.Cutoff.Value
	out := forecast.New(m, labels, prior, readers)
	out.Tail = f.Tail
	out.Measure(networks)
	return out, nil
}

// All returns the pairs of a training and a reading, the smallest forecast first.
func (r *Result) All(t perceived.Training, reading Reading) []Pair {
	var out []Pair
	for _, p := range r.Pairs {
		if p.Training == t && p.Reading() == reading {
			out = append(out, p)
		}
	}
	return out
}

// Select is All without the sources, and without codes that have bits with more transitions.
func (r *Result) Select(t perceived.Training, reading Reading, transitions int) []Pair {
	return slices.DeleteFunc(r.All(t, reading),
		func(p Pair) bool { return p.Source || forecast.MostTransitions(p.Code) > transitions })
}

// Any is more transitions than a bit can have.
const Any = math.MaxInt

// Score is how well forecasts agree with what was observed.
type Score struct {
	Codes           int
	Rank            float64 // Spearman's rank correlation
	Order           float64 // share of the pairs of codes in the right order, of those that differ by more than Tie
	Median, Largest float64 // of |forecast/observed − 1|
	Worst           Pair    // the one with the largest
}

// Tie is the difference, as a share of the smaller error, up to which two codes are equally good.
const Tie = 0.03

// Rate compares forecasts with what was observed.
func Rate(pairs []Pair) Score {
	s := Score{Codes: len(pairs)}
	var x, y, off []float64
	for _, p := range pairs {
		x, y, off = append(x, p.Error), append(y, p.Observed), append(off, math.Abs(p.Off()))
		if math.Abs(p.Off()) >= s.Largest {
			s.Largest, s.Worst = math.Abs(p.Off()), p
		}
	}
	right, all := 0, 0
	for i := range pairs {
		for j := range pairs {
			if y[j] > y[i]*(1+Tie) {
				all++
				if x[j] > x[i] {
					right++
				}
			}
		}
	}
	s.Rank, s.Order, s.Median = spearman(x, y), float64(right)/float64(all), median(off)
	return s
}

// Separated counts the pairs of codes, trainings and readings that the forecasts tell apart
// (forecast.Forecast.Below), and those of them that are observed in this order.
func (r *Result) Separated() (right, apart int) {
	for i, p := range r.Pairs {
		for _, q := range r.Pairs[i+1:] {
			if p.Below(q.Forecast) {
				apart++
				if p.Observed < q.Observed {
					right++
				}
			}
		}
	}
	return right, apart
}

// First returns the first pair, which has the smallest forecast, and its observed error over the
// smallest one that was observed.
func (r *Result) First() (p Pair, over float64) {
	best := math.Inf(1)
	for _, q := range r.Pairs {
		best = min(best, q.Observed)
	}
	p = r.Pairs[0]
	return p, p.Observed / best
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// spearman is the correlation of ranks; equal numbers share the mean of their ranks.
func spearman(x, y []float64) float64 { return stat.Correlation(ranks(x), ranks(y), nil) }

func ranks(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, a := range v {
		out[i] = 0.5
		for _, b := range v {
			switch {
			case b < a:
				out[i]++
			case b == a:
				out[i] += 0.5
			}
		}
	}
	return out
}
