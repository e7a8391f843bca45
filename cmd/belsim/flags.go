package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"belsim/errmodel/perceived"
	"belsim/montecarlo/assess"
	"belsim/montecarlo/forecast"
	"belsim/montecarlo/scenario"
	"belsim/montecarlo/verify"
	"belsim/theory/base/parallel"
)

// levelsFlag is --levels where a code may be a file. Zero means unset.
type levelsFlag struct {
	Levels int `placeholder:"L" help:"Number of quantization levels of named codes (default: 256, or as many as a file or --prior has)."`
}

// outputsFlags say what decoders read, and how the outputs depend on each other.
type outputsFlags struct {
	Outputs     string  `enum:"auto,bits,logits" default:"auto" group:"model" help:"What the classifiers give: ${enum}; auto gives logits to gen-ex and to codes of real numbers, bits to other decoders."`
	Temperature float64 `placeholder:"τ" group:"model" help:"Temperature τ of gen-ex, by which outputs are multiplied (default: 1)."`
}

// scenario returns a scenario with the values of the flags.
func (f outputsFlags) scenario(env *environment) *scenario.Scenario {
	s := scenario.New(nil)
	s.Outputs, s.Decoders = scenario.Outputs(f.Outputs), env.decoders
	f.override(s)
	return s
}

// override sets what the flags say, where they are given.
func (f outputsFlags) override(s *scenario.Scenario) {
	s.Temperature = cmp.Or(f.Temperature, s.Temperature)
}

// or is the value of a flag, or another one where the flag is not given.
func or[T any](flag *T, other T) T {
	if flag == nil {
		return other
	}
	return *flag
}

// modelFlag takes the error model from a fit.
type modelFlag struct {
	Model string `xor:"r,sigma" placeholder:"[KIND:]FILE" reads:"" help:"Take the error model, prior and temperature from what 'belsim fit -o FILE.json' wrote; --prior, --temperature, --misfit, --cutoff and --training win over it. The model is the perceived label where the fit has one, else the mixture; mixture:FILE or perceived:FILE says which."`

	uneven bool // fits of uneven levels are taken
}

// mixtureFlags choose the classifiers' error probabilities at a code's own transitions. One flag of
// each xor can be given: what takes the place of r and σ takes that of both.
type mixtureFlags struct {
	R      *float64 `xor:"r" placeholder:"r" help:"Weight r of the Gaussian at each bit transition: nearly the mean error of unary in levels. Trained networks had 1.3 to 4.4 % of the number of levels (default: ${r})."`
	Sigma  *float64 `xor:"sigma" placeholder:"σ" help:"Width σ of the Gaussians, in levels: how far from a transition bits err; about r, or a little more, in trained networks (default: ${sigma})."`
	Errors string   `xor:"r,sigma" placeholder:"FILE" reads:"" group:"model" help:"Table of error probabilities instead: .csv or .npy, one row per level, one column per bit. For compare and verify also a .json that 'verify -o' wrote: bits err together by its most_law."`
	modelFlag
	perceivedFlags
}

// perceivedFlags choose networks that know one number, the perceived label, instead of a table
// of error probabilities.
type perceivedFlags struct {
	LabelNoise float64  `xor:"r,sigma" placeholder:"s" group:"model" help:"The same as --mae, with the standard deviation s of the noise, in levels."`
	MAE        float64  `name:"mae" xor:"r,sigma" placeholder:"X" help:"Error model of networks instead: each knows one number, the label with a noise. It is such that unary, trained with BCE and read by gen, has a mean |error| of X levels."`
	Misfit     *float64 `placeholder:"η" group:"model" help:"Misfit η of these networks, in levels: how far a bit is from what it could have learned (default: a quarter of a level where there are 64, and the same part of the range for other codes)."`
	Cutoff     float64  `placeholder:"κ" group:"model" help:"Cutoff κ of what they learn, in cycles over the range of labels (default: by s and the number of levels)."`
}

// perceived reports whether the flags ask for such networks.
func (f perceivedFlags) perceived() bool { return f.LabelNoise > 0 || f.MAE > 0 }

// model returns the networks, without the label noise where --mae gives it, and without their
// training.
func (f perceivedFlags) model() scenario.Perceived {
	return scenario.Perceived{Model: perceived.Model{Noise: f.LabelNoise, Misfit: or(f.Misfit, perceived.DefaultMisfit),
		Cutoff: f.Cutoff}}
}

