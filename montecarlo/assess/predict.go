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
	Decoder        string  `json:"decoder" text:"decoder" doc:"name of the decoder"`
	Outputs        string  `json:"outputs" text:"reads" doc:"what the decoder reads: bits or logits"`
	Bound          float64 `json:"bound" text:"bound" doc:"upper bound under the mixture; null where there is none"`
	Exact          float64 `json:"exact" text:"exact" doc:"exact value under the mixture; null where there is none"`
	Mean           float64 `json:"mean" text:"simulated" doc:"simulated under the mixture"`
	StdErr         float64 `json:"stderr" doc:"standard error of mean"`
	Rates          float64 `json:"observed_rates" text:"observed rates" doc:"with bits that err independently at the observed rates: exact, or simulated where there is no exact value"`
	RatesStdErr    float64 `json:"observed_rates_stderr" doc:"standard error of observed_rates; 0 where it is exact"`
	Observed       float64 `json:"observed" text:"observed" doc:"observed |error|"`
	ObservedStdErr float64 `json:"observed_stderr" doc:"standard error of observed"`
}

// predict puts what the models say beside the observed error of every decoder: Fit.Decoders has the perceived label,
// and Fit.Mixture the mixture and the observed error rates. Where targets are real numbers, the mixture's error probabilities are those at the targets
// themselves, not at their levels: levels are cut in predictedParts parts, and every part has its
// table.
func (s *study) predict(ctx context.Context, run scenario.Run) error {
	parts, err := s.parts(ctx)
	if err != nil {
		return err
	}
	rates := s.seen.Counts.Rates(s.errors)
	w := s.f.LevelWidth
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
		m, err := s.predictOne(ctx, run, decoding, parts, rates)
		if err != nil {
			return err
		}
		m.Observed, m.ObservedStdErr = level.Mean, level.StdErr
		s.f.Mixture = append(s.f.Mixture, m)
	}
	return nil
}

// predictedParts is the number of parts of a level for predictions. Within a part, error
// probabilities are means.
const predictedParts = 4

// part is a part of every level: its share of the samples, their levels, and its error
// probabilities, L × M.
type part struct {
	share  float64
	prior  []float64
	errors mat.Matrix
}

// parts are the parts with samples; one, the whole level, where targets are levels.
func (s *study) parts(ctx context.Context) ([]part, error) {
	counts := s.seen.Counts
	if counts.Fine == nil {
		return []part{{1, s.f.Prior, s.errors}}, nil
	}
	n := min(predictedParts, counts.Parts())
	var out []part
	for i, prior := range counts.PartShares(n) {
		share := 0.0
		for _, v := range prior {
			share += v
		}
		if share == 0 {
			continue
		}
		for j := range prior {
			prior[j] /= share
		}
		e, err := s.model.PartTable(ctx, n, i)
		if err != nil {
			return nil, err
		}
		out = append(out, part{share, prior, s.withDead(e)})
	}
	return out, nil
}

// predictOne computes the error of one decoder under the mixture and under the observed rates.
func (s *study) predictOne(ctx context.Context, run scenario.Run, decoding observed.Decoding, parts []part, rates mat.Matrix) (d MixtureResult, err error) {
	d = MixtureResult{Decoder: decoding.Decoder.Name(), Outputs: decoding.Outputs()}
	decoder, err := s.scaled(decoding)
	if err != nil {
		return d, err
	}
	about := scenario.Scenario{Outputs: scenario.Outputs(d.Outputs)}
	o, square := s.options, 0.0
	for i, p := range parts {
		model, err := about.ProblemOf(ctx, s.code, decoder, p.errors, o.sampling(1))
		if err != nil {
			return d, err
		}
		bound, exact, err := scenario.Averages(ctx, run.Workers, model, p.prior)
		if err != nil {
			return d, err
		}
		model.Seed += uint64(i) << 32 // random numbers of its own
		simulated, err := s.simulate(ctx, run, model, p.prior, o.sampling(len(parts)).Beside(exact))
		if err != nil {
			return d, err
		}
		d.Bound += p.share * bound
		d.Exact += p.share * exact
		d.Mean += p.share * simulated.Mean
		square += p.share * p.share * simulated.StdErr * simulated.StdErr
	}
	d.StdErr = math.Sqrt(square)
	asObserved, err := about.ProblemOf(ctx, s.code, decoder, rates, o.sampling(1))
	if err != nil {
		return d, err
	}
	if _, d.Rates, err = scenario.Averages(ctx, run.Workers, asObserved, s.f.Prior); err == nil && table.Missing(d.Rates) {
		var simulated montecarlo.Overall
		simulated, err = s.simulate(ctx, run, asObserved, s.f.Prior, o.sampling(1))
		d.Rates, d.RatesStdErr = simulated.Mean, simulated.StdErr
	}
	return d, err
}

// simulate samples a problem. It returns the |error| over a prior, in levels.
func (s *study) simulate(ctx context.Context, run scenario.Run, p *montecarlo.Problem, prior []float64, draw scenario.Sampling) (out montecarlo.Overall, err error) {
	sums, _, err := montecarlo.Estimate(ctx, run.Backend, p, draw.Target(prior, false), nil)
	if err != nil {
		return out, err
	}
	return montecarlo.Average(prior, sums), nil
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
