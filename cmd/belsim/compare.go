package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"belsim/errmodel/perceived"
	"belsim/montecarlo"
	"belsim/montecarlo/assess"
	"belsim/montecarlo/forecast"
	"belsim/montecarlo/scenario"
	"belsim/plots"
	"belsim/plots/paper"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

type compareCmd struct {
	Codes   []string          `arg:"" optional:"" name:"code" reads:"" help:"Codes, NAMEs and FILEs; without any, all that belsim knows."`
	Levels  []int             `placeholder:"L" help:"Number of quantization levels of named codes (default: 256, or as many as a file or --prior has); with --range, several with commas between them."`
	Range   assess.LabelRange `placeholder:"a:b" help:"Range of real labels: a is level 1, b the last one, for every number of levels. Networks of --label-noise or --mae are then forecast in label units, quantization included."`
	Decoder []string          `enum:"${decoders}" default:"gen" help:"Decoder of every code, or several, with commas between them: ${enum} (default: gen; with --range, auto); auto takes the paper's for each, or with --range the best; map, median and mean know the error model."`
	scenarioFlags
	Training []perceived.Training `enum:"bits,decoder" default:"bits" help:"How the networks of --label-noise were trained, or both ways: ${enum}. bits: each bit by itself (BCE); decoder: all together for the decoder (CE), which reads logits."`
	Least    bool                 `help:"Also give the least error that a decoder of the same outputs can have, and how far above it each decoder is: a decoder that knows the error model, exact or sampled."`
	baselineFlag
	samplingFlags
	Stratified bool `help:"Sample only what is not known exactly: gen on bits that err independently; other codes have plain samples. Standard errors are many times smaller where errors are rare."`
	backendFlags
	outputFlags
}

func (compareCmd) Help() string {
	return `One row for each code, the smallest error first: bits, bound, exact expectation and sampled mean of |error|, with its standard error; root mean square, share of samples within θ levels, and the worst level. With several decoders, a table of the errors of all codes with all decoders that fit them.

Bits err independently, unless a flag says another model. Around each transition of a bit, its error probabilities are a Gaussian of width σ, in levels, and add up to r. If you expect an error of X levels of unary, take r = X and σ = X or a little more: trained networks had 1.3 to 4.4 % of the number of levels (0.8 to 2.8 for 64). ! marks codes with more than 8 transitions of a bit, which networks learn badly; --mae forecasts trained networks. ~ marks codes that are not told apart from the first.

Examples:

  belsim compare unary johnson b1jdj hexj hadamard --levels 64 --r 0.6 --sigma 1.5

  belsim compare unary johnson hexj --levels 64 --decoder bel-u,bel-j,gen,gen-ex --labels continuous

How many levels, for labels from 0 to 100 of which unary with 256 levels misses 3.4 on average:

  belsim compare unary johnson --levels 32,64,128,256 --range 0:100 --mae 3.4@256`
}

// Run implements the command.
func (cmd *compareCmd) Run(ctx context.Context, env *environment) error {
	if slices.Contains(cmd.Levels, 0) {
		return errors.New("--levels 0: want 1 or more")
	}
	known := []string{"csv", "json", "png", "svg", "pdf", "tex"}
	if cmd.inUnits() {
		known = known[:2]
	}
	if err := firstError(cmd.checkWorkers(), cmd.checkOutput(env, known...), checkFlags(scenario.CheckBaseline(cmd.Baseline))); err != nil {
		return err
	}
	draw := cmd.sampling()
	draw.Stratified = cmd.Stratified
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
	if cmd.inUnits() {
		if !env.given["decoder"] {
			cmd.Decoder = []string{decode.Auto}
		}
		return cmd.resolution(ctx, env, s, names)
	}
	reading := cmd.Decoder
	if !env.given["decoder"] {
		reading = nil // codes of real numbers are for decoders that are asked for
	}
	codes, err := scenario.OpenCodes(names, sizes(s, append(cmd.Levels, 0)[0], defaultLevels, fit, reading...))
	if err != nil {
		return err
	}
	weights, err := s.Weights(codes[0].Levels())
	if err != nil {
		return err
	}
	backend := cmd.backend(env, cmd.Quiet)
	defer backend.Close()
	candidates, invalid, err := cmd.candidates(ctx, env, s, cmd.run(backend, nil), codes, weights, draw)
	if err != nil {
		return err
	}
	compare := s.Compare
	if cmd.Least {
		compare = s.CompareWithBayesRisk
	}
	bar := env.newProgress(cmd.Quiet, "samples", draw.Most()*uint64(codes[0].Levels()*len(candidates)))
	result, err := compare(ctx, cmd.run(backend, bar), candidates, weights, draw)
	bar.stop()
	if err != nil {
		return bar.interrupted(err)
	}
	result.AddInvalid(invalid)
	result.AddBaselines(cmd.Baseline)
	result.Provenance = env.provenance()
	cmd.warnUnreached(env, cmd.Quiet, result.Reached)
	if err := cmd.write(env, func(w io.Writer, path string) error {
		switch format(path) {
		case "json":
			return table.WriteJSON(w, result)
		case "csv":
			return table.WriteCSV(w, result.Results, result.Columns())
		}
		return writeFigure(w, path)(plots.Compare(paper.CompareData(result.Valid(), s.String(), cmd.size())))
	}); err != nil {
		return err
	}
	if cmd.JSON {
		return table.WriteJSON(env.stdout, result)
	}
	fmt.Fprintln(env.stdout, result.Heading(s))
	t := result.Table()
	if len(cmd.Decoder) > 1 || len(cmd.Training) > 1 {
		t = result.DecoderTable(env.decoders)
	}
	if result.Results[0].Invalid == "" {
		t.Emphasis = []table.Emphasis{table.Best}
	}
	if err := cmd.print(env, t); err != nil {
		return err
	}
	fmt.Fprint(env.stdout, table.Notes(env.stdout, result.Notes()))
	return nil
}

