package main

import (
	"context"
	"fmt"
	"io"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/plots"
	"belsim/plots/paper"
	"belsim/theory/base/table"
	"belsim/theory/code"
)

type compareCmd struct {
	Codes []string `arg:"" optional:"" name:"code" reads:"" help:"Codes, NAMEs and FILEs; without any, all that belsim knows."`
	levelsFlag
	Decoder []string `enum:"${decoders}" default:"gen" help:"Decoder of every code, or several, with commas between them: ${enum} (default: gen); auto takes the paper's for each; map, median and mean know the error model."`
	scenarioFlags
	Training []errmodel.Training `enum:"bits,decoder" default:"bits" help:"How the networks of --label-noise were trained, or both ways: ${enum}. bits: each bit by itself (BCE); decoder: all together for the decoder (CE), which reads logits."`
	Baseline float64             `placeholder:"X" help:"Mean |error| of direct regression, a network without a code, to compare codes with, in levels."`
	samplingFlags
	backendFlags
	outputFlags
}

func (compareCmd) Help() string {
	return `One row for each code, the smallest error first: bits, bound, exact expectation and sampled mean of |error|, with its standard error; root mean square, share of samples within θ levels, and the worst level. With several decoders, a table of the errors of all codes with all decoders that fit them.

Bits err independently, unless a flag says another model. Around each transition of a bit, its error probabilities are a Gaussian of width σ, in levels, and add up to r. If you expect an error of X levels of unary, take r = X and σ = X or a little more: trained networks had 1.3 to 4.4 % of the number of levels (0.8 to 2.8 for 64). ! marks codes with more than 8 transitions of a bit, which networks learn badly; --mae forecasts trained networks. ~ marks codes that are not told apart from the first.

Examples:

  belsim compare unary johnson b1jdj hexj hadamard --levels 64 --r 0.6 --sigma 1.5

  belsim compare unary johnson hexj --levels 64 --decoder bel-u,bel-j,gen,gen-ex --labels continuous`
}

// Run implements the command.
func (cmd *compareCmd) Run(ctx context.Context, env *environment) error {
	if err := firstError(cmd.checkWorkers(), cmd.checkOutput(env, "csv", "json", "png", "svg", "pdf", "tex"), checkFlags(scenario.CheckBaseline(cmd.Baseline))); err != nil {
		return err
	}
	draw := cmd.sampling()
	s, fit, err := cmd.readScenario(env, draw)
	if err != nil {
		return err
	}
	reading := cmd.Decoder
	if !env.given["decoder"] {
		reading = nil // codes of real numbers are for decoders that are asked for
	}
	codes, err := scenario.OpenCodes(namedOrAll(cmd.Codes), sizes(s, cmd.Levels, defaultLevels, fit, reading...))
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
	bar := env.newProgress(cmd.Quiet, "samples", draw.Most()*uint64(codes[0].Levels()*len(candidates)))
	result, err := s.Compare(ctx, cmd.run(backend, bar), candidates, weights, draw)
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
	var more []string
	if result.R != nil {
		more = append(more, "Networks do not learn all codes equally well: --mae X forecasts trained networks.")
	}
	fmt.Fprint(env.stdout, table.Notes(env.stdout, result.Notes(more...)))
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
		cmd.Training = []errmodel.Training{m.Training}
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

// namedOrAll are the codes of a command line, or all that have a name.
func namedOrAll(codes []string) []string {
	if len(codes) > 0 {
		return codes
	}
	var names []string
	for _, f := range code.Families() {
		names = append(names, f.Name)
	}
	return names
}
