package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/montecarlo/table"
	"belsim/plots"
	"belsim/plots/paper"
	"belsim/theory/code"
)

type compareCmd struct {
	Codes []string `arg:"" optional:"" name:"code" reads:"" help:"Codes, NAMEs and FILEs; without any, all that belsim knows."`
	levelsFlag
	Decoder []string `enum:"${decoders}" default:"auto" help:"Decoder of every code, or several, with commas between them: ${enum}; auto takes the paper's for each."`
	scenarioFlags
	Training []string `enum:"bits,decoder" default:"bits" help:"How the networks of --label-noise were trained, or both ways: ${enum}. bits: each bit by itself (BCE); decoder: all together for the decoder (CE), which reads logits."`
	samplingFlags
	backendFlags
	outputFlags
}

func (compareCmd) Help() string {
	return `One row for each code, the smallest error first: bits, bound, exact expectation and sampled mean of |error|, with its standard error; root mean square, share of samples within θ levels, and the worst level. With several decoders, a table of the errors of all codes with all decoders that fit them.

Examples:

  belsim compare unary johnson b1jdj hexj hadamard --levels 64 --r 0.6 --sigma 1.5

  belsim compare unary johnson hexj --levels 64 --decoder bel-u,bel-j,gen,gen-ex --labels continuous`
}

// Run implements the command.
func (cmd *compareCmd) Run(ctx context.Context, env *environment) error {
	if err := firstError(cmd.checkWorkers(), cmd.checkOutput(env, "csv", "json", "png", "svg", "pdf", "tex")); err != nil {
		return err
	}
	draw := cmd.sampling()
	s, fit, err := cmd.readScenario(env, draw)
	if err != nil {
		return err
	}
	names := cmd.Codes
	if len(names) == 0 {
		for _, f := range code.Families() {
			names = append(names, f.Name)
		}
	}
	codes, err := scenario.OpenCodes(names, sizes(s, cmd.Levels, defaultLevels, fit, cmd.Decoder...))
	if err != nil {
		return err
	}
	weights, err := s.Weights(codes[0].Levels())
	if err != nil {
		return err
	}
	backend := cmd.backend(env, cmd.Quiet)
	defer backend.Close()
	candidates, err := cmd.candidates(ctx, s, cmd.run(backend, nil), codes, weights, draw)
	if err != nil {
		return err
	}
	bar := env.newProgress(cmd.Quiet, "samples", draw.Most()*uint64(codes[0].Levels()*len(candidates)))
	result, err := s.Compare(ctx, cmd.run(backend, bar), candidates, weights, draw)
	bar.stop()
	if err != nil {
		return bar.interrupted(err)
	}
	result.Provenance = env.provenance()
	cmd.warnUnreached(env, cmd.Quiet, result.Reached)
	if err := cmd.write(env, func(w io.Writer, path string) error {
		switch format(path) {
		case "json":
			return table.WriteJSON(w, result)
		case "csv":
			return table.WriteCSV(w, result.Results, cmd.columns()...)
		}
		return writeFigure(w, path)(plots.Compare(paper.CompareData(result, s.String(), cmd.size())))
	}); err != nil {
		return err
	}
	if cmd.JSON {
		return table.WriteJSON(env.stdout, result)
	}
	fmt.Fprintf(env.stdout, "%d levels, %s, seed %d; |error| in levels\n\n", result.Levels, s, result.Seed)
	if len(cmd.Decoder) > 1 || len(cmd.Training) > 1 {
		return cmd.print(env, result.DecoderTable(env.decoders))
	}
	return cmd.print(env, result.Table())
}

// candidates are the codes with their decoders. Networks that know a perceived label learn each
// code once for each training.
func (cmd *compareCmd) candidates(ctx context.Context, s *scenario.Scenario, run scenario.Run, codes []*code.Code, weights []float64, draw scenario.Sampling) ([]*montecarlo.Problem, error) {
	if !cmd.perceived() {
		return s.Candidates(ctx, codes, cmd.Decoder, draw)
	}
	var out []*montecarlo.Problem
	for i, training := range cmd.Training {
		if slices.Contains(cmd.Training[:i], training) {
			return nil, fmt.Errorf("--training %s is given twice", training)
		}
		if i == 0 {
			if err := cmd.learn(ctx, s, run, weights, errmodel.Training(training)); err != nil {
				return nil, err
			}
		}
		m := s.Model.(scenario.Perceived)
		m.Training = errmodel.Training(training)
		of := s.With(m)
		decoders := cmd.Decoder
		if len(cmd.Training) > 1 { // decoders of bits are for one of them
			decoders = of.Fitting(decoders)
		}
		some, err := of.Candidates(ctx, codes, decoders, draw)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	if len(cmd.Training) > 1 { // rows say it
		m := s.Model.(scenario.Perceived)
		m.Training = ""
		s.Model = m
	}
	return out, nil
}

// columns leaves out of the CSV what other error models do not have.
func (cmd *compareCmd) columns() []table.Option {
	if cmd.perceived() {
		return nil
	}
	return []table.Option{table.Without("training", "forecast")}
}
