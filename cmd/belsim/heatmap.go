package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"belsim/errmodel/assess"
	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/montecarlo/heatmap"
	"belsim/montecarlo/plane"
	"belsim/plots"
	"belsim/plots/paper"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/refuse"
	"belsim/theory/base/table"
	"belsim/theory/code"
)

type heatmapCmd struct {
	Codes  []string `arg:"" optional:"" name:"code" reads:"" help:"Two codes A and B (default: unary johnson-nonzero)."`
	Levels int      `placeholder:"L" help:"Number of levels of named codes (default: 256; 255 for the paper's two)."`
	circularFlag
	R       plane.Axis `xor:"r" placeholder:"lo:hi:count[:log]" help:"Range of the weight r, or numbers."`
	Sigma   plane.Axis `xor:"sigma" placeholder:"lo:hi:count[:log]" help:"Range of the width σ, in levels."`
	Method  []string   `enum:"auto,bound,exact,mc" default:"auto" placeholder:"NAME,..." help:"How to compute errors, with commas between several: ${enum}."`
	Decoder string     `enum:"${decoders}" default:"auto" help:"Decoder of both codes: ${enum}; ${auto}."`
	outputsFlags
	Samples   uint64                        `group:"sampling" default:"100" help:"Samples of each label in each cell."`
	Seed      uint64                        `default:"1" group:"sampling" help:"Seed of the random numbers."`
	modelFlag `embed:"" xorprefix:"model-"` // ranges may be given beside it
	sharedFlag
	priorFlag
	backendFlags
	pictureFlags `set:"endings=.csv .npy .json .png .svg .pdf"`
}

// Run implements the command.
func (cmd *heatmapCmd) Run(ctx context.Context, env *environment) error {
	if err := cmd.checkOutput(env, cmd.result(ctx, nil, nil, nil)); err != nil {
		return err
	}
	draw := montecarlo.Sampling{Samples: cmd.Samples, Seed: cmd.Seed}
	s := cmd.outputsFlags.scenario(env)
	methods, err := cmd.methods()
	if err != nil {
		return err
	}
	fit, err := cmd.modelFlag.fill(s, draw)
	if err != nil {
		return err
	}
	if fit != nil {
		cmd.outputsFlags.override(s)
		const factor, count = 8, 61 // around the fit
		cmd.R = cmd.R.Or(plane.Around(fit.R, factor, count))
		cmd.Sigma = cmd.Sigma.Or(plane.Around(fit.Sigma, factor, count))
	}
	if err := cmp.Or(cmd.sharedFlag.read(s), cmd.priorFlag.read(s)); err != nil {
		return err
	}
	codes, err := cmd.open(s, fit)
	if err != nil {
		return err
	}
	if err := cmd.ask(s, codes[0].Levels(), codes[0].Circular()); err != nil {
		return err
	}
	q := heatmap.Question{Codes: codes, Decoder: cmd.Decoder, Methods: methods}
	if q.R, q.Sigma, err = heatmap.DefaultAxes(ctx, codes, cmd.R, cmd.Sigma); err != nil {
		return err
	}
	backend := cmd.backend(env)
	defer backend.Close()
	m, err := heatmap.New(ctx, s, q)
	if err != nil {
		return err
	}
	m.Provenance = env.provenance()
	bar := env.newProgress("cells", uint64(len(m.Cells)*len(m.Methods)))
	err = m.Fill(ctx, cmd.run(backend, bar), draw)
	bar.stop()
	if err != nil {
		return err
	}
	return cmd.deliver(env, cmd.result(ctx, m, s, fit))
}

// result is the map.
func (cmd *heatmapCmd) result(ctx context.Context, m *heatmap.Map, s *scenario.Scenario, fit *assess.Fit) result {
	return result{
		files: map[string]func(io.Writer) error{
			"json": asJSON(m),
			"npy":  func(w io.Writer) error { return arrayfile.WriteNPY(ctx, w, m.Increases(m.Methods[0])) },
			"csv":  func(w io.Writer) error { return table.WriteCSV(w, m.Cells, m.Missing()...) },
		},
		figure: func() (*plots.Figure, error) {
			return plots.Heatmap(paper.MapData(m, fit, cmd.style()))
		},
		print: func(w io.Writer) error {
			if fit == nil {
				return m.Report(w, nil)
			}
			return m.Report(w, &plane.Point{R: fit.R, Sigma: fit.Sigma})
		},
	}
}

// methods are those of --method; none for auto.
func (cmd *heatmapCmd) methods() (out []plane.Method, err error) {
	for _, name := range cmd.Method {
		if name == "auto" && len(cmd.Method) > 1 {
			return nil, fmt.Errorf("--method %s: auto stands alone", strings.Join(cmd.Method, ","))
		}
		if name != "auto" {
			out = append(out, plane.Method(name))
		}
	}
	if err := refuse.Twice("--method", out); err != nil {
		return nil, err
	}
	return out, nil
}

// open opens both codes, of the same number of levels.
func (cmd *heatmapCmd) open(s *scenario.Scenario, fit *assess.Fit) (pair [2]*code.Code, err error) {
	byDefault, pairOfPaper := 0, heatmap.PaperCodes()
	if len(cmd.Codes) == 0 {
		cmd.Codes = pairOfPaper[:]
	}
	if len(cmd.Codes) != 2 {
		return pair, fmt.Errorf("codes given: %d; want two to compare, or none for unary and johnson-nonzero",
			len(cmd.Codes))
	}
	if slices.Equal(cmd.Codes, pairOfPaper[:]) {
		byDefault = heatmap.PaperLevels
	}
	codes, err := code.OpenAll(cmd.Codes, sizes(s, cmd.Levels, byDefault, cmd.circularFlag, fit))
	if err != nil {
		return pair, err
	}
	return [2]*code.Code(codes), nil
}
