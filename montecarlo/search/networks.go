package search

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"belsim/errmodel/forecast"
	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/errmodel/scenario"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// defaultsOf returns the decoder, what it reads and the length of a search; n is nil without networks.
// Steps with networks that learn take longer; with these numbers, a search for 64 levels and 16 to
// 32 bits takes less than a minute on two processors. Of these networks the decoder reads logits:
// hard decisions are a little off a code word now and then, and found codes may have words of far
// levels there (testdata/optimize has an example).
func defaultsOf(n *scenario.Network) (decoder string, reads decode.Outputs, steps uint64) {
	switch {
	case n == nil:
		return "gen", decode.AutoOutputs, DefaultSteps
	case n.Training.Joint():
		return "gen-ex", decode.Logits, 3000
	}
	return "gen", decode.Logits, 8000
}

// learn makes the codes of a search those of networks. A column without a transition carries nothing,
// and costs trained networks more than the model says: there is none.
func (p *Optimizer) learn(o *Options) {
	s, m := &p.scenario, p.scenario.Network
	labels := forecast.Labels{Lo: 1, Hi: float64(o.Levels), Shares: o.Prior, OnLevels: m.Within == 0}
	f := forecast.New(m.Model, &labels, labels.Prior(o.Levels), s.Decoders)
	f.Options.Temperature = s.Temperature
	if m.Training.ThroughGenEx() {
		f.Trainings = []perceived.Training{perceived.BCE, perceived.CE, m.Training}
	}
	p.Forecaster, p.training = f, m.Training
	o.Prior, o.MinTransitions, o.Objective = f.Prior, 1, p.learnt
}

// nodesPerSample is the number of quadrature nodes of a forecast for each of the samples of a level
// that the other evaluators take.
const nodesPerSample = 4

// learnt computes the errors of codes as networks learn them.
func (p *Optimizer) learnt(bits, samples int, seed uint64) (func(context.Context, *code.Code) (float64, error),
	error) {
	f := p.Forecaster
	m := f.Model
	m.Training = p.training
	learner, err := m.NewLearner(1, f.Prior)
	nodes, err2 := forecast.NewNodes(samples*nodesPerSample, f.Prior, f.Labels, bits, seed)
	return func(ctx context.Context, c *code.Code) (float64, error) {
		network, err := learner.Learn(ctx, c)
		if err != nil {
			return 0, err
		}
		d, err := p.reads(c)
		if err != nil {
			return 0, err
		}
		out, err := nodes.Errors(ctx, 1, network, []observed.Decoding{d})
		if err != nil {
			return 0, err
		}
		return out[0], nil
	}, errors.Join(err, err2)
}

// reads returns the decoder of a code of networks, and whether it reads logits.
func (p *Optimizer) reads(c *code.Code) (observed.Decoding, error) {
	d, err := p.scenario.Decoder(p.decoder, c)
	return observed.Decoding{Decoder: d, Soft: err == nil && p.scenario.OutputsOf(c, d) == decode.Logits}, err
}

// forecastOf is the estimate of networks.
func forecastOf(x *forecast.Forecast) Estimate {
	return Estimate{x.Error, math.NaN(), math.NaN(), &[2]float64{x.Lo, x.Hi}, x, 0}
}

// forecasts are those of networks of a code, the smallest first, without soft targets, which help
// all codes alike.
func (p *Optimizer) forecasts(ctx context.Context, c *code.Code) ([]forecast.Forecast, error) {
	all, err := p.Forecaster.Codes(ctx, p.Options.Workers, []*code.Code{c}, nil)
	return slices.DeleteFunc(all, func(x forecast.Forecast) bool { return x.Training == perceived.Soft }), err
}

// beside forecasts networks of a code that was found, and puts them beside those of the baselines.
func (p *Optimizer) beside(ctx context.Context, out *Optimized, c *code.Code) error {
	all, err := p.forecasts(ctx, c.As("found"))
	if err != nil {
		return err
	}
	found := all[0]
	all = append(all, p.networks...)
	slices.SortStableFunc(all, func(a, b forecast.Forecast) int { return cmp.Compare(a.Error, b.Error) })
	out.Ranking = forecast.Rows(all, 1)
	forecast.RelateTo(out.Ranking, all, found)
	out.Ranking = slices.DeleteFunc(out.Ranking, func(r forecast.Row) bool { return !r.Best })
	if out.Estimate = forecastOf(&found); len(out.Baselines) > 0 {
		ratio, interval, better := found.Over(*out.Baselines[0].forecast)
		out.Improvement, out.ImprovementCI, out.Better = 100*(1-ratio), [2]float64{100 * (1 - interval[1]),
			100 * (1 - interval[0])}, &better
	}
	return nil
}
