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

// DecoderResult is the |error| of one decoder, in levels: under the model, and as it was
// observed.
type DecoderResult struct {
	Decoder        string  `json:"decoder" text:"decoder" doc:"name of the decoder"`
	Outputs        string  `json:"outputs" text:"reads" doc:"what the decoder reads: bits or logits"`
	Bound          float64 `json:"bound" text:"bound" doc:"upper bound under the model; null where there is none"`
	Exact          float64 `json:"exact" text:"exact" doc:"exact value under the model; null where there is none"`
	Mean           float64 `json:"mean" text:"simulated" doc:"simulated under the model"`
	StdErr         float64 `json:"stderr" doc:"standard error of mean"`
	Rates          float64 `json:"observed_rates" text:"observed rates" doc:"with bits that err independently at the observed rates: exact, or simulated where there is no exact value"`
	RatesStdErr    float64 `json:"observed_rates_stderr" doc:"standard error of observed_rates; 0 where it is exact"`
	Perceived      float64 `json:"perceived" text:"perceived" doc:"under the perceived-label model; null where it says nothing"`
	Observed       float64 `json:"observed" text:"observed" doc:"observed |error| against the level of the target"`
	ObservedStdErr float64 `json:"observed_stderr" doc:"standard error of observed"`
	ObservedRMS    float64 `json:"observed_rms" doc:"root mean square of the observed error"`
	Target         float64 `json:"observed_target" doc:"observed |error| against the target itself, quantization included"`
	TargetStdErr   float64 `json:"observed_target_stderr" doc:"standard error of observed_target"`
	ModelError     float64 `json:"model_error_percent" doc:"100·(model/observed − 1), the model's error being exact, or mean where there is no exact value"`
	LabelUnits     Units   `json:"label_units" csv:"-" doc:"the same in label units"`
}

// Units holds the errors of a DecoderResult in label units.
type Units struct {
	Bound    float64 `json:"bound" text:"bound" doc:"bound, in label units"`
	Exact    float64 `json:"exact" text:"exact" doc:"exact, in label units"`
	Mean     float64 `json:"mean" text:"simulated" doc:"mean, in label units"`
	Observed float64 `json:"observed" text:"observed" doc:"observed, in label units"`
	Target   float64 `json:"observed_target" text:"observed, quantization included" doc:"observed_target, in label units"`
}

// model is the best figure of the model: the exact one where it exists.
func (d DecoderResult) model() float64 {
	if !table.Missing(d.Exact) {
		return d.Exact
	}
	return d.Mean
}

