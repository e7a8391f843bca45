package scenario

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"belsim/montecarlo"
	"belsim/theory/base/table"
	"belsim/theory/decode"
)

// BayesRisk is the least mean |error| that a decoder of some outputs can have, that of the median
// of the posterior of the level, given the outputs, the error model and the prior of the labels.
type BayesRisk struct {
	Least       *table.Number `json:"least,omitempty" doc:"least mean |error| of all decoders of the row's outputs, in levels: of the median of the posterior, exact where the decoder's value would be, else sampled; null where the code holds real numbers; missing without --least"`
	LeastStdErr *table.Number `json:"least_stderr,omitempty" doc:"standard error of least, in levels; 0 where it is exact"`
	Above       *table.Number `json:"above_least_percent,omitempty" doc:"how far the decoder's error, exact or else mean, is above least: 100·(error − least)/least; null where least is 0"`
}

// CompareWithBayesRisk is Compare, and computes the Bayes risk of every candidate's outputs. It is
// exact where all outputs can be enumerated, and else sampled as the candidate is. The error says
// that the scenario's bits err together, or that its labels are not levels: the posterior is not
// known there.
func (s *Scenario) CompareWithBayesRisk(ctx context.Context, run Run, candidates []*montecarlo.Problem, weights []float64, draw Sampling) (*Comparison, error) {
	if s.SharedNoise > 0 {
		return nil, fmt.Errorf("the least error is for bits that err independently; want a shared noise of 0, and not %v", s.SharedNoise)
	}
	if s.Labels == Continuous {
		return nil, errors.New("the least error is for labels that are levels, and not for continuous labels")
	}
	return s.compare(ctx, run, candidates, weights, draw, newBayesRisks())
}

// bayesRisks computes Bayes risks, each once.
type bayesRisks struct {
	known map[outputsOfCode]bayesRisk
}

// outputsOfCode are the outputs of a code.
type outputsOfCode struct {
	errors any // the table of error probabilities, which candidates of one code share
	hard   bool
}

type bayesRisk struct {
	mean, stderr float64
	reached      bool
}

func newBayesRisks() *bayesRisks { return &bayesRisks{map[outputsOfCode]bayesRisk{}} }

// of returns the Bayes risk of the outputs of a problem, whose own result is own.
func (l *bayesRisks) of(ctx context.Context, run Run, p *montecarlo.Problem, own CodeResult, weights []float64, draw Sampling) (out BayesRisk, reached bool, err error) {
	if p.Code.Real() {
		missing := table.Missing()
		return BayesRisk{&missing, &missing, &missing}, true, nil
	}
	hard := p.Latent == nil || p.Latent.Hard
	key := outputsOfCode{p.Errors, hard}
	cached := reflect.ValueOf(p.Errors).Comparable()
	var e bayesRisk
	ok := false
	if cached {
		e, ok = l.known[key]
	}
	if !ok {
		if e, err = bayesRiskOf(ctx, run, p, own, hard, weights, draw); err != nil {
			return BayesRisk{}, false, err
		}
		if cached {
			l.known[key] = e
		}
	}
	least, stderr, above := table.Number(e.mean), table.Number(e.stderr), Increase(own.Best(), e.mean)
	return BayesRisk{&least, &stderr, &above}, e.reached, nil
}

func bayesRiskOf(ctx context.Context, run Run, p *montecarlo.Problem, own CodeResult, hard bool, weights []float64, draw Sampling) (bayesRisk, error) {
	median, err := decode.NewPosterior(decode.Median, p.Code, decode.Model{})
	if err != nil {
		return bayesRisk{}, err
	}
	d, err := inform(median, weights, p.Errors, !hard)
	if err != nil {
		return bayesRisk{}, err
	}
	q := *p
	q.Decoder = d
	if q.Latent != nil && hard && q.Latent.Perceived == nil {
		q.Latent = nil // which is for decoders that answer with real numbers
	}
	if own.Decoder == d.Name() { // it is the candidate itself
		if !own.Exact.IsMissing() {
			return bayesRisk{mean: float64(own.Exact), reached: true}, nil
		}
		return bayesRisk{float64(own.Mean), float64(own.StdErr), true}, nil
	}
	_, exact, err := AverageTheory(ctx, run.Workers, &q, weights)
	if err != nil {
		return bayesRisk{}, err
	}
	if !exact.IsMissing() {
		return bayesRisk{mean: float64(exact), reached: true}, nil
	}
	sums, reached, err := montecarlo.Estimate(ctx, run.Backend, &q, draw.Target(weights, false), run.Done)
	if err != nil {
		return bayesRisk{}, err
	}
	o := montecarlo.Average(weights, sums)
	return bayesRisk{o.Mean, o.StdErr, reached}, nil
}
