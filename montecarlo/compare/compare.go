// Package compare ranks codes with decoders by their expected error.
package compare

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"belsim/errmodel"
	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/theory/base/parallel"
	"belsim/theory/base/refuse"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
	"belsim/theory/expect"
)

// Ranking ranks codes by their expected error: what compare writes as JSON.
type Ranking struct {
	Levels int `json:"levels"`
	scenario.Description
	Seed uint64 `json:"seed"`
	// relative standard error that is asked for where there is no exact value; 0 for a fixed number
	// of samples
	RelErr float64 `json:"rel_err"`
	// a row for each code and decoder, the smallest error first
	Results []Result `json:"results"`
	table.Provenance
}

// Result is what the answers of one code with one decoder cost, over the prior: by default |error|, in
// levels.
type Result struct {
	scenario.Design
	code.Separation
	expect.Expected
	// no code of as many bits, of which none has more transitions, and no decoder of bits is below
	// it; null for logits, where there is none, and where it takes more than about a second
	Limit  float64 `json:"limit"`
	Mean   float64 `json:"mean" text:"sampled"`
	StdErr float64 `json:"stderr"`
	// root of the mean squared error; exact where a formula gives exact, else sampled
	RMS float64 `json:"rms" text:"RMS"`
	// level, from 1, with the largest mean: exact where every level has an exact one, else
	// sampled
	WorstLevel int     `json:"worst_level"`
	WorstMean  float64 `json:"worst_mean"`
	// standard error of worst_mean; 0 where it is exact
	WorstErr float64 `json:"worst_stderr"`
	Samples  uint64  `json:"samples"`
	// there is no exact value, and sampling ended before stderr was rel_err of mean
	Capped bool `json:"capped"`
	// the error is not told apart from the first row's: by 1.96 standard errors, or 1e-5 of exact
	// values
	Tie bool `json:"tie"`
	// why the error model is invalid for this code, whose errors are null then; missing elsewhere
	Invalid string `json:"invalid,omitempty"`

	ExactRMS       bool `json:"-"` // RMS is exact
	MaxTransitions int  `json:"-"`
	LimitLater     bool `json:"-"` // the limit takes long, and was left out
}

// Best is the best figure for the error: the exact one where it exists.
func (r Result) Best() float64 { v, _ := r.best(); return v }

// best is Best with its standard error.
func (r Result) best() (v, stderr float64) {
	if !table.Missing(r.Exact) {
		return r.Exact, 0
	}
	return r.Mean, r.StdErr
}

// Candidates are what a comparison compares.
type Candidates struct {
	Problems []*montecarlo.Problem
	Invalid  []InvalidCode // codes that are set aside
	Skip     expect.Skip   // what is left out of the results
}

// InvalidCode is a code for which the error model gives a probability above 1.
type InvalidCode struct {
	Code *code.Code
	Err  error // errmodel.Invalid(Err)
}

