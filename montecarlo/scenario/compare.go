package scenario

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"belsim/errmodel/perceived"
	"belsim/montecarlo"
	"belsim/theory/base/table"
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
	// Set by AddBaselines.
	Baselines []Baseline `json:"baselines" doc:"errors of no code, in levels; empty where true labels are levels and no error of direct regression is given"`
	Provenance

	Reached bool `json:"-"` // every standard error has the relative size that was asked for
}

// CodeResult is the |error| of one code with one decoder, in levels, over the prior.
type CodeResult struct {
	Code        string  `json:"code" text:"code" doc:"name of the code, or its file"`
	Bits        int     `json:"bits" text:"bits" doc:"number of bits M"`
	Transitions float64 `json:"transitions" text:"transitions" doc:"mean number of transitions of a bit; networks learn bits with more than 8 badly"`
	Decoder     string  `json:"decoder" text:"decoder" doc:"name of the decoder"`
	Bound       float64 `json:"bound" text:"bound" doc:"upper bound of the mean |error|, in levels; null where there is none"`
	Exact       float64 `json:"exact" text:"exact" doc:"exact mean |error|, in levels; null where there is none"`
	exactFields
	Mean       float64 `json:"mean" text:"sampled" doc:"sampled mean |error|, in levels"`
	StdErr     float64 `json:"stderr" text:"± s.e." doc:"standard error of mean, in levels"`
	RMS        float64 `json:"rms" text:"RMS" doc:"root of the sampled mean squared error, in levels"`
	Within     float64 `json:"within" doc:"share of the samples whose |error| is at most within_levels"`
	WorstLevel int     `json:"worst_level" doc:"level, from 1, with the largest mean |error|: the exact one where every level has one, or else the sampled one"`
	WorstMean  float64 `json:"worst_mean" doc:"mean |error| of worst_level, in levels; a sampled one is too large, as the largest of many"`
	WorstErr   float64 `json:"worst_stderr" doc:"standard error of worst_mean, in levels; 0 where it is exact"`
	Samples    uint64  `json:"samples" doc:"samples of all levels together"`
	Outputs    Outputs `json:"outputs" doc:"what the decoder reads: bits or logits"`
	Tie        bool    `json:"tie" doc:"the error is as small as the first row's, up to standard errors: 1.96 of their difference, or a part of 1e-5 of exact values"`
	Invalid    string  `json:"invalid,omitempty" doc:"why the error model is invalid for this code, whose errors are null then; missing elsewhere"`
	BaselineColumns

	// Of networks that know a perceived label.
	Training perceived.Training `json:"training,omitempty" doc:"bits: each bit of the network was trained by itself; decoder: all together; missing in other error models"`
	Forecast *float64           `json:"forecast,omitempty" doc:"the mean |error| to expect of a network that is trained with this code, in levels: exact, or else mean, which a training for the decoder multiplies by 0.955 to 1.005 (real ones are so much better than the model); missing in other error models"`
}

// Best is the best figure for the error: the exact one where it exists.
func (r CodeResult) Best() float64 {
	if !table.Missing(r.Exact) {
		return r.Exact
	}
	return r.Mean
}

// stdErr is the standard error of Best.
func (r CodeResult) stdErr() float64 {
	if !table.Missing(r.Exact) {
		return 0
	}
	return r.StdErr
}

// InvalidCode is a code for which the error model gives a probability above 1.
type InvalidCode struct {
	Code *code.Code
	Err  error // Invalid(Err)
}

// DefaultDecoder is the decoder of a comparison where nobody names one.
const DefaultDecoder = "gen"

// Candidates pairs codes with the named decoders that fit them, under the scenario's model.
// One decoder must fit every code; of several, each must fit one code, and each code must
// have one. Codes for which the model is invalid are set aside; where it is so for all of them,
// the error is the first one's.
func (s *Scenario) Candidates(ctx context.Context, codes []*code.Code, decoders []string, draw Sampling) ([]*montecarlo.Problem, []InvalidCode, error) {
	if err := checkTwice(decoders); err != nil {
		return nil, nil, err
	}
	var out []*montecarlo.Problem
	var invalid []InvalidCode
	fits := make([]bool, len(decoders))
codes:
	for _, c := range codes {
		e, err := s.Errors(ctx, c)
		if Invalid(err) {
			invalid = append(invalid, InvalidCode{c, err})
			continue
		}
		if err != nil {
			return nil, nil, err
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
				return nil, nil, err
			}
			p, err := s.ProblemOf(ctx, c, d, e, draw)
			if Invalid(err) { // between levels, and so with every decoder
				invalid = append(invalid, InvalidCode{c, err})
				continue codes
			}
			if err != nil {
				return nil, nil, err
			}
			fits[i] = true
			out = append(out, p)
		}
		if len(out) == before {
			return nil, nil, unfit
		}
	}
	if len(out) == 0 && len(invalid) > 0 {
		return nil, nil, invalid[0].Err
	}
	return out, invalid, unfitting(decoders, fits)
}

// checkTwice refuses a decoder that is named twice.
func checkTwice(decoders []string) error {
	for i, name := range decoders {
		if slices.Contains(decoders[:i], name) {
			return fmt.Errorf("decoder %s is given twice", name)
		}
	}
	return nil
}

