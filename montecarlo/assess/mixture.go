package assess

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/errmodel/mixturefit"
	"belsim/errmodel/observed"
	"belsim/montecarlo/scenario"
)

// fitMixture reads all samples twice, fits r and σ by maximum likelihood, and judges them.
func (s *study) fitMixture(ctx context.Context, workers int, done func(uint64)) error {
	if err := s.read(ctx, workers, done); err != nil {
		return err
	}
	counts := s.seen.Counts
	if err := s.begin(counts); err != nil {
		return err
	}
	f := s.f
	model, err := mixturefit.New(ctx, counts, s.live())
	switch name := s.source.Outputs.Name(); {
	case errors.Is(err, mixturefit.ErrNoFit) && f.WrongBits > 0:
		return fmt.Errorf("%s: all %d wrong outputs are of bits that never change, where the model has no errors: nothing to fit", name, f.WrongBits)
	case errors.Is(err, mixturefit.ErrNoFit):
		return fmt.Errorf("%s: none of the %d × %d outputs is on the wrong side, so there are no errors to model: r and σ cannot be told from 0", name, f.Samples, f.Bits)
	case err != nil:
		return err
	}
	s.model, f.R, f.Sigma, f.Limited = model, model.R, model.Sigma, model.Limited
	e, err := model.Table(ctx)
	if err != nil {
		return err
	}
	s.errors = s.withDead(e)
	const resampling = 1 // the seed of its signs
	joint, err := mixturefit.NewJoint(ctx, model, resampling)
	if err != nil {
		return err
	}
	if err := observed.Wrong(ctx, s.source, s.code, joint.Add, done); err != nil {
		return err
	}
	intervals, effect := joint.Intervals()
	f.ErringSamples, f.DesignEffect = joint.Erring, effect
	f.RInterval, f.SigmaInterval = unknown(), unknown()
	if joint.Erring >= mixturefit.FewestErring {
		f.RInterval, f.SigmaInterval = intervals[0], intervals[1]
	}
	goodness, err := joint.Goodness(ctx)
	if err != nil {
		return err
	}
	s.judge(goodness)
	return nil
}

// begin begins the fit with what was counted. It refuses targets that are all alike.
func (s *study) begin(counts *errmodel.Counts) error {
	o, seen := s.options, s.seen
	f := &Fit{
		Format: fitFormat,
		Code:   s.code.Name(), Levels: s.code.Levels(), Bits: s.code.Bits(), Outputs: string(s.source.Kind), LevelWidth: s.source.Labels.Width(), Confidence: errmodel.Confidence,
		Overdispersion: seen.Overdispersion, Correlation: seen.Correlation, LogitScale: seen.LogitScale,
		Temperature: o.Temperature, Seed: o.Seed, Prior: counts.Prior(), Dead: s.dead,
	}
	s.f = f
	if _, err := f.modelTemperature(); err != nil {
		return err
	}
	unit := scenario.InLevels
	if !o.Range.IsZero() {
		f.Range, unit = &[2]float64{o.Range.Lo, o.Range.Hi}, scenario.InLabelUnits
	}
	direct := o.Baseline.Error
	if o.Baseline.File != "" {
		direct = f.LevelWidth * seen.Direct.Mean
	}
	f.Baselines = scenario.NewBaselines(f.LevelWidth*seen.Quantization, direct, f.Levels, unit)
	f.Samples, f.WrongBits = counts.Total()
	if s.fitted != nil {
		f.Fitted = newFitted(s.fitted, f.LevelWidth)
	}
	if lowest, highest := f.occurring(); lowest == highest {
		return fmt.Errorf("%s: all %d targets are level %d; r and σ need errors at several distances from a transition, so at least two levels", s.source.Targets.Name(), f.Samples, lowest)
	}
	return nil
}

// withDead is a table of error probabilities, L × M, with the observed rates of the bits that
// are set aside.
func (s *study) withDead(e mat.Matrix) mat.Matrix {
	if len(s.aside()) == 0 {
		return e
	}
	counts, out := s.seen.Counts, mat.DenseCopyOf(e)
	for i, n := range counts.Samples {
		for _, k := range s.aside() {
			rate := float64(counts.Bit(k-1)) / float64(s.f.Samples)
			if n > 0 {
				rate = float64(counts.Row(i)[k-1]) / float64(n)
			}
			out.Set(i, k-1, rate)
		}
	}
	return out
}

// unknown is an interval without ends.
func unknown() [2]float64 { return [2]float64{math.NaN(), math.NaN()} }
