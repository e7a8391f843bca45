package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"belsim/errmodel/perceived"
	"belsim/montecarlo"
	"belsim/montecarlo/assess"
	"belsim/montecarlo/forecast"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/parallel"
)

// levelsFlag is --levels where a code may be a file. Zero means unset.
type levelsFlag struct {
	Levels int `placeholder:"L" help:"Number of quantization levels of named codes (default: 256, or as many as a file or --prior has)."`
}

const defaultLevels = 256

// outputsFlags say what decoders read, and how the outputs depend on each other.
type outputsFlags struct {
	Outputs     string  `enum:"auto,bits,logits" default:"auto" help:"What the classifiers give: ${enum}; auto gives logits to gen-ex, to mean and to codes of real numbers, bits to other decoders."`
	Temperature float64 `default:"1" placeholder:"τ" help:"Temperature τ of gen-ex, by which outputs are multiplied (default: 1)."`
	SharedNoise float64 `default:"0" placeholder:"ρ" help:"Part ρ, from 0 to 1, of the noise that is one displacement of the perceived label, common to all bits (default: 0)."`
	Labels      string  `enum:"levels,continuous" default:"levels" help:"True labels: levels, or real numbers that are quantized to them."`
}

// scenario returns a scenario with the values of the flags.
func (f outputsFlags) scenario(env *environment) *scenario.Scenario {
	return &scenario.Scenario{
		Outputs: scenario.Outputs(f.Outputs), Temperature: f.Temperature, SharedNoise: f.SharedNoise,
		Labels: scenario.Labels(f.Labels), Decoders: env.decoders,
	}
}

// fitFlag takes the error model from a fit.
type fitFlag struct {
	Model      string `placeholder:"FILE" reads:"" help:"Take the error model, prior and temperature from what 'belsim fit -o FILE.json' wrote; --prior, --shared-noise, --temperature, --misfit, --cutoff and --training win over it."`
	ErrorModel string `enum:"auto,mixture,perceived" default:"auto" help:"Which error model of --model: ${enum}. auto: the perceived label where it describes the network or the data reject the mixture, and neither --shared-noise nor --r nor --sigma is given."`
}

// mixtureFlags choose the classifiers' error probabilities at a code's own transitions.
type mixtureFlags struct {
	R      float64 `default:"0.5" help:"Weight r of the Gaussian at each bit transition: nearly the mean error of unary in levels. Trained networks had 1.3 to 4.4 % of the number of levels (default: ${default})."`
	Sigma  float64 `default:"3" help:"Width σ of the Gaussians, in levels: how far from a transition bits err; about r, or a little more, in trained networks (default: ${default})."`
	Errors string  `placeholder:"FILE" reads:"" help:"Table of error probabilities instead: .csv or .npy, one row per level, one column per bit."`
	fitFlag
	perceivedFlags
}

// perceivedFlags choose networks that know one number, the perceived label, instead of a table
// of error probabilities.
type perceivedFlags struct {
	LabelNoise float64             `placeholder:"s" help:"Error model of networks instead: each knows one number, the label with a noise of standard deviation s, in levels (in label units where compare has --range)."`
	MAE        forecast.UnaryError `name:"mae" placeholder:"X" help:"The same, with the noise at which unary, trained bit by bit and read by gen, has a mean |error| of X levels (with --range of compare: of X label units, quantization included, at the largest number of levels, or at L levels: X@L)."`
	Misfit     float64             `default:"${misfit}" placeholder:"η" help:"Misfit η of these networks, in levels: how far a bit is from what it could have learned (default: ${misfit}; in label units where compare has --range)."`
	Cutoff     float64             `placeholder:"κ" help:"Cutoff κ of what they learn, in cycles over the range of labels (default: by s and the number of levels)."`
}

// perceived reports whether the flags ask for such networks.
func (f perceivedFlags) perceived() bool { return f.LabelNoise > 0 || f.MAE.Error > 0 }

// model returns the networks, without the label noise where --mae gives it, and without their
// training.
func (f perceivedFlags) model(workers int) scenario.Perceived {
	return scenario.Perceived{Model: perceived.Model{Noise: f.LabelNoise, Misfit: f.Misfit, Cutoff: f.Cutoff}, Workers: workers}
}