// check refuses values without a meaning. unit is the unit of the noise and the misfit.
func (f perceivedFlags) check(unit string) error {
	for _, v := range []struct {
		name  string
		value float64
		least string
	}{
		{"label-noise", f.LabelNoise, "more than zero " + unit},
		{"mae", f.MAE, "more than zero levels"},
		{"cutoff", f.Cutoff, "more than zero cycles"},
		{"misfit", or(f.Misfit, 0), "zero " + unit + " or more"},
	} {
		if !(v.value >= 0) || math.IsInf(v.value, 0) {
			return fmt.Errorf("--%s %v: want %s", v.name, v.value, v.least)
		}
	}
	return nil
}

// misfit is that of a model over some labels: where neither a flag nor a fit says it, the one that
// levels has.
func (f perceivedFlags) misfit(m scenario.Perceived, l forecast.Labels) float64 {
	if f.Misfit == nil && m.Path == "" {
		return l.DefaultMisfit()
	}
	return m.Misfit
}

// learn completes the networks of a scenario, for labels with some weights: what they were trained
// for, and the label noise that --mae gives. It does nothing under other error models.
func (f perceivedFlags) learn(ctx context.Context, s *scenario.Scenario, run scenario.Run, weights []float64) error {
	m, ok := s.Model.(scenario.Perceived)
	if !ok {
		return nil
	}
	m.Workers = run.Workers
	m.Training = cmp.Or(m.Training, perceived.BCE)
	m.Misfit = f.misfit(m, forecast.LabelsOf(s, weights))
	if f.MAE > 0 {
		var err error
		if m.Noise, err = forecast.LabelsOf(s, weights).NoiseOf(ctx, m.Workers, m.Model, len(weights),
			f.MAE); err != nil {
			return fmt.Errorf("--mae %v: %w", f.MAE, err)
		}
	}
	s.Model = m
	return nil
}

// trainingFlag says what networks that know a perceived label were trained for.
type trainingFlag struct {
	Training perceived.Training `enum:",bce,ce,l1,l2" default:"" placeholder:"WHAT" group:"model" help:"How they were trained: bce, each bit by itself; ce, all together for the decoder, which reads logits; l1 or l2, all together through gen-ex, by its mean |error| or squared error (default: bce, or as --model says)."`
}

// model returns the error model that the flags name: nil where the fit of --model has it.
func (f mixtureFlags) model() scenario.Model {
	switch {
	case f.perceived():
		return f.perceivedFlags.model()
	case f.Model != "":
		return nil
	case f.Errors != "":
		if strings.EqualFold(filepath.Ext(f.Errors), ".json") {
			return verify.Laws{Path: f.Errors}
		}
		return scenario.Table{Path: f.Errors}
	}
	m := scenario.DefaultMixture()
	return scenario.Mixture{R: or(f.R, m.R), Sigma: or(f.Sigma, m.Sigma)}
}

// priorFlag chooses how often each label occurs.
type priorFlag struct {
	Prior string `placeholder:"FILE" reads:"" group:"model" help:"Histogram of the labels, CSV with columns label,count; the lowest label is level 1 (default: all levels alike)."`
}

// fill fills in a scenario from --model and --prior. What the other flags say wins over the fit,
// which is nil without --model. other is the error model that they mean, or AutoModel.
func (f modelFlag) fill(s *scenario.Scenario, outputs outputsFlags, prior priorFlag,
	other assess.ErrorModel) (fit *assess.Fit, err error) {
	if f.Model != "" {
		which, path := assess.SplitModel(f.Model)
		if fit, err = assess.Read(path); err != nil {
			return nil, err
		}
		if !f.uneven {
			if err := fit.CheckEven(); err != nil {
				return nil, err
			}
		}
		if which == assess.AutoModel {
			which = other
		}
		if err := fit.Fill(s, which); err != nil {
			return nil, err
		}
		outputs.override(s)
	}
	p, err := scenario.ReadPrior(prior.Prior)
	p.Fitted, p.FitPath = s.Prior.Fitted, s.Prior.FitPath
	s.Prior = p
	return fit, err
}

// scenarioFlags say what a computation of one error model is about.
type scenarioFlags struct {
	outputsFlags
	mixtureFlags
	priorFlag
}