// candidates are the codes with their decoders. Networks that know a perceived label learn each
// code once for each training.
func (cmd *compareCmd) candidates(ctx context.Context, env *environment, s *scenario.Scenario, run scenario.Run, codes []*code.Code, weights []float64, draw scenario.Sampling) ([]*montecarlo.Problem, []scenario.InvalidCode, error) {
	m, ok := s.Model.(scenario.Perceived)
	if !ok {
		return s.Candidates(ctx, codes, cmd.Decoder, draw)
	}
	if m.Training != "" && !env.given["training"] {
		cmd.Training = []perceived.Training{m.Training}
	}
	err := s.CheckTrained(m, cmd.Training, codes, cmd.Decoder) // before the work
	if err == nil {
		err = cmd.learn(ctx, env, s, run, weights, cmd.Training[0])
	}
	if err != nil {
		return nil, nil, err
	}
	m, _ = s.Model.(scenario.Perceived)
	return s.TrainedCandidates(ctx, m, cmd.Training, codes, cmd.Decoder, draw)
}

// inUnits reports whether numbers of levels are compared, in label units.
func (cmd *compareCmd) inUnits() bool { return !cmd.Range.IsZero() || len(cmd.Levels) > 1 }

// resolution compares numbers of levels.
func (cmd *compareCmd) resolution(ctx context.Context, env *environment, s *scenario.Scenario, names []string) error {
	switch {
	case cmd.Range.IsZero():
		return errors.New("several --levels are compared in label units; want --range a:b, the range of the labels")
	case !cmd.perceived():
		return errors.New("--range is for networks; want --label-noise or --mae, in label units (r and σ belong to one number of levels)")
	}
	q := forecast.Resolution{
		Labels: forecast.Labels{Lo: cmd.Range.Lo, Hi: cmd.Range.Hi, Histogram: s.Prior.Histogram}, Levels: cmd.Levels, Codes: names,
		Decoders: cmd.Decoder, Trainings: cmd.Training, Noise: cmd.LabelNoise, Unary: cmd.MAE, Cutoff: cmd.Cutoff, Direct: cmd.Baseline, Scenario: s,
	}
	if q.Misfit = cmd.Misfit; !env.given["misfit"] {
		q.Misfit = q.Labels.DefaultMisfit()
	}
	work, err := q.Open()
	if err != nil {
		return err
	}
	bar := env.newProgress(cmd.Quiet, "codes", work.Steps())
	result, err := work.Run(ctx, cmd.Workers, bar.add)
	bar.stop()
	if err != nil {
		return bar.interrupted(err)
	}
	result.Provenance = env.provenance()
	if err := cmd.write(env, func(w io.Writer, path string) error {
		if format(path) == "json" {
			return table.WriteJSON(w, result)
		}
		return table.WriteCSV(w, result.Results, result.Columns())
	}); err != nil {
		return err
	}
	if cmd.JSON {
		return table.WriteJSON(env.stdout, result)
	}
	return result.Write(env.stdout, cmd.Format)
}