// check refuses values without a meaning.
func (f perceivedFlags) check() error {
	for _, v := range []struct {
		name  string
		value float64
		least string
	}{
		{"label-noise", f.LabelNoise, "more than zero levels"},
		{"cutoff", f.Cutoff, "more than zero cycles"},
		{"misfit", f.Misfit, "zero levels or more"},
	} {
		if !(v.value >= 0) || math.IsInf(v.value, 0) {
			return fmt.Errorf("--%s %v: want %s", v.name, v.value, v.least)
		}
	}
	return nil
}

// learn completes the networks of a scenario, for labels with some weights: what they were trained for,
// unless a fit says it and --training does not, and the label noise that --mae gives. It does nothing
// under other error models.
func (f perceivedFlags) learn(ctx context.Context, env *environment, s *scenario.Scenario, run scenario.Run, weights []float64, training perceived.Training) error {
	m, ok := s.Model.(scenario.Perceived)
	if !ok {
		return nil
	}
	m.Workers = run.Workers
	if m.Training == "" || env.given["training"] {
		m.Training = training
	}
	if f.MAE.Levels > 0 {
		return fmt.Errorf("--mae %v: X@L is for label units, with --range", f.MAE)
	}
	if f.MAE.Error > 0 {
		var err error
		if m.Noise, err = s.NoiseOf(ctx, m, weights, f.MAE.Error); err != nil {
			return fmt.Errorf("--mae %v: %w", f.MAE, err)
		}
	}
	s.Model = m
	return m.Check()
}

// baselineFlag gives an error that no code has.
type baselineFlag struct {
	Baseline float64 `placeholder:"X" help:"Mean |error| of direct regression, a network without a code, to compare codes with: in levels, or in label units with --range."`
}

// trainingFlag says what networks that know a perceived label were trained for.
type trainingFlag struct {
	Training string `enum:"bits,decoder" default:"bits" help:"How they were trained: ${enum}. bits: each bit by itself (BCE); decoder: all together for the decoder (CE), which reads logits."`
}

func (f trainingFlag) training() perceived.Training { return perceived.Training(f.Training) }

// model returns the error model that the flags name: nil where the fit of --model has it.
func (f mixtureFlags) model(printed bool) scenario.Model {
	switch {
	case f.perceived():
		return f.perceivedFlags.model(0)
	case f.Model != "":
		return nil
	case f.Errors != "":
		return scenario.Table{Path: f.Errors}
	}
	return scenario.Mixture{R: f.R, Sigma: f.Sigma, Printed: printed}
}

// transitionsFlag chooses the transitions of codes that the paper prints transitions of.
type transitionsFlag struct {
	Transitions string `enum:"code,printed" default:"code" help:"Where bits are hard: at the code's own transitions, or where the paper's Eq. 4 prints them."`
}

func (f transitionsFlag) printed() bool { return f.Transitions == "printed" }

// priorFlag chooses how often each label occurs.
type priorFlag struct {
	Prior string `placeholder:"FILE" reads:"" help:"Histogram of the labels, CSV with columns label,count; the lowest label is level 1 (default: all levels alike)."`
}

// fillFit fills in a scenario from --model and --prior. What the command line says wins over the
// fit, which is nil without --model.
func fillFit(env *environment, s *scenario.Scenario, model fitFlag, prior priorFlag) (fit *assess.Fit, err error) {
	if model.Model != "" {
		if fit, err = assess.Read(model.Model); err != nil {
			return nil, err
		}
		noise, tau, which := s.SharedNoise, s.Temperature, assess.ErrorModel(model.ErrorModel)
		switch { // other flags say it, too
		case which != assess.AutoModel:
		case env.given["label-noise"]:
			which = assess.PerceivedModel
		case env.given["shared-noise"] || env.given["r"] || env.given["sigma"]:
			which = assess.MixtureModel
		}
		if err := fit.Fill(s, which); err != nil {
			return nil, err
		}
		if env.given["shared-noise"] {
			s.SharedNoise = noise
		}
		if env.given["temperature"] {
			s.Temperature = tau
		}
	}
	p, err := scenario.ReadPrior(prior.Prior)
	p.Fitted = s.Prior.Fitted
	s.Prior = p
	return fit, err
}

