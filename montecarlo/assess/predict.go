package assess

import (
	"context"
	"math"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/table"
	"belsim/theory/decode"
)

// DecoderResult is the mean |answer − target| of one decoder, in the unit of the targets: as it was
// observed, and under the perceived-label model.
type DecoderResult struct {
	Decoder  string  `json:"decoder" text:"decoder"`
	Outputs  string  `json:"outputs" text:"reads"`
	Observed float64 `json:"observed" text:"observed"`
	StdErr   float64 `json:"observed_stderr"`
	// the same under the perceived-label model; null where it says nothing, as of hard decisions
	// after a training for the decoder
	Perceived float64 `json:"perceived" text:"perceived label"`
}

// MixtureResult is the |error| of one decoder, in levels, against targets that are rounded to
// levels: under the mixture, and as it was observed.
type MixtureResult struct {
	Decoder string  `json:"decoder" text:"decoder"`
	Outputs string  `json:"outputs" text:"reads"`
	Bound   float64 `json:"bound" text:"bound"`
	Exact   float64 `json:"exact" text:"exact"`
	Mean    float64 `json:"mean" text:"simulated"`
	StdErr  float64 `json:"stderr"`
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

// predict puts what the models say beside the observed error of every decoder: the perceived label,
// whose errors may be nil, and the mixture and the observed error rates.
func predict(ctx context.Context, run scenario.Run, f *Fit, n *network, of *mixture,
	perceived []float64) (decoders []DecoderResult, mixture []MixtureResult, err error) {
	tau, err := f.modelTemperature()
	if err != nil {
		return nil, nil, err
	}
	rates, w := n.seen.Counts.Rates(of.errors), f.LevelWidth
	mixture = []MixtureResult{}
	for i, decoding := range n.decodings {
		level, target := n.seen.Levels[i], n.seen.Labels[i]
		d := DecoderResult{decoding.Decoder.Name(), decoding.Outputs(), w * target.Mean, w * target.StdErr, math.NaN()}
		if perceived != nil {
			d.Perceived = perceived[i]
		}
		decoders = append(decoders, d)
		if decoding.Predicts() { // reads no bits
			continue
		}
		decoder := decoding.Decoder
		// of the model's logits
		if tempered, ok := decoder.(decode.Tempered); ok && decoding.Soft && !table.Missing(f.LogitScale) {
			if decoder, err = tempered.AtTemperature(tau); err != nil {
				return nil, nil, err
			}
		}
		m := MixtureResult{Decoder: d.Decoder, Outputs: d.Outputs, Observed: level.Mean, ObservedStdErr: level.StdErr}
		about, draw := scenario.Scenario{Outputs: scenario.Outputs(d.Outputs)}, n.options.sampling()
		p, err := about.ProblemOf(ctx, n.code, decoder, of.errors, draw)
		if err != nil {
			return nil, nil, err
		}
		var drawn montecarlo.Overall
		if m.Bound, m.Exact, drawn, err = independentErrors(ctx, run, f.Prior, p, draw); err != nil {
			return nil, nil, err
		}
		m.Mean, m.StdErr = drawn.Mean, drawn.StdErr
		if p, err = about.ProblemOf(ctx, n.code, decoder, rates, draw); err != nil {
			return nil, nil, err
		}
		if _, m.Rates, drawn, err = independentErrors(ctx, run, f.Prior, p, draw); err != nil {
			return nil, nil, err
		}
		if table.Missing(m.Rates) {
			m.Rates, m.RatesStdErr = drawn.Mean, drawn.StdErr
		}
		sd := [2]float64{}
		if m.AnyLaw, sd, err = scenario.AnyLawMean(ctx, run.Workers, p, f.Prior, true); err != nil {
			return nil, nil, err
		}
		if m.AnyLaw != nil {
			root := math.Sqrt(float64(f.Samples))
			m.AnyInterval = &[2]float64{max(0, m.AnyLaw[0]-errmodel.Errors95*sd[0]/root),
				m.AnyLaw[1] + errmodel.Errors95*sd[1]/root}
		}
		mixture = append(mixture, m)
	}
	return decoders, mixture, nil
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
