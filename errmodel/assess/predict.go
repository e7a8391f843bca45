package assess

import (
	"context"
	"math"

	"belsim/errmodel"
	"belsim/errmodel/forecast"
	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/theory/base/table"
	"belsim/theory/decode"
	"belsim/theory/expect"
)

// MixtureRow is the |error| of one decoder, in levels, against targets that are rounded to
// levels: under the mixture, and as it was observed.
type MixtureRow struct {
	scenario.Design
	Bound  float64 `json:"bound" text:"bound"`
	Exact  float64 `json:"exact" text:"exact"`
	Mean   float64 `json:"mean" text:"simulated"`
	StdErr float64 `json:"stderr"`
	// with bits that err independently at the observed rates: exact, or simulated where there is no
	// exact value
	Rates float64 `json:"observed_rates" text:"observed rates"`
	// standard error of observed_rates; 0 where it is exact
	RatesStdErr float64 `json:"observed_rates_stderr"`
	// smallest and largest |error| over all joint laws of the bits with the observed rates, which
	// the observed |error| lies between; missing for decoders of logits, and where they take long
	AnyLaw *[2]float64 `json:"any_law,omitempty"`
	// the same for new samples of the network: each end is further by 1.96 standard errors, which
	// are the largest of any law
	AnyInterval    *[2]float64 `json:"any_law_interval,omitempty"`
	Observed       float64     `json:"observed" text:"observed"`
	ObservedStdErr float64     `json:"observed_stderr"`
}

// mixtureRows puts the mixture and the observed error rates beside the observed error of every
// decoder of bits.
func mixtureRows(ctx context.Context, run montecarlo.Run, f *Fit, n *network, of *mixture) ([]MixtureRow, error) {
	tau, err := f.mixtureTemperature()
	if err != nil {
		return nil, err
	}
	out := []MixtureRow{}
	for i, decoding := range n.decodings {
		if decoding.Predicts() { // reads no bits
			continue
		}
		decoder := decoding.Decoder
		// of the model's logits
		if tempered, ok := decoder.(decode.Tempered); ok && decoding.Soft && !table.Missing(f.LogitScale) {
			if decoder, err = tempered.AtTemperature(tau); err != nil {
				return nil, err
			}
		}
		seen := n.seen.Levels[i]
		m := MixtureRow{Design: forecast.DesignOf(n.code, n.training, decoding), Observed: seen.Mean,
			ObservedStdErr: seen.StdErr}
		about, draw := scenario.Scenario{Outputs: decode.Outputs(decoding.Outputs())}, n.options.sampling()
		p, err := about.ProblemOf(n.code, decoder, of.errors)
		if err != nil {
			return nil, err
		}
		// any law of the rates that were observed is told: a second one would take half of the time
		theory, drawn, err := independentErrors(ctx, run, f.Prior, p, draw, expect.Omit{AnyLaw: true})
		if err != nil {
			return nil, err
		}
		m.Bound, m.Exact, m.Mean, m.StdErr = theory.Mean.Bound, theory.Mean.Exact, drawn.Mean, drawn.StdErr
		if p, err = about.ProblemOf(n.code, decoder, of.rates); err != nil {
			return nil, err
		}
		if theory, drawn, err = independentErrors(ctx, run, f.Prior, p, draw,
			expect.Omit{SlowLaw: true}); err != nil {
			return nil, err
		}
		m.Rates, m.AnyLaw = theory.Mean.Exact, theory.Mean.AnyLaw
		if table.Missing(m.Rates) {
			m.Rates, m.RatesStdErr = drawn.Mean, drawn.StdErr
		}
		if m.AnyLaw != nil {
			var lo, hi float64 // variances of one sample, under any law
			for level, w := range f.Prior {
				lo += w * theory.Laws[level].LoSD * theory.Laws[level].LoSD
				hi += w * theory.Laws[level].HiSD * theory.Laws[level].HiSD
			}
			root := math.Sqrt(float64(f.Samples))
			m.AnyInterval = &[2]float64{max(0, m.AnyLaw[0]-errmodel.Errors95*math.Sqrt(lo)/root),
				m.AnyLaw[1] + errmodel.Errors95*math.Sqrt(hi)/root}
		}
		out = append(out, m)
	}
	return out, nil
}

// independentErrors are the error of a problem whose bits err independently, over a prior: what
// theory says, and as it is sampled.
func independentErrors(
	ctx context.Context, run montecarlo.Run, prior []float64, p *expect.Problem, draw montecarlo.Sampling,
	omit expect.Omit,
) (theory *expect.Theory, drawn montecarlo.Overall, err error) {
	if theory, err = expect.Of(ctx, run.Workers, p, prior, omit); err != nil {
		return nil, drawn, err
	}
	sums, _, err := montecarlo.Estimate(ctx, run.Backend, draw.Of(p), draw.Beside(theory.Mean.Exact).Target(prior, false), nil)
	if err != nil {
		return nil, drawn, err
	}
	return theory, montecarlo.Average(prior, sums), nil
}