// scenarioFlags say what a computation of one error model is about.
type scenarioFlags struct {
	outputsFlags
	mixtureFlags
	transitionsFlag
	priorFlag
}

// readScenario fills in a scenario, and checks its values and the values of the sampling. The fit is
// nil without --model.
func (f scenarioFlags) readScenario(env *environment, draw scenario.Sampling) (*scenario.Scenario, *assess.Fit, error) {
	s := f.outputsFlags.scenario(env)
	if err := checkFlags(draw.Check(), s.Check(), f.perceivedFlags.check()); err != nil {
		return nil, nil, err
	}
	s.Model = f.mixtureFlags.model(f.printed())
	fit, err := fillFit(env, s, f.fitFlag, f.priorFlag)
	if err != nil || fit == nil {
		return s, fit, err
	}
	m, ok := s.Model.(scenario.Perceived)
	for _, name := range []string{"misfit", "cutoff", "training"} {
		if !ok && env.given[name] {
			return nil, nil, fmt.Errorf("--%s is for perceived labels, and %s gives a mixture here; --error-model perceived takes its perceived label", name, f.Model)
		}
	}
	if ok {
		if env.given["misfit"] {
			m.Misfit = f.Misfit
		}
		if env.given["cutoff"] {
			m.Cutoff = f.Cutoff
		}
		s.Model = m
	}
	return s, fit, nil
}

// sizes says how many levels codes have, for scenario.OpenCodes.
func sizes(s *scenario.Scenario, levels, usual int, fit *assess.Fit, decoders ...string) scenario.Sizes {
	if fit != nil {
		usual = fit.Levels
	}
	if t, ok := s.Model.(scenario.Table); ok && levels == 0 {
		if rows := t.Levels(); rows > 0 {
			usual = rows
		}
	}
	return scenario.Sizes{Levels: levels, Prior: s.Prior.Levels(), Usual: usual, Real: s.ReadsReal(decoders...)}
}

// samplingFlags say how much is sampled.
type samplingFlags struct {
	Samples    uint64  `default:"${samples}" help:"Samples of each label."`
	RelErr     float64 `placeholder:"X" help:"Sample so much that every reported standard error is at most X times its mean, instead; a pilot finds how much."`
	MaxSamples uint64  `default:"100000000" help:"Most samples of each label with --rel-err."`
	Within     int     `default:"5" placeholder:"θ" help:"Count errors of at most θ levels (default: 5)."`
	Seed       uint64  `default:"1" help:"Seed of the random numbers. The same seed gives the same result."`
}

// sampling returns the sampling that the flags ask for.
func (f samplingFlags) sampling() scenario.Sampling {
	return scenario.Sampling{Samples: f.Samples, RelErr: f.RelErr, MaxSamples: f.MaxSamples, Within: f.Within, Seed: f.Seed}
}

// warnUnreached says that --max-samples came before --rel-err.
func (f samplingFlags) warnUnreached(env *environment, quiet, reached bool) {
	if !reached && !quiet {
		fmt.Fprintf(env.stderr, "belsim: note: --max-samples %d was reached before --rel-err %g: some standard errors are larger\n", f.MaxSamples, f.RelErr)
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
			all = append(all, fmt.Errorf("--max-samples %v: --rel-err samples in blocks of %d; want at least one", v.Value, montecarlo.BlockSize))
		default:
			all = append(all, fmt.Errorf("--%s %v: want %s", strings.ReplaceAll(v.Name, "_", "-"), v.Value, v.Want))
		}
	}
	return errors.Join(all...)
}

// workersFlag limits the processors in use.
type workersFlag struct {
	Workers int `default:"0" placeholder:"N" help:"Processors to use (default: all). Never changes a number."`
}

// checkWorkers refuses a negative number, and more than parallel.Most.
func (f workersFlag) checkWorkers() error {
	if f.Workers < 0 {
		return fmt.Errorf("--workers %d: want 1 or more, or 0 for all", f.Workers)
	}
	if most := parallel.Most(); f.Workers > most {
		return fmt.Errorf("--workers %d: want at most %d, which is %d for each processor", f.Workers, most, parallel.PerProcessor)
	}
	return nil
}
