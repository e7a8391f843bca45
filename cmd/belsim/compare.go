package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/montecarlo/table"
	"belsim/plots"
	"belsim/theory/code"
	"belsim/theory/decode"
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
		return writeFigure(w, path)(plots.Compare(compareFigure(result, s.String(), cmd.size())))
	}); err != nil {
		return err
	}
	if cmd.JSON {
		return table.WriteJSON(env.stdout, result)
	}
	fmt.Fprintf(env.stdout, "%d levels, %s, seed %d; |error| in levels\n\n", result.Levels, s, result.Seed)
	if len(cmd.Decoder) > 1 || len(cmd.Training) > 1 {
		return cmd.print(env, decoderTable(result, env.decoders))
	}
	return cmd.print(env, compareTable(result))
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

// compareTable has a row for each code.
func compareTable(c *scenario.Comparison) *table.Table {
	columns := []table.Column[scenario.CodeResult]{
		table.Append(fmt.Sprintf("within %d", c.Within), func(r scenario.CodeResult) string { return fmt.Sprintf("%.2f %%", 100*float64(r.Within)) }),
		table.Append("worst level", func(r scenario.CodeResult) string { return fmt.Sprintf("%d (%s)", r.WorstLevel, r.WorstMean.Short()) }),
	}
	return table.Of(c.Results, columns...)
}

// decoderTable is the table encoding × decoder, the shape of the paper's Tables 3 to 13: codes
// by their smallest error. Every error has its standard error.
func decoderTable(c *scenario.Comparison, decoders decode.Registry) *table.Table {
	several := slices.ContainsFunc(c.Results, func(r scenario.CodeResult) bool { return r.Training != c.Results[0].Training })
	column := func(r scenario.CodeResult) string {
		name := r.Decoder
		if r.Outputs == scenario.Logits {
			name += " (logits)"
		}
		if several {
			name += ", " + string(r.Training)
		}
		return name
	}
	var codes, columns []string
	cells := map[[2]string]scenario.CodeResult{}
	for _, r := range c.Results { // the smallest error first
		if !slices.Contains(codes, r.Code) {
			codes = append(codes, r.Code)
		}
		if !slices.Contains(columns, column(r)) {
			columns = append(columns, column(r))
		}
		cells[[2]string{r.Code, column(r)}] = r
	}
	names := decoders.Names()
	slices.SortStableFunc(columns, func(a, b string) int {
		return slices.Index(names, decoderOf(a)) - slices.Index(names, decoderOf(b))
	})
	t := &table.Table{Head: append([]string{"code", "bits"}, columns...)}
	for _, name := range codes {
		bits := 0
		row := []string{name, ""}
		for _, column := range columns {
			r, ok := cells[[2]string{name, column}]
			if !ok {
				row = append(row, "–")
				continue
			}
			bits = r.Bits
			row = append(row, plusMinus(r.Mean, r.StdErr))
		}
		row[1] = fmt.Sprint(bits)
		t.Rows = append(t.Rows, row)
	}
	return t
}

// decoderOf is the decoder of a column of decoderTable.
func decoderOf(column string) string {
	name, _, _ := strings.Cut(strings.Fields(column)[0], ",")
	return name
}

// compareFigure returns the data of the figure of a comparison.
func compareFigure(c *scenario.Comparison, model string, size plots.Size) plots.CompareData {
	d := plots.CompareData{Title: fmt.Sprintf("%d levels, %s", c.Levels, model), Size: size}
	for _, r := range c.Results {
		name := r.Code + " (" + r.Decoder
		if r.Outputs == scenario.Logits {
			name += ", logits"
		}
		if r.Training != "" && c.Training == "" {
			name += ", " + scenario.Trained(r.Training)
		}
		d.Names = append(d.Names, name+")")
		d.Bound = append(d.Bound, float64(r.Bound))
		d.Exact = append(d.Exact, float64(r.Exact))
		d.Mean = append(d.Mean, float64(r.Mean))
		d.StdErr = append(d.StdErr, float64(r.StdErr))
	}
	return d
}

// plusMinus is a mean with its standard error.
func plusMinus(mean, stderr table.Number) string {
	return fmt.Sprintf("%s ± %.1g", mean.Short(), float64(stderr))
}
