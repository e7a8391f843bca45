package assess

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/observed"
	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/table"
	"belsim/theory/decode"
)

// DecoderResult is the mean |answer − target| of one decoder, in the unit of the targets: as it was observed, and
// under the perceived-label model.
type DecoderResult struct {
	Decoder   string  `json:"decoder" text:"decoder" doc:"name of the decoder; prediction for direct regression over real labels"`
	Outputs   string  `json:"outputs" text:"reads" doc:"what the decoder reads: bits or logits; labels of direct regression"`
	Observed  float64 `json:"observed" text:"observed" doc:"observed mean |answer − target|: in label units with a range, else in levels"`
	StdErr    float64 `json:"observed_stderr" doc:"standard error of observed"`
	Perceived float64 `json:"perceived" text:"perceived label" doc:"the same under the perceived-label model; null where it says nothing, as of hard decisions after a training with CE"`
}

// MixtureResult is the |error| of one decoder, in levels, against targets that are rounded to levels: under the mixture, and
// as it was observed.
type MixtureResult struct {
	Decoder        string      `json:"decoder" text:"decoder" doc:"name of the decoder"`
	Outputs        string      `json:"outputs" text:"reads" doc:"what the decoder reads: bits or logits"`
	Bound          float64     `json:"bound" text:"bound" doc:"upper bound under the mixture; null where there is none"`
	Exact          float64     `json:"exact" text:"exact" doc:"exact value under the mixture; null where there is none"`
	Mean           float64     `json:"mean" text:"simulated" doc:"simulated under the mixture"`
	StdErr         float64     `json:"stderr" doc:"standard error of mean"`
	Rates          float64     `json:"observed_rates" text:"observed rates" doc:"with bits that err independently at the observed rates: exact, or simulated where there is no exact value"`
	RatesStdErr    float64     `json:"observed_rates_stderr" doc:"standard error of observed_rates; 0 where it is exact"`
	AnyLaw         *[2]float64 `json:"any_law,omitempty" doc:"smallest and largest |error| over all joint laws of the bits with the observed rates, which the observed |error| lies between; missing for decoders of logits, and where they take long"`
	AnyInterval    *[2]float64 `json:"any_law_interval,omitempty" doc:"the same for new samples of the network: each end is further by 1.96 standard errors, which are the largest of any law"`
	Observed       float64     `json:"observed" text:"observed" doc:"observed |error|"`
	ObservedStdErr float64     `json:"observed_stderr" doc:"standard error of observed"`
}

// predict puts what the models say beside the observed error of every decoder: Fit.Decoders has the perceived label,
// and Fit.Mixture the mixture and the observed error rates.
func (s *study) predict(ctx context.Context, run scenario.Run) error {
	rates, w := s.seen.Counts.Rates(s.errors), s.f.LevelWidth
	for i, decoding := range s.decodings {
		level, target := s.seen.Levels[i], s.seen.Labels[i]
		d := DecoderResult{decoding.Decoder.Name(), decoding.Outputs(), w * target.Mean, w * target.StdErr, math.NaN()}
		if s.perceived != nil {
			d.Perceived = s.perceived[i]
		}
		s.f.Decoders = append(s.f.Decoders, d)
		if decoding.Predicts() { // reads no bits
			continue
		}
		decoder, err := s.scaled(decoding)
		if err != nil {
			return err
		}
		m := MixtureResult{Decoder: d.Decoder, Outputs: d.Outputs, Observed: level.Mean, ObservedStdErr: level.StdErr}
		about := scenario.Scenario{Outputs: scenario.Outputs(d.Outputs)}
		var drawn montecarlo.Overall
		if m.Bound, m.Exact, drawn, err = s.independent(ctx, run, about, decoder, s.errors); err != nil {
			return err
		}
		m.Mean, m.StdErr = drawn.Mean, drawn.StdErr
		if _, m.Rates, drawn, err = s.independent(ctx, run, about, decoder, rates); err != nil {
			return err
		}
		if table.Missing(m.Rates) {
			m.Rates, m.RatesStdErr = drawn.Mean, drawn.StdErr
		}
		p, err := about.ProblemOf(ctx, s.code, decoder, rates, s.options.sampling())
		if err != nil {
			return err
		}
		sd := [2]float64{}
		if m.AnyLaw, sd, err = scenario.AnyLawMean(ctx, run.Workers, p, s.f.Prior, true); err != nil {
			return err
		}
		if m.AnyLaw != nil {
			root := math.Sqrt(float64(s.f.Samples))
			m.AnyInterval = &[2]float64{max(0, m.AnyLaw[0]-scenario.Confidence*sd[0]/root), m.AnyLaw[1] + scenario.Confidence*sd[1]/root}
		}
		s.f.Mixture = append(s.f.Mixture, m)
	}
	return nil
}

// independent is the error of a decoder of bits that err independently, with these probabilities: the bound, the exact value, and as
// it is sampled.
func (s *study) independent(ctx context.Context, run scenario.Run, about scenario.Scenario, d decode.Decoder, errors mat.Matrix) (bound, exact float64, drawn montecarlo.Overall, err error) {
	draw := s.options.sampling()
	p, err := about.ProblemOf(ctx, s.code, d, errors, draw)
	if err != nil {
		return 0, 0, drawn, err
	}
	if bound, exact, err = scenario.Averages(ctx, run.Workers, p, s.f.Prior); err != nil {
		return 0, 0, drawn, err
	}
	sums, _, err := montecarlo.Estimate(ctx, run.Backend, p, draw.Beside(exact).Target(s.f.Prior, false), nil)
	if err != nil {
		return 0, 0, drawn, err
	}
	return bound, exact, montecarlo.Average(s.f.Prior, sums), nil
}

// scaled is the decoder of the model's logits.
func (s *study) scaled(r observed.Decoding) (decode.Decoder, error) {
	d, ok := r.Decoder.(decode.Tempered)
	if !ok || !r.Soft || table.Missing(s.f.LogitScale) {
		return r.Decoder, nil
	}
	tau, err := s.f.modelTemperature()
	if err != nil {
		return nil, err
	}
	return d.AtTemperature(tau)
}
