package assess

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/errmodel/fitdecoder"
	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/montecarlo/forecast"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/table"
	"belsim/theory/code"
)

// Study is a fit together with the counts that it was made from.
type Study struct {
	Fit             *Fit
	Lowest, Highest int                  // the levels that occur, from 1
	Departures      []errmodel.Departure // where model and counts differ most, the largest first

	network     *Network
	code        *code.Code
	transitions [][]int
	decodings   []observed.Decoding
	observed    *observed.Summary
	counts      *errmodel.Counts
	model       *errmodel.Fit
	errors      mat.Matrix // the fitted e[n,k], L × M
	training    perceived.Training
	others      []other
	fitted      *fitdecoder.Result   // nil unless the options ask for it
	forecasts   *forecast.Forecaster // nil before Perceive, and where the model says nothing
}

// Fit reads all samples twice, fits the error model by maximum likelihood and judges it.
// workers is the number of goroutines, 0 for one on each processor; it changes no number.
// done is told how many samples were read since its last call, and may be nil. Errors name the
// file and the place, or are the context's.
func (n *Network) Fit(ctx context.Context, workers int, done func(samples uint64)) (*Study, error) {
	o, c := n.options, n.code
	if err := n.checkMemory(); err != nil {
		return nil, err
	}
	all, err := n.scan(ctx, workers, done)
	if err != nil {
		return nil, err
	}
	seen := all.summary
	s := &Study{network: n, code: c, transitions: c.Transitions(), decodings: all.decodings, observed: seen, counts: seen.Counts, training: all.training}
	s.Fit = &Fit{
		Format: fitFormat,
		Code:   c.Name(), Levels: c.Levels(), Bits: c.Bits(), Outputs: string(n.samples.Kind), LevelWidth: n.samples.Labels.Width(), Confidence: errmodel.Confidence,
		Overdispersion: seen.Overdispersion, Correlation: seen.Correlation, LogitScale: seen.LogitScale,
		DesignEffect: unknown(),
		Temperature:  o.Temperature, Seed: o.Seed, Prior: seen.Counts.Prior(),
	}
	if _, err := s.Fit.modelTemperature(); err != nil {
		return nil, err
	}
	if !o.Range.IsZero() {
		s.Fit.Range = &[2]float64{o.Range.Lo, o.Range.Hi}
	}
	s.Fit.Baselines = s.baselines()
	s.Fit.Samples, s.Fit.WrongBits = s.counts.Total()
	s.Fit.Dead = []int{}
	if s.training == perceived.BitByBit { // the thresholds of other networks mean nothing
		s.Fit.Dead = deadBits(c, s.counts)
	}
	if err := s.findLevels(); err != nil {
		return nil, err
	}
	if err := s.fit(ctx, done); err != nil {
		return nil, err
	}
	if o.FitDecoder {
		s.fitted = all.fitted
		s.Fit.Fitted = newFitted(s.fitted, s.Fit.LevelWidth)
	}
	return s, nil
}

// baselines are the errors of quantization alone, over these targets, and of direct regression.
func (s *Study) baselines() []scenario.Baseline {
	unit := scenario.InLevels
	if s.Fit.Range != nil {
		unit = scenario.InLabelUnits
	}
	return scenario.NewBaselines(s.Fit.LevelWidth*s.observed.Quantization, s.network.options.Baseline, s.Fit.Levels, unit)
}

// findLevels finds the levels that occur, and refuses targets that are all alike.
func (s *Study) findLevels() error {
	for i, n := range s.counts.Samples {
		if n == 0 {
			continue
		}
		if s.Lowest == 0 {
			s.Lowest = i + 1
		}
		s.Highest = i + 1
	}
	if s.Lowest == s.Highest {
		return fmt.Errorf("%s: all %d targets are level %d; r and σ need errors at several distances from a transition, so at least two levels", s.network.samples.Targets.Name(), s.Fit.Samples, s.Lowest)
	}
	return nil
}

// fit fits r and σ, and judges them.
func (s *Study) fit(ctx context.Context, done func(uint64)) error {
	f := s.Fit
	model, err := errmodel.NewFit(ctx, s.counts, s.live())
	switch name := s.network.samples.Outputs.Name(); {
	case errors.Is(err, errmodel.ErrNoFit) && f.WrongBits > 0:
		return fmt.Errorf("%s: all %d wrong outputs are of bits that never change, where the model has no errors: nothing to fit", name, f.WrongBits)
	case errors.Is(err, errmodel.ErrNoFit):
		return fmt.Errorf("%s: none of the %d × %d outputs is on the wrong side, so there are no errors to model: r and σ cannot be told from 0", name, f.Samples, f.Bits)
	case err != nil:
		return err
	}
	f.R, f.Sigma, f.Limited = model.R.Value, model.Sigma.Value, model.Limited
	s.model = model
	if s.errors, err = s.table(ctx); err != nil {
		return err
	}
	s.errors = s.withDead(s.errors)
	joint, err := errmodel.NewJoint(ctx, s.live(), s.counts, model, resampling)
	if err != nil {
		return err
	}
	if err := observed.Depend(ctx, s.network.samples, s.code, joint, done); err != nil {
		return err
	}
	effect, err := model.Inflate(ctx, joint.Spread)
	if err != nil {
		return err
	}
	f.DesignEffect = [2]float64{effect[0], effect[1]}
	f.ErringSamples = joint.Erring
	f.RInterval, f.SigmaInterval = unknown(), unknown()
	if joint.Erring >= errmodel.FewestErring && !table.Missing(f.DesignEffect[0]) {
		f.RInterval, f.SigmaInterval = ends(model.R), ends(model.Sigma)
	}
	goodness, err := joint.Goodness(ctx)
	if err != nil {
		return err
	}
	s.judge(goodness)
	return nil
}

// resampling is the seed of the signs of errmodel.Joint.
const resampling = 1

// table is the table of error probabilities at levels, or for real labels their means over the
// samples of a level.
func (s *Study) table(ctx context.Context) (mat.Matrix, error) {
	if s.counts.Fine != nil {
		return s.model.MeanRates(ctx, s.live(), s.counts)
	}
	return s.model.Mixture(ctx, s.Fit.Levels, s.live())
}

// Rates returns the observed error rates, L × M, and the model's where a level has no samples.
func (s *Study) Rates() *mat.Dense { return s.counts.Rates(s.errors) }
