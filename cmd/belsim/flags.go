package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"belsim/errmodel"
	"belsim/errmodel/assess"
	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/theory"
	"belsim/theory/base/parallel"
	"belsim/theory/base/refuse"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// circularFlag says that level 1 is beside level L.
type circularFlag struct {
	Circular bool `help:"Level 1 is beside level L, as angles have them."`
}

// levelsFlag is --levels where a code may be a file. Zero means unset.
type levelsFlag struct {
	Levels int `placeholder:"L" help:"Number of levels of named codes (default: 256, or as a file or --prior has)."`
}

// outputsFlags say what decoders read, and what their answers cost.
type outputsFlags struct {
	Cost        string  `default:"absolute" placeholder:"COST" reads:"" help:"What an answer costs: ${cost}."`
	Outputs     string  `enum:"auto,bits,logits" default:"auto" group:"model" help:"What the decoder reads: ${enum}; auto: logits for gen-ex and real codes."`
	Temperature float64 `placeholder:"τ" group:"model" help:"Temperature τ of gen-ex, which multiplies logits (default: 1)."`
}

// scenario returns a scenario with the values of the flags.
func (f outputsFlags) scenario(env *environment) *scenario.Scenario {
	s := scenario.New(nil)
	s.Outputs, s.Decoders = decode.Outputs(f.Outputs), env.decoders
	f.override(s)
	return s
}

// ask makes codes cost what the flag says.
func (f outputsFlags) ask(s *scenario.Scenario, levels int, circular bool) error {
	return checkFlags(s.SetCost(f.Cost, circular, levels))
}

// override sets what the flags say, where they are given.
func (f outputsFlags) override(s *scenario.Scenario) {
	s.Temperature = cmp.Or(f.Temperature, s.Temperature)
}

// modelFlag takes the error model from a fit.
type modelFlag struct {
	Model string `xor:"r,sigma" placeholder:"FILE" reads:"" help:"${model}"`
}

// mixtureFlags choose the classifiers' error probabilities at a code's own transitions. One flag of
// each xor can be given: what takes the place of r and σ takes that of both.
type mixtureFlags struct {
	R      *float64 `xor:"r" placeholder:"r" help:"Weight r of the Gaussian at each bit transition (default: ${r})."`
	Sigma  float64  `xor:"sigma" placeholder:"σ" help:"Width σ of the Gaussians, in levels (default: ${sigma})."`
	Errors string   `xor:"r,sigma" placeholder:"FILE" reads:"" group:"model" help:"Error probabilities e[n,k], an L × M table in .csv or .npy."`
	modelFlag
}

// model returns the error model that the flags name: nil where the fit of --model has it.
func (f mixtureFlags) model() scenario.Model {
	switch {
	case f.Model != "":
		return nil
	case f.Errors != "":
		return scenario.NewTable(f.Errors)
	}
	m := scenario.DefaultMixture()
	if f.R != nil {
		m.R = *f.R
	}
	m.Sigma = cmp.Or(f.Sigma, m.Sigma)
	return m
}

// sharedFlag adds noise that all bits share.
type sharedFlag struct {
	Shared string `placeholder:"s|FILE" reads:"" group:"model" help:"Noise that all bits share: its standard deviation s in levels, or a histogram: a CSV with columns offset,weight, or a .json of fit. With it, r and σ are those of the other errors."`
}

// read reads the noise, which wins over that of a fit.
func (f sharedFlag) read(s *scenario.Scenario) (err error) {
	if f.Shared != "" {
		s.Shared, err = errmodel.ParseShared(f.Shared)
	}
	return checkFlags(err)
}

// priorFlag chooses how often each label occurs.
type priorFlag struct {
	Prior string `placeholder:"FILE" reads:"" group:"model" help:"${histogram}"`
}

// fill reads the fit of --model, nil without it, into a scenario, and checks a sampling.
func (f modelFlag) fill(s *scenario.Scenario, draw montecarlo.Sampling) (*assess.Fit, error) {
	if err := checkFlags(draw.Check()); err != nil || f.Model == "" {
		return nil, err
	}
	fit, err := assess.Read(f.Model)
	if err == nil {
		fit.Fill(s)
	}
	return fit, err
}

// scenarioFlags say what a computation of one error model is about.
type scenarioFlags struct {
	outputsFlags
	mixtureFlags
	sharedFlag
	priorFlag
}

// read fills in a scenario from the flags, and from a fit where --model names one, and checks the
// values of the sampling. What the other flags say wins over the fit, which is nil
// without --model.
func (f scenarioFlags) read(env *environment, draw montecarlo.Sampling) (*scenario.Scenario, *assess.Fit, error) {
	s := f.outputsFlags.scenario(env)
	s.Model = f.mixtureFlags.model()
	fit, err := f.modelFlag.fill(s, draw)
	if err != nil {
		return nil, nil, err
	}
	f.outputsFlags.override(s)
	if err := f.sharedFlag.read(s); err != nil {
		return nil, nil, err
	}
	return s, fit, f.priorFlag.read(s)
}

// read reads the histogram of --prior, which wins over the labels of a fit.
func (f priorFlag) read(s *scenario.Scenario) error {
	p, err := theory.ReadPrior(f.Prior)
	s.Prior.Path, s.Prior.Histogram = p.Path, p.Histogram
	return err
}

// sizes says how many levels codes have, for code.OpenAll: byDefault where no flag and no
// file says it, or 0 for code.DefaultLevels. They are on a circle where the flag or the fit says so.
func sizes(s *scenario.Scenario, levels, byDefault int, circle circularFlag, fit *assess.Fit) code.Sizes {
	if fit != nil {
		byDefault, circle.Circular = fit.Levels, circle.Circular || fit.Circular
	}
	if t, ok := s.Model.(interface{ Levels() int }); ok && levels == 0 {
		if rows := t.Levels(); rows > 0 {
			byDefault = rows
		}
	}
	return code.Sizes{Levels: levels, Prior: s.Prior.Levels(), Default: byDefault, Circular: circle.Circular}
}

// samplesFlags say how much is sampled.
type samplesFlags struct {
	Samples uint64 `placeholder:"N" help:"Samples of each label (default: by precision, or 100,000 in verify)."`
	Seed    uint64 `default:"1" group:"sampling" help:"Seed of the random numbers."`
}

// sampling returns the sampling that the flags ask for.
func (f samplesFlags) sampling() montecarlo.Sampling {
	s := montecarlo.DefaultSampling()
	if s.Seed = f.Seed; f.Samples > 0 {
		s = s.Fixed(f.Samples)
	}
	return s
}

// checkFlags words the refusal of a value by the name of its flag.
func checkFlags(err error) error {
	v, ok := errors.AsType[*refuse.Value](err)
	if !ok {
		return err
	}
	return fmt.Errorf("--%s %v: want %s", strings.ReplaceAll(v.Name, "_", "-"), v.Value, v.Want)
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
