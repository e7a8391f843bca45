package main

import (
	"context"
	"io"

	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/montecarlo/verify"
	"belsim/plots"
	"belsim/plots/paper"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/expect"
)

type verifyCmd struct {
	Code string `default:"johnson-nonzero" reads:"" help:"Code: a NAME, a FILE or NAME=FILE."`
	levelsFlag
	circularFlag
	Decoder string `enum:"${decoders}" default:"auto" help:"Decoder: ${enum}; ${auto}."`
	scenarioFlags
	Random bool `xor:"r,sigma" group:"model" help:"Draw the error probabilities uniformly from 0 to 1."`
	samplesFlags
	Confusion []string `group:"output" sep:"none" placeholder:"FILE" help:"Write P(answer m | label n), L × L, to FILE: .npy, .csv or a picture; several times."`
	backendFlags
	pictureFlags `set:"endings=.csv .json .png .svg .pdf"`
}

// Run implements the command.
func (cmd *verifyCmd) Run(ctx context.Context, env *environment) error {
	if err := cmd.checkOutput(env, cmd.result(nil, nil)); err != nil {
		return err
	}
	matrix := outputFlags{Output: cmd.Confusion, flag: "--confusion"}
	if cmd.Confusion != nil {
		if err := matrix.checkOutput(env, cmd.confusion(ctx, nil, nil)); err != nil {
			return err
		}
	}
	draw := cmd.sampling()
	if cmd.Samples == 0 {
		draw = montecarlo.FixedSampling()
		draw.Seed = cmd.Seed
	}
	draw.Answers = cmd.Confusion != nil
	s, fit, err := cmd.read(env, draw)
	if err != nil {
		return err
	}
	if cmd.Random {
		s.Model = scenario.Random{Seed: cmd.Seed}
	}
	codes, err := code.OpenAll([]string{cmd.Code}, sizes(s, cmd.Levels, 0, cmd.circularFlag, fit))
	if err != nil {
		return err
	}
	if err := cmd.ask(s, codes[0].Levels(), codes[0].Circular()); err != nil {
		return err
	}
	weights, err := s.Weights(codes[0].Levels())
	if err != nil {
		return err
	}
	backend := cmd.backend(env)
	defer backend.Close()
	var p *montecarlo.Problem
	var th *expect.Theory
	if err := env.during("theory", func() error {
		d, err := s.Decoder(cmd.Decoder, codes[0])
		if err != nil {
			return err
		}
		if p, err = draw.Problem(ctx, s, codes[0], d); err != nil {
			return err
		}
		th, err = expect.Of(ctx, cmd.Workers, p.Expected(), weights, expect.Skip{Intervals: true, SlowLaw: true})
		return err
	}); err != nil {
		return err
	}
	env.disturb(th.Levels)
	bar := env.newProgress("samples", draw.Samples*uint64(len(th.Levels)))
	v, err := verify.Check(ctx, s, cmd.run(backend, bar), p, th, weights, draw)
	bar.stop()
	if err != nil {
		return err
	}
	v.Provenance = env.provenance()
	if err := matrix.write(env, cmd.confusion(ctx, v, s).write); err != nil {
		return err
	}
	err = cmd.deliver(env, cmd.result(v, s))
	if err == nil && v.Failed() {
		return errFailed
	}
	return err
}

// confusion is the confusion matrix, or its picture.
func (cmd *verifyCmd) confusion(ctx context.Context, v *verify.Report, s *scenario.Scenario) result {
	return result{
		files: map[string]func(io.Writer) error{
			"npy": func(w io.Writer) error { return arrayfile.WriteNPY(ctx, w, v.Matrix) },
			"csv": func(w io.Writer) error { return arrayfile.WriteCSV(ctx, w, v.Matrix) },
		},
		figure: func() (*plots.Figure, error) {
			return plots.Confusion(paper.ConfusionData(v, s.String(), cmd.style())), nil
		},
	}
}

// result is the check.
func (cmd *verifyCmd) result(v *verify.Report, s *scenario.Scenario) result {
	return result{
		files: map[string]func(io.Writer) error{
			"json": asJSON(v),
			"csv":  func(w io.Writer) error { return table.WriteCSV(w, v.Labels) },
		},
		figure: func() (*plots.Figure, error) { return plots.Verify(paper.VerifyData(v, s.String(), cmd.style())), nil },
		print:  func(w io.Writer) error { return v.Write(w, s.String(), "-o FILE.csv has all") },
	}
}