// Predict computes the error of every decoder under the model and under the observed error rates,
// and puts them beside the observed error: Fit.Decoders. All are errors against the level of the target. Where targets are real numbers, the model's error
// probabilities are those at the targets themselves, not at their levels: levels are cut
// in predictedParts parts, and every part has its table.
func (s *Study) Predict(ctx context.Context, run scenario.Run) error {
	s.Fit.Decoders = nil
	rates := s.Rates()
	parts, err := s.parts(ctx)
	if err != nil {
		return err
	}
	for i, decoding := range s.decodings {
		d, err := s.predict(ctx, run, decoding, parts, rates)
		if err != nil {
			return err
		}
		level, target := s.observed.Levels[i], s.observed.Labels[i]
		d.Observed, d.ObservedStdErr, d.ObservedRMS = level.Mean, level.StdErr, level.RMS
		d.Target, d.TargetStdErr = target.Mean, target.StdErr
		if p := s.Fit.Perceived; p != nil && i < len(p.Decoders) {
			d.Perceived = p.Decoders[i].Model
		}
		if level.Mean > 0 {
			d.ModelError = 100 * (d.model()/level.Mean - 1)
		}
		w := s.Fit.LevelWidth
		d.LabelUnits = Units{w * d.Bound, w * d.Exact, w * d.Mean, w * d.Observed, w * d.Target}
		s.Fit.Decoders = append(s.Fit.Decoders, d)
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
func (s *Study) parts(ctx context.Context) ([]part, error) {
	if s.counts.Fine == nil {
		return []part{{1, s.Fit.Prior, s.errors}}, nil
	}
	n := min(predictedParts, s.counts.Parts())
	var out []part
	for i, prior := range s.counts.PartShares(n) {
		p := part{prior: prior}
		for _, v := range prior {
			p.share += v
		}
		if p.share == 0 {
			continue
		}
		for j := range prior {
			prior[j] /= p.share
		}
		var err error
		if p.errors, err = s.model.PartTable(ctx, n, i); err != nil {
			return nil, err
		}
		p.errors = s.withDead(p.errors)
		out = append(out, p)
	}
	return out, nil
}

// predict computes the error of one decoder under the model and under the observed rates.
func (s *Study) predict(ctx context.Context, run scenario.Run, decoding observed.Decoding, parts []part, rates mat.Matrix) (DecoderResult, error) {
	none, prior := math.NaN(), s.Fit.Prior
	d := DecoderResult{Decoder: decoding.Decoder.Name(), Outputs: decoding.Outputs(), Rates: none, RatesStdErr: none, Perceived: none, ModelError: none}
	decoding, err := s.scaled(decoding)
	if err != nil {
		return d, err
	}
	square := 0.0
	for i, p := range parts {
		model, err := s.problem(ctx, decoding, p.errors)
		if err != nil {
			return d, err
		}
		bound, exact, err := scenario.Averages(ctx, run.Workers, model, p.prior)
		if err != nil {
			return d, err
		}
		d.Bound += p.share * bound
		d.Exact += p.share * exact
		model.Seed += uint64(i) << 32 // random numbers of its own
		mean, stderr, err := s.simulate(ctx, run, model, p.prior, len(parts))
		if err != nil {
			return d, err
		}
		d.Mean += p.share * mean
		square += p.share * p.share * stderr * stderr
	}
	d.StdErr = math.Sqrt(square)
	asObserved, err := s.problem(ctx, decoding, rates)
	if err != nil {
		return d, err
	}
	if _, d.Rates, err = scenario.Averages(ctx, run.Workers, asObserved, prior); err != nil {
		return d, err
	}
	d.RatesStdErr = 0
	if table.Missing(d.Rates) {
		if d.Rates, d.RatesStdErr, err = s.simulate(ctx, run, asObserved, prior, 1); err != nil {
			return d, err
		}
	}
	return d, nil
}

// problem is the sampling problem of a decoding under a table e, L × M.
func (s *Study) problem(ctx context.Context, decoding observed.Decoding, e mat.Matrix) (*montecarlo.Problem, error) {
	o := s.network.options
	about := scenario.Scenario{Outputs: scenario.Outputs(decoding.Outputs())}
	return about.ProblemOf(ctx, s.code, decoding.Decoder, e, o.sampling(o.Samples))
}

// simulate samples a problem. It returns the mean |error| over a prior, in levels, and its
// standard error. The samples of a label are shared by so many parts.
func (s *Study) simulate(ctx context.Context, run scenario.Run, p *montecarlo.Problem, prior []float64, parts int) (mean, stderr float64, err error) {
	o := s.network.options
	n := max(2, (o.Samples+uint64(parts)-1)/uint64(parts))
	sums, _, err := montecarlo.Estimate(ctx, run.Backend, p, o.sampling(n).Target(prior, false), run.Done)
	if err != nil {
		return math.NaN(), math.NaN(), err
	}
	all := montecarlo.Average(prior, sums)
	return all.Mean, all.StdErr, nil
}

// scaled is a decoding of the model's logits.
func (s *Study) scaled(r observed.Decoding) (observed.Decoding, error) {
	d, ok := r.Decoder.(decode.Tempered)
	if !ok || !r.Soft || table.Missing(s.Fit.LogitScale) {
		return r, nil
	}
	tau, err := s.Fit.modelTemperature()
	if err != nil {
		return r, err
	}
	r.Decoder, err = d.AtTemperature(tau)
	return r, err
}
