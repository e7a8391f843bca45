package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"belsim/errmodel/assess"
	"belsim/errmodel/forecast"
	"belsim/errmodel/perceived"
	"belsim/montecarlo/scenario"
	"belsim/montecarlo/verify"
	"belsim/theory/base/parallel"
)

// levelsFlag is --levels where a code may be a file. Zero means unset.
type levelsFlag struct {
	Levels int `placeholder:"L" help:"Number of levels of named codes (default: 256, or as a file or --prior has)."`
}

// outputsFlags say what decoders read, and how the outputs depend on each other.
type outputsFlags struct {
	Outputs     string  `enum:"auto,bits,logits" default:"auto" group:"model" help:"What classifiers give: ${enum}; auto: logits for gen-ex and real codes."`
	Temperature float64 `placeholder:"τ" group:"model" help:"Temperature τ of gen-ex (default: 1)."`
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
	Model string `xor:"r,sigma" placeholder:"[KIND:]FILE" reads:"" help:"Error model, prior and temperature of a .json of fit."`

	uneven bool // fits of uneven levels are taken
}

// mixtureFlags choose the classifiers' error probabilities at a code's own transitions. One flag of
// each xor can be given: what takes the place of r and σ takes that of both.
type mixtureFlags struct {
	R      *float64 `xor:"r" placeholder:"r" help:"Weight r of the Gaussian at each bit transition (default: ${r})."`
	Sigma  *float64 `xor:"sigma" placeholder:"σ" help:"Width σ of the Gaussians, in levels (default: ${sigma})."`
	Errors string   `xor:"r,sigma" placeholder:"FILE" reads:"" group:"model" help:"Table of error probabilities, or laws in a .json of verify."`
	modelFlag
	perceivedFlags
}

// perceivedFlags choose networks that know one number, the perceived label, instead of a table
// of error probabilities.
type perceivedFlags struct {
	LabelNoise float64  `xor:"r,sigma" placeholder:"s" group:"model" help:"The same as --mae, by the noise in levels."`
	MAE        float64  `name:"mae" xor:"r,sigma" placeholder:"X" help:"Networks of one noisy label, by unary's error in levels."`
	Misfit     *float64 `placeholder:"η" group:"model" help:"Misfit η of networks, in levels (default: ${misfit} at 64)."`
	Cutoff     float64  `placeholder:"κ" group:"model" help:"Cutoff κ of what networks learn, in cycles (default: by s)."`
}

// perceived reports whether the flags ask for such networks.
func (f perceivedFlags) perceived() bool { return f.LabelNoise > 0 || f.MAE > 0 }

// model returns the networks, without the label noise where --mae gives it, and without their
// training.
func (f perceivedFlags) model() scenario.Perceived {
	return scenario.Perceived{Model: perceived.Model{Noise: f.LabelNoise, Misfit: or(f.Misfit, perceived.DefaultMisfit),
		Cutoff: f.Cutoff}}
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
	Training perceived.Training `enum:",bce,ce,l1,l2" default:"" placeholder:"WHAT" group:"model" help:"${training}"`
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
	Prior string `placeholder:"FILE" reads:"" group:"model" help:"${histogram}"`
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
	if err := checkFlags(draw.Check()); err != nil {
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
			return nil, nil, fmt.Errorf(
				"--%s is for perceived labels, and %s gives a mixture: want --model perceived:FILE", v.name, f.Model)
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
	Samples uint64  `placeholder:"N" help:"Samples of each label (default: by time); with --rel-err at most ${most}."`
	RelErr  float64 `placeholder:"X" group:"sampling" help:"Sample until standard errors are about X times the mean."`
	Seed    uint64  `default:"1" group:"sampling" help:"Seed of the random numbers."`
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

// checkFlags words the refusal of a value by the name of its flag.
func checkFlags(err error) error {
	v, ok := errors.AsType[*scenario.ValueError](err)
	if !ok {
		return err
	}
	flag := strings.ReplaceAll(strings.TrimPrefix(v.Name, "max_"), "_", "-")
	return fmt.Errorf("--%s %v: want %s", flag, v.Value, v.Want)
}

// workersFlag limits the processors in use.
type workersFlag struct {
	Workers int `default:"0" placeholder:"N" group:"sampling" help:"Processors to use (default: all)."`
}

// checkWorkers refuses more than parallel.Most.
func (f workersFlag) checkWorkers() error {
	if most := parallel.Most(); f.Workers > most {
		return fmt.Errorf("--workers %d: want at most %d, which is %d for each processor", f.Workers, most,
			parallel.PerProcessor)
	}
	return nil
}