// checkDecoders refuses decoders as Candidates does, where the model is valid for every code.
func (s *Scenario) checkDecoders(codes []*code.Code, decoders []string) error {
	if err := checkTwice(decoders); err != nil {
		return err
	}
	fits := make([]bool, len(decoders))
	for _, c := range codes {
		var unfit error
		some := false
		for i, name := range decoders {
			_, err := s.Decoder(name, c)
			switch {
			case err == nil:
				fits[i], some = true, true
			case errors.Is(err, decode.ErrUnfit):
				unfit = err
			default:
				return err
			}
		}
		if !some {
			return unfit
		}
	}
	return unfitting(decoders, fits)
}

// unfitting refuses decoders of which none of the codes has one.
func unfitting(decoders []string, fits []bool) error {
	for i, ok := range fits {
		if !ok {
			return fmt.Errorf("%w: decoder %s fits none of the codes", decode.ErrUnfit, decoders[i])
		}
	}
	return nil
}

// Compare computes the error of every candidate, over the weights of its labels, and ranks
// them: the smallest first.
func (s *Scenario) Compare(ctx context.Context, run Run, candidates []*montecarlo.Problem, weights []float64, draw Sampling) (*Comparison, error) {
	out := &Comparison{
		Levels: len(weights), Description: s.Description(), Seed: draw.Seed, Within: draw.Within, Reached: true, Baselines: []Baseline{},
	}
	for _, p := range candidates {
		th, err := Theory(ctx, run.Workers, p)
		if err != nil {
			return nil, err
		}
		sums, reached, err := montecarlo.Estimate(ctx, run.Backend, p, draw.Target(weights, false), run.Done)
		if err != nil {
			return nil, err
		}
		bound, exact, interval, err := averages(ctx, run.Workers, p, weights, th)
		if err != nil {
			return nil, err
		}
		o := montecarlo.Average(weights, sums)
		out.Reached = out.Reached && reached
		row := CodeResult{
			Code: p.Code.Name(), Bits: p.Code.Bits(), Transitions: p.Code.TransitionsPerBit(), Decoder: p.Decoder.Name(), Outputs: s.outputsIn(p),
			Bound: bound, Exact: exact, exactFields: interval,
			Mean: o.Mean, StdErr: o.StdErr, RMS: o.RMS, Within: o.Within, Samples: o.Samples,
		}
		row.worst(th, weights, o, sums)
		out.Results = append(out.Results, row)
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
	for i := 1; i < len(out.Results); i++ {
		out.Results[i].Tie = tied(out.Results[0], out.Results[i])
	}
	return out, nil
}

// tied reports whether the errors of two rows are not told apart.
func tied(a, b CodeResult) bool {
	difference := math.Abs(a.Best() - b.Best())
	return difference <= max(1.96*math.Hypot(a.stdErr(), b.stdErr()), ExactWidth*math.Abs(a.Best()))
}

// worst fills in the worst level: by exact values where all levels have some, or else by samples.
func (r *CodeResult) worst(th []montecarlo.Theory, weights []float64, o montecarlo.Overall, sums []montecarlo.Sums) {
	level, most := 0, math.Inf(-1)
	for i, t := range th {
		if weights[i] == 0 {
			continue
		}
		if math.IsNaN(t.Mean) {
			level = 0
			break
		}
		if t.Mean > most {
			level, most = i+1, t.Mean
		}
	}
	if level > 0 {
		r.WorstLevel, r.WorstMean = level, most
		return
	}
	r.WorstLevel, r.WorstMean = o.WorstLevel, o.WorstMean
	if o.WorstLevel > 0 {
		r.WorstErr = sums[o.WorstLevel-1].StdErr()
	}
}

// AddInvalid adds a row for each code for which the error model is invalid, at the end.
func (c *Comparison) AddInvalid(codes []InvalidCode) {
	for _, i := range codes {
		none := math.NaN()
		c.Results = append(c.Results, CodeResult{
			Code: i.Code.Name(), Bits: i.Code.Bits(), Transitions: i.Code.TransitionsPerBit(), Bound: none, Exact: none, Mean: none, StdErr: none,
			RMS: none, Within: none, WorstMean: none, WorstErr: none, Invalid: i.Err.Error(),
		})
	}
}

// Valid is the comparison without the codes for which the error model is invalid.
func (c *Comparison) Valid() *Comparison {
	v := *c
	v.Results = slices.DeleteFunc(slices.Clone(c.Results), func(r CodeResult) bool { return r.Invalid != "" })
	return &v
}

// outputsIn returns the outputs that the decoder of a problem reads.
func (s *Scenario) outputsIn(p *montecarlo.Problem) Outputs {
	if l, ok := p.Errors.(*perceived.Network); ok { // the candidates of a comparison may differ
		return s.With(Perceived{Model: l.Model()}).OutputsOf(p.Code, p.Decoder)
	}
	return s.OutputsOf(p.Code, p.Decoder)
}

// Expect fills in Training and Forecast: what to expect of a network that is trained with the code.
func (r *CodeResult) Expect(c *code.Code, t perceived.Training) {
	best := r.Best()
	if t == perceived.ForDecoder {
		best *= perceived.DecoderFactor(c)
	}
	r.Training, r.Forecast = t, &best
}

// forecast fills in what the results of networks that know a perceived label have besides.
func forecast(results []CodeResult, candidates []*montecarlo.Problem) {
	for i, p := range candidates {
		if l, ok := p.Errors.(*perceived.Network); ok {
			results[i].Expect(p.Code, l.Model().Training)
		}
	}
}
