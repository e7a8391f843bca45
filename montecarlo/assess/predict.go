package assess

import (
	"context"
	"math"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/montecarlo/forecast"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/table"
	"belsim/theory/decode"
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
func mixtureRows(ctx context.Context, run scenario.Run, f *Fit, n *network, of *mixture) ([]MixtureRow, error) {
	tau, err := f.modelTemperature()
	if err != nil {
		return nil, err
	}
	rates, out := n.seen.Counts.Rates(of.errors), []MixtureRow{}
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
		about, draw := scenario.Scenario{Outputs: scenario.Outputs(decoding.Outputs())}, n.options.sampling()
		p, err := about.ProblemOf(ctx, n.code, decoder, of.errors, draw)
		if err != nil {
			return nil, err
		}
		var drawn montecarlo.Overall
		if m.Bound, m.Exact, drawn, err = independentErrors(ctx, run, f.Prior, p, draw); err != nil {
			return nil, err
		}
		m.Mean, m.StdErr = drawn.Mean, drawn.StdErr
		if p, err = about.ProblemOf(ctx, n.code, decoder, rates, draw); err != nil {
			return nil, err
		}
		if _, m.Rates, drawn, err = independentErrors(ctx, run, f.Prior, p, draw); err != nil {
			return nil, err
		}
		if table.Missing(m.Rates) {
			m.Rates, m.RatesStdErr = drawn.Mean, drawn.StdErr
		}
		sd := [2]float64{}
		if m.AnyLaw, sd, err = scenario.AnyLawMean(ctx, run.Workers, p, f.Prior, true); err != nil {
			return nil, err
		}
		if m.AnyLaw != nil {
			root := math.Sqrt(float64(f.Samples))
			m.AnyInterval = &[2]float64{max(0, m.AnyLaw[0]-errmodel.Errors95*sd[0]/root),
				m.AnyLaw[1] + errmodel.Errors95*sd[1]/root}
		}
		out = append(out, m)
	}
	return out, nil
}

// independentErrors are the error of a problem whose bits err independently, over a prior: the bound,
// the exact value, and as it is sampled.
func independentErrors(
	ctx context.Context, run scenario.Run, prior []float64, p *montecarlo.Problem, draw scenario.Sampling,
) (bound, exact float64, drawn montecarlo.Overall, err error) {
	if bound, exact, err = scenario.Averages(ctx, run.Workers, p, prior); err != nil {
		return 0, 0, drawn, err
	}
	sums, _, err := montecarlo.Estimate(ctx, run.Backend, p, draw.Beside(exact).Target(prior, false), nil)
	if err != nil {
		return 0, 0, drawn, err
	}
	return bound, exact, montecarlo.Average(prior, sums), nil
}