// NewCandidates pairs codes with the named decoders that fit them, under the scenario's model.
// One decoder must fit every code; of several, each must fit one code, and each code must
// have one. Codes for which the model is invalid are set aside; where it is so for all of them,
// the error is the first one's.
func NewCandidates(ctx context.Context, s *scenario.Scenario, codes []*code.Code, decoders []string,
	draw montecarlo.Sampling) (*Candidates, error) {
	if err := refuse.Twice("decoder", decoders); err != nil {
		return nil, err
	}
	pairs, err := s.Pair(codes, decoders)
	if err != nil {
		return nil, err
	}
	for _, pair := range pairs {
		if len(pair.Decoders) == 0 {
			return nil, pair.Why
		}
	}
	out := &Candidates{}
	for _, pair := range pairs {
		e, err := s.Model.Errors(ctx, pair.Code)
		if errmodel.Invalid(err) {
			out.Invalid = append(out.Invalid, InvalidCode{pair.Code, err})
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, d := range pair.Decoders {
			p, err := s.ProblemOf(pair.Code, d, e)
			if err != nil {
				return nil, err
			}
			out.Problems = append(out.Problems, draw.Of(p))
		}
	}
	if len(out.Problems) == 0 && len(out.Invalid) > 0 {
		return nil, out.Invalid[0].Err
	}
	return out, nil
}

// Rank computes the error of every candidate, of one or more of the same number of levels, and
// ranks them: the smallest first, then codes that networks learn worse than the model says, and
// codes for which the model is invalid at the end.
func Rank(ctx context.Context, s *scenario.Scenario, run montecarlo.Run, candidates *Candidates,
	draw montecarlo.Sampling) (*Ranking, error) {
	weights, err := s.Weights(candidates.Problems[0].Code.Levels())
	if err != nil {
		return nil, err
	}
	out := &Ranking{Levels: len(weights), Description: s.Description(), Seed: draw.Seed, RelErr: draw.RelErr}
	for _, p := range candidates.Problems {
		t, err := expect.Of(ctx, run.Workers, p.Expected(), weights, candidates.Skip)
		if err != nil {
			return nil, err
		}
		row, done := Result{Design: s.Design(p.Code, p.Decoder), Expected: t.Mean, RMS: t.RMS,
			ExactRMS: !math.IsNaN(t.RMS)}, run.Done
		if draw.RelErr > 0 { // nobody knows how many samples that takes
			done = nil
		}
		sums, reached, err := montecarlo.Estimate(ctx, run.Backend, p, draw.CheckingExact(row.Exact), weights, done)
		if err != nil {
			return nil, err
		}
		if draw.RelErr > 0 {
			run.Finished(1)
		}
		if row.Separation, err = p.Code.Separation(ctx, run.Workers); err != nil {
			return nil, err
		}
		o := montecarlo.Average(weights, sums)
		row.Mean, row.StdErr, row.Samples = o.Mean, o.StdErr, o.Samples
		if !row.ExactRMS {
			row.RMS = o.RMS
		}
		row.Capped = !reached && table.Missing(row.Exact)
		row.worst(t.Levels, weights, o, sums)
		out.Results = append(out.Results, row)
	}
	if err := out.limits(ctx, s, run.Workers, candidates); err != nil {
		return nil, err
	}
	out.rank()
	for i := 1; i < len(out.Results); i++ {
		out.Results[i].Tie = tied(out.Results[0], out.Results[i])
	}
	out.addInvalid(candidates.Invalid)
	return out, nil
}

// quickLevels is the largest number of levels for which limits are computed where slow values are left out.
const quickLevels = 64

// limits computes the limit of each row, in the order of the problems.
func (c *Ranking) limits(ctx context.Context, s *scenario.Scenario, workers int, of *Candidates) error {
	type size struct{ bits, transitions int }
	rows := map[size][]*Result{}
	for i, p := range of.Problems {
		row := &c.Results[i]
		row.Limit, row.LimitLater = math.NaN(), of.Skip.Slow && c.Levels > quickLevels && !of.Skip.Limit
		if of.Skip.Limit || row.LimitLater || row.Outputs != decode.Bits || p.Code.Circular() {
			continue
		}
		var err error
		if row.MaxTransitions, err = p.Code.MaxTransitions(ctx); err != nil {
			return err
		}
		of := size{p.Code.Bits(), row.MaxTransitions}
		rows[of] = append(rows[of], row)
	}
	sizes := slices.Collect(maps.Keys(rows))
	return parallel.Each(ctx, workers, len(sizes), func() (func(context.Context, int) error, error) {
		return func(ctx context.Context, i int) error {
			v, err := s.Limit(ctx, c.Levels, sizes[i].bits, sizes[i].transitions, false, of.Skip.Slow)
			for _, row := range rows[sizes[i]] {
				row.Limit = v
			}
			return err
		}, nil
	})
}

// rank puts the smallest error first, and codes that networks learn badly last.
func (c *Ranking) rank() {
	slices.SortStableFunc(c.Results, func(a, b Result) int {
		if x, y := c.Unlearned(a), c.Unlearned(b); x != y {
			if x {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.Best(), b.Best())
	})
}

// tied reports whether the errors of two rows are not told apart.
func tied(a, b Result) bool {
	x, xErr := a.best()
	y, yErr := b.best()
	return math.Abs(x-y) <= max(errmodel.Errors95*math.Hypot(xErr, yErr), expect.ExactWidth*math.Abs(x))
}

// worst fills in the worst level: by exact values where all levels have some, or else by samples.
func (r *Result) worst(th []expect.Level, weights []float64, o montecarlo.Overall, sums []montecarlo.Sums) {
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

// addInvalid adds a row for each code for which the error model is invalid, at the end.
func (c *Ranking) addInvalid(codes []InvalidCode) {
	for _, i := range codes {
		none := math.NaN()
		c.Results = append(c.Results, Result{
			Design: scenario.Design{Levels: i.Code.Levels(), Code: i.Code.Name(), Bits: i.Code.Bits(),
				Transitions: i.Code.TransitionsPerBit()},
			Expected: expect.Expected{Bound: none, Exact: none}, Mean: none, StdErr: none,
			Limit: none, RMS: none, WorstMean: none, WorstErr: none, Invalid: i.Err.Error(),
		})
	}
}

// Valid is the comparison without the codes for which the error model is invalid.
func (c *Ranking) Valid() *Ranking {
	v := *c
	v.Results = slices.DeleteFunc(slices.Clone(c.Results), Result.isInvalid)
	return &v
}

// Missing are the columns of what this comparison does not have.
func (c *Ranking) Missing() []string {
	if c.has(Result.isInvalid) {
		return nil
	}
	return []string{"invalid"}
}
