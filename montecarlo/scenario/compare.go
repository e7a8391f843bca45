package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/montecarlo/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Comparison ranks codes by their expected error: what compare writes as JSON.
type Comparison struct {
	Levels int `json:"levels" doc:"number of levels L of all codes"`
	Description
	Seed    uint64       `json:"seed" doc:"seed of the random numbers"`
	Within  int          `json:"within_levels" doc:"θ: errors of at most θ levels count as within"`
	Results []CodeResult `json:"results" doc:"a row for each code and decoder, the smallest error first"`
	Provenance

	Reached bool `json:"-"` // every standard error has the relative size that was asked for
}

// CodeResult is the |error| of one code with one decoder, in levels, over the prior.
type CodeResult struct {
	Code       string       `json:"code" text:"code" doc:"name of the code, or its file"`
	Bits       int          `json:"bits" text:"bits" doc:"number of bits M"`
	Decoder    string       `json:"decoder" text:"decoder" doc:"name of the decoder"`
	Bound      table.Number `json:"bound" text:"bound" doc:"upper bound of the mean |error|, in levels; null where there is none"`
	Exact      table.Number `json:"exact" text:"exact" doc:"exact mean |error|, in levels; null where there is none"`
	Mean       table.Number `json:"mean" text:"sampled" doc:"sampled mean |error|, in levels"`
	StdErr     table.Number `json:"stderr" text:"± s.e." doc:"standard error of mean, in levels"`
	RMS        table.Number `json:"rms" text:"RMS" doc:"root of the sampled mean squared error, in levels"`
	Within     table.Number `json:"within" doc:"share of the samples whose |error| is at most within_levels"`
	WorstLevel int          `json:"worst_level" doc:"level, from 1, with the largest sampled mean |error|"`
	WorstMean  table.Number `json:"worst_mean" doc:"sampled mean |error| of worst_level, in levels"`
	Samples    uint64       `json:"samples" doc:"samples of all levels together"`
	Outputs    Outputs      `json:"outputs" doc:"what the decoder reads: bits or logits"`

	// Of networks that know a perceived label.
	Training errmodel.Training `json:"training,omitempty" doc:"bits: each bit of the network was trained by itself; decoder: all together; missing in other error models"`
	Forecast *table.Number     `json:"forecast,omitempty" doc:"the mean |error| to expect of a network that is trained with this code, in levels: exact, or else mean; missing in other error models"`
}

// Best is the best figure for the error: the exact one where it exists.
func (r CodeResult) Best() float64 {
	if !r.Exact.IsMissing() {
		return float64(r.Exact)
	}
	return float64(r.Mean)
}

// Candidates pairs codes with the named decoders that fit them, under the scenario's model.
// One decoder must fit every code; of several, each must fit one code, and each code must
// have one.
func (s *Scenario) Candidates(ctx context.Context, codes []*code.Code, decoders []string, draw Sampling) ([]*montecarlo.Problem, error) {
	for i, name := range decoders {
		if slices.Contains(decoders[:i], name) {
			return nil, fmt.Errorf("--decoder %s is given twice", name)
		}
	}
	var out []*montecarlo.Problem
	fits := make([]bool, len(decoders))
	for _, c := range codes {
		e, err := s.Errors(ctx, c)
		if err != nil {
			return nil, err
		}
		before := len(out)
		var unfit error
		for i, name := range decoders {
			d, err := s.Decoder(name, c)
			if errors.Is(err, decode.ErrUnfit) {
				unfit = err
				continue
			}
			if err != nil {
				return nil, err
			}
			p, err := s.ProblemOf(ctx, c, d, e, draw)
			if err != nil {
				return nil, err
			}
			fits[i] = true
			out = append(out, p)
		}
		if len(out) == before {
			return nil, unfit
		}
	}
	for i, ok := range fits {
		if !ok {
			return nil, fmt.Errorf("%w: --decoder %s fits none of the codes", decode.ErrUnfit, decoders[i])
		}
	}
	return out, nil
}

// Compare computes the error of every candidate, over the weights of its labels, and ranks
// them: the smallest first.
func (s *Scenario) Compare(ctx context.Context, run Run, candidates []*montecarlo.Problem, weights []float64, draw Sampling) (*Comparison, error) {
	out := &Comparison{
		Levels: len(weights), Description: s.Description(), Seed: draw.Seed, Within: draw.Within, Reached: true,
	}
	for _, p := range candidates {
		bound, exact, err := AverageTheory(ctx, run.Workers, p, weights)
		if err != nil {
			return nil, err
		}
		sums, reached, err := montecarlo.Estimate(ctx, run.Backend, p, draw.Target(weights, false), run.Done)
		if err != nil {
			return nil, err
		}
		out.Reached = out.Reached && reached
		o := montecarlo.Average(weights, sums)
		out.Results = append(out.Results, CodeResult{
			Code: p.Code.Name(), Bits: p.Code.Bits(), Decoder: p.Decoder.Name(), Outputs: s.outputsIn(p),
			Bound: bound, Exact: exact,
			Mean: table.Number(o.Mean), StdErr: table.Number(o.StdErr), RMS: table.Number(o.RMS), Within: table.Number(o.Within),
			WorstLevel: o.WorstLevel, WorstMean: table.Number(o.WorstMean), Samples: o.Samples,
		})
	}
	forecast(out.Results, candidates)
	slices.SortStableFunc(out.Results, func(a, b CodeResult) int {
		switch {
		case a.Best() < b.Best():
			return -1
		case a.Best() > b.Best():
			return 1
		}
		return 0
	})
	return out, nil
}

// outputsIn returns the outputs that the decoder of a problem reads.
func (s *Scenario) outputsIn(p *montecarlo.Problem) Outputs {
	if l, ok := p.Errors.(*errmodel.Learned); ok { // the candidates of a comparison may differ
		return s.With(Perceived{Perceived: l.Model()}).OutputsOf(p.Code, p.Decoder)
	}
	return s.OutputsOf(p.Code, p.Decoder)
}

// forecast fills in what the results of networks that know a perceived label have besides.
func forecast(results []CodeResult, candidates []*montecarlo.Problem) {
	for i, p := range candidates {
		if l, ok := p.Errors.(*errmodel.Learned); ok {
			best := table.Number(results[i].Best())
			results[i].Training, results[i].Forecast = l.Model().Training, &best
		}
	}
}
