package scenario

import (
	"context"

	"belsim/montecarlo"
	"belsim/montecarlo/table"
	"belsim/theory/decode"
)

// FalseAlarms is the probability that Verify finds a failure although theory is right.
const FalseAlarms = 1e-6

// Verification compares samples of a code with theory, level by level: what verify writes as
// JSON.
type Verification struct {
	Pass     bool     `json:"pass" doc:"no sampled mean contradicts theory"`
	Failures []string `json:"failures" doc:"a sentence for each contradiction"`
	Code     string   `json:"code" doc:"name of the code, or its file"`
	Levels   int      `json:"levels" doc:"number of levels L"`
	Bits     int      `json:"bits" doc:"number of bits M"`
	Decoder  string   `json:"decoder" doc:"name of the decoder"`
	Outputs  Outputs  `json:"outputs" doc:"what the decoder reads: bits or logits"`
	Description
	Seed    uint64        `json:"seed" doc:"seed of the random numbers"`
	Alpha   float64       `json:"false_alarm_rate" doc:"probability of a failure although theory is right"`
	Overall LevelResult   `json:"overall" doc:"the mean over the prior"`
	Labels  []LevelResult `json:"labels" doc:"a row for each level"`
	Provenance

	Bound   string `json:"-"` // name of the bound; "" where there is none
	Reached bool   `json:"-"` // every standard error has the relative size that was asked for
}

// LevelResult is the |error| of one level, or of all, in levels.
type LevelResult struct {
	Level   int          `json:"level,omitempty" text:"level" doc:"level, from 1; overall has none"`
	Bound   table.Number `json:"bound" text:"bound" doc:"upper bound of the mean |error|, in levels; null where there is none"`
	Exact   table.Number `json:"exact" text:"exact" doc:"exact mean |error|, in levels; null where there is none"`
	Mean    table.Number `json:"mean" text:"sampled" doc:"sampled mean |error|, in levels"`
	StdErr  table.Number `json:"stderr" text:"± s.e." doc:"standard error of mean, in levels"`
	Samples uint64       `json:"samples" text:"samples" doc:"samples of the level"`

	SumAbs    uint64 `json:"-" csv:"sum_abs" doc:"sum of |error| over the samples (CSV only)"`
	SumSquare uint64 `json:"-" csv:"sum_square" doc:"sum of the squares of the errors (CSV only)"`
	SumWithin uint64 `json:"-" csv:"sum_within" doc:"samples whose |error| is at most θ (CSV only)"`
}

// Verify samples a problem and checks every mean against theory, which Theory computes: none
// may exceed its bound or differ from its exact value by more than chance allows
// (montecarlo.Verify).
func (s *Scenario) Verify(ctx context.Context, run Run, p *montecarlo.Problem, th []montecarlo.Theory, weights []float64, draw Sampling) (*Verification, error) {
	sums, reached, err := montecarlo.Estimate(ctx, run.Backend, p, draw.Target(weights, true), run.Done)
	if err != nil {
		return nil, err
	}
	c, d := p.Code, p.Decoder
	lo, hi := decode.Range(c, d)
	failures := montecarlo.Verify(sums, th, weights, max(hi-1, c.Levels()-lo)+1, FalseAlarms)
	o := montecarlo.Average(weights, sums)
	v := &Verification{
		Pass: len(failures) == 0, Failures: []string{}, Code: c.Name(), Levels: c.Levels(), Bits: c.Bits(), Decoder: d.Name(), Outputs: s.OutputsOf(c, d),
		Description: s.Description(),
		Seed:        draw.Seed, Alpha: FalseAlarms, Reached: reached,
		Overall: LevelResult{Mean: table.Number(o.Mean), StdErr: table.Number(o.StdErr), Samples: o.Samples},
	}
	if b, err := BoundOf(p); err == nil {
		v.Bound = b.Name
	}
	for _, f := range failures {
		v.Failures = append(v.Failures, f.String())
	}
	for i, sum := range sums {
		v.Labels = append(v.Labels, LevelResult{
			Level: i + 1, Bound: table.Number(th[i].Bound), Exact: table.Number(th[i].Mean),
			Mean: table.Number(sum.Mean()), StdErr: table.Number(sum.StdErr()), Samples: sum.Samples,
			SumAbs: sum.Abs, SumSquare: sum.Square, SumWithin: sum.Within,
		})
	}
	v.Overall.Bound, v.Overall.Exact = Average(th, weights)
	return v, nil
}
