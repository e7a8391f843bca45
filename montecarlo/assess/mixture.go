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
	"belsim/theory/base/table"
)

// fitMixture reads all samples twice, and fits r and σ by maximum likelihood.
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
	s.model, f.R, f.Sigma = model, model.R, model.Sigma
	e, err := model.Table(ctx)
	if err != nil {
		return err
	}
	s.errors = s.withDead(e)
	joint, err := mixturefit.NewJoint(ctx, model)
	if err != nil {
		return err
	}
	if err := observed.Wrong(ctx, s.source, s.code, joint.Add, done); err != nil {
		return err
	}
	intervals := joint.Intervals()
	s.erring, f.RInterval, f.SigmaInterval = joint.Erring, intervals[0], intervals[1]
	return nil
}

// begin begins the fit with what was counted. It refuses targets that are all alike.
func (s *study) begin(counts *errmodel.Counts) error {
	o, seen := s.options, s.seen
	f := &Fit{
		Format: fitFormat,
		Code:   s.code.Name(), Levels: s.code.Levels(), Bits: s.code.Bits(), Outputs: string(s.source.Kind), LevelWidth: s.source.Labels.Width(),
		Mixture: []MixtureResult{}, Measured: []MeasuredRow{},
		LogitScale: seen.LogitScale, Temperature: o.Temperature, Seed: o.Seed, Prior: counts.Prior(), Dead: s.dead,
	}
	s.f = f
	if _, err := f.modelTemperature(); err != nil {
		return err
	}
	if !o.Range.IsZero() {
		f.Range = &[2]float64{o.Range.Lo, o.Range.Hi}
	}
	f.Quantization = f.LevelWidth * seen.Quantization
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

// remarks are sentences about the mixture: how many bits are wrong, and what the data do not tell.
func (s *study) remarks() (out []string) {
	f := s.f
	if s.model.Limited {
		out = append(out, "r is as large as it can be: some error probability of the fit is 1")
	}
	switch missing := table.Missing(f.SigmaInterval[0]); {
	case s.erring < mixturefit.FewestErring:
		out = append(out, fmt.Sprintf("%d samples have a wrong bit: too few for intervals, which need %d; r and σ may be far off", s.erring, mixturefit.FewestErring))
	case missing && !s.model.Limited:
		out = append(out, "r and σ are at the end of the range that is searched, and have no intervals: these errors hardly depend on the distance from a transition, or all lie beside one")
	case missing:
		out = append(out, "r and σ have no intervals there")
	}
	return append(out, fmt.Sprintf("%.3g %% of the bits are wrong", 100*float64(f.WrongBits)/float64(f.Samples)/float64(f.Bits)))
}

// unknown is an interval without ends.
func unknown() [2]float64 { return [2]float64{math.NaN(), math.NaN()} }