// readScenario fills in a scenario, and checks its values and the values of the sampling. The fit
// is nil without --model. training is that of the networks, "" where no flag gives it.
func (f scenarioFlags) readScenario(env *environment, draw scenario.Sampling,
	training perceived.Training) (*scenario.Scenario, *assess.Fit, error) {
	s := f.outputsFlags.scenario(env)
	if err := checkFlags(draw.Check(), scenario.CheckTemperature(s.Temperature),
		f.perceivedFlags.check("levels")); err != nil {
		return nil, nil, err
	}
	s.Model = f.mixtureFlags.model()
	fit, err := f.fill(s, f.outputsFlags, f.priorFlag, assess.AutoModel)
	if err != nil {
		return nil, nil, err
	}
	m, ok := s.Model.(scenario.Perceived)
	if ok {
		m.Misfit, m.Cutoff, m.Training = or(f.Misfit, m.Misfit), cmp.Or(f.Cutoff, m.Cutoff), cmp.Or(training,
			m.Training)
		s.Model = m
		return s, fit, nil
	}
	for _, v := range []struct {
		name  string
		given bool
	}{{"misfit", f.Misfit != nil}, {"cutoff", f.Cutoff > 0}, {"training", training != ""}} {
		if fit != nil && v.given {
			return nil, nil, fmt.Errorf("--%s is for perceived labels, and %s gives a mixture here; --model perceived:FILE takes its perceived label", v.name, f.Model)
		}
	}
	return s, fit, nil
}

// sizes says how many levels codes have, for scenario.OpenCodes: byDefault where no flag and no
// file says it, or 0 for scenario.DefaultLevels.
func sizes(s *scenario.Scenario, levels, byDefault int, fit *assess.Fit, decoders ...string) scenario.Sizes {
	if fit != nil {
		byDefault = fit.Levels
	}
	if t, ok := s.Model.(interface{ Levels() int }); ok && levels == 0 {
		if rows := t.Levels(); rows > 0 {
			byDefault = rows
		}
	}
	return scenario.Sizes{Levels: levels, Prior: s.Prior.Levels(), Default: byDefault, Real: s.ReadsReal(decoders...)}
}

// samplingFlags say how much is sampled.
type samplingFlags struct {
	Samples uint64  `placeholder:"N" help:"Samples of each label (default: so many that standard errors are 0.2 % of the mean, as far as half a second of a processor does it); with --rel-err, the most of them (default: ${most})."`
	RelErr  float64 `placeholder:"X" group:"sampling" help:"Sample so much that every reported standard error is about X times its mean; a pilot finds how much."`
	Seed    uint64  `default:"1" group:"sampling" help:"Seed of the random numbers. The same seed gives the same result."`
}

// sampling returns the sampling that the flags ask for.
func (f samplingFlags) sampling() scenario.Sampling {
	s := scenario.DefaultSampling()
	switch s.Seed = f.Seed; {
	case f.RelErr != 0:
		s.RelErr, s.MaxSamples, s.Work = f.RelErr, cmp.Or(f.Samples, s.MaxSamples), 0
	case f.Samples > 0:
		s = s.Fixed(f.Samples)
	}
	return s
}

// warnUnreached says that --samples came before --rel-err.
func (f samplingFlags) warnUnreached(env *environment, reached bool) {
	if !reached && f.RelErr > 0 {
		env.note("--samples %d was reached before --rel-err %g: some standard errors are larger",
			f.sampling().MaxSamples, f.RelErr)
	}
}

// checkFlags refuses values that mean nothing, naming the flags that have them.
func checkFlags(checks ...error) error {
	var all []error
	for _, err := range checks {
		var v *scenario.ValueError
		switch {
		case !errors.As(err, &v):
			all = append(all, err)
		case v.Name == "samples":
			all = append(all, fmt.Errorf("--samples %v: a standard error needs at least 2", v.Value))
		case v.Name == "max_samples":
			all = append(all, fmt.Errorf("--samples %v: want %s", v.Value, v.Want))
		default:
			all = append(all, fmt.Errorf("--%s %v: want %s", strings.ReplaceAll(v.Name, "_", "-"), v.Value, v.Want))
		}
	}
	return errors.Join(all...)
}

// workersFlag limits the processors in use.
type workersFlag struct {
	Workers int `default:"0" placeholder:"N" group:"sampling" help:"Processors to use (default: all). Never changes a number."`
}

// checkWorkers refuses a negative number, and more than parallel.Most.
func (f workersFlag) checkWorkers() error {
	if f.Workers < 0 {
		return fmt.Errorf("--workers %d: want 1 or more, or 0 for all", f.Workers)
	}
	if most := parallel.Most(); f.Workers > most {
		return fmt.Errorf("--workers %d: want at most %d, which is %d for each processor", f.Workers, most,
			parallel.PerProcessor)
	}
	return nil
}
