package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"belsim/errmodel/assess"
	"belsim/errmodel/perceived"
	"belsim/montecarlo/heatmap"
	"belsim/montecarlo/plane"
	"belsim/montecarlo/scenario"
	"belsim/plots"
	"belsim/plots/paper"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/table"
	"belsim/theory/code"
)

type heatmapCmd struct {
	Codes      []string   `arg:"" optional:"" name:"code" reads:"" help:"Two codes A and B (default: unary johnson-nonzero)."`
	Levels     int        `placeholder:"L" help:"Number of levels of named codes (default: 256; 255 for the paper's two)."`
	R          plane.Axis `xor:"r" placeholder:"lo:hi:count[:log]" help:"Range of the weight r, or numbers."`
	Sigma      plane.Axis `xor:"sigma" placeholder:"lo:hi:count[:log]" help:"Range of the width σ, in levels."`
	LabelNoise plane.Axis `xor:"r,sigma" group:"model" placeholder:"lo:hi:count[:log]" help:"Networks: range of their label noise."`
	Misfit     plane.Axis `group:"model" default:"0.125:0.5:9:log" placeholder:"lo:hi:count[:log]" help:"Range of their misfit η (default: ${default})."`
	Cutoff     float64    `group:"model" placeholder:"κ" help:"Cutoff κ of what they learn (default: by s)."`
	trainingFlag
	Method  []string `enum:"auto,bound,exact,mc" default:"auto" placeholder:"NAME,..." help:"How to compute errors, with commas between several: ${enum}."`
	Decoder string   `enum:"${decoders}" default:"auto" help:"Decoder of both codes: ${enum}; ${auto}."`
	outputsFlags
	Samples   uint64                        `group:"sampling" default:"100" help:"Samples of each label in each cell."`
	Seed      uint64                        `default:"1" group:"sampling" help:"Seed of the random numbers."`
	modelFlag `embed:"" xorprefix:"model-"` // ranges may be given beside it
	priorFlag
	backendFlags
	pictureFlags `set:"endings=.csv .npy .json .png .svg .pdf"`
}

// Run implements the command.
func (cmd *heatmapCmd) Run(ctx context.Context, env *environment) error {
	if err := cmd.checkOutput(env, cmd.result(ctx, nil, nil, nil)); err != nil {
		return err
	}
	draw := scenario.Sampling{Samples: cmd.Samples, Seed: cmd.Seed}
	s := cmd.outputsFlags.scenario(env)
	if err := checkFlags(draw.Check()); err != nil {
		return err
	}
	methods, err := cmd.methods()
	if err != nil {
		return err
	}
	other := assess.AutoModel
	switch {
	case cmd.perceived():
		other = assess.PerceivedModel
	case len(cmd.R.Values) > 0 || len(cmd.Sigma.Values) > 0:
		other = assess.MixtureModel
	}
	fit, err := cmd.fill(s, cmd.outputsFlags, cmd.priorFlag, other)
	if err != nil {
		return err
	}
	cmd.complete(s, fit)
	codes, err := cmd.open(s, fit)
	if err != nil {
		return err
	}
	x, y := cmd.R, cmd.Sigma
	if cmd.perceived() {
		x, y = cmd.LabelNoise, cmd.Misfit
	} else if x, y, err = heatmap.DefaultAxes(ctx, codes, x, y); err != nil {
		return err
	}
	backend := cmd.backend(env)
	defer backend.Close()
	m, err := heatmap.New(ctx, s, codes, cmd.Decoder, cmd.plane(s), x, y, methods...)
	if err != nil {
		return err
	}
	m.Provenance, cmd.Method = env.provenance(), nil
	for _, method := range m.Methods { // as the default, too
		cmd.Method = append(cmd.Method, string(method))
	}
	bar := env.newProgress("cells", uint64(len(m.Cells)*len(m.Methods)))
	err = m.Fill(ctx, cmd.run(backend, bar), draw)
	bar.stop()
	if err != nil {
		return bar.interrupted(err)
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
			p := fit.Point(m.Plane)
			at := plane.AxesOf(m.Plane, p.X, p.Y)
			return m.Report(w, &at)
		},
	}
}

// methods are those of --method; none for auto.
func (cmd *heatmapCmd) methods() (out []scenario.Method, err error) {
	for _, name := range cmd.Method {
		if name == "auto" && len(cmd.Method) > 1 {
			return nil, fmt.Errorf("--method %s: auto stands alone", strings.Join(cmd.Method, ","))
		}
		if name != "auto" {
			out = append(out, scenario.Method(name))
		}
	}
	if err := scenario.CheckTwice("--method", out); err != nil {
		return nil, err
	}
	return out, nil
}

// perceived reports whether the plane is of networks that know a perceived label.
func (cmd *heatmapCmd) perceived() bool { return len(cmd.LabelNoise.Values) > 0 }

// complete fills in what no flag says: ranges around the parameters of --model, and the training
// and the cutoff of its networks.
func (cmd *heatmapCmd) complete(s *scenario.Scenario, fit *assess.Fit) {
	if fit != nil {
		if m, ok := s.Model.(scenario.Perceived); ok {
			const factor, count = 4, 9 // the fit is the cell in the middle
			if !cmd.perceived() {
				cmd.LabelNoise = plane.Around(m.Noise, factor, count)
			}
			cmd.Cutoff, cmd.Training = cmp.Or(cmd.Cutoff, m.Cutoff), cmp.Or(cmd.Training, m.Training)
		}
		const factor, count = 8, 61
		cmd.R = cmd.R.Or(plane.Around(fit.R, factor, count))
		cmd.Sigma = cmd.Sigma.Or(plane.Around(fit.Sigma, factor, count))
	}
	cmd.Training = cmp.Or(cmd.Training, perceived.BCE)
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
	codes, err := scenario.OpenCodes(cmd.Codes, sizes(s, cmd.Levels, byDefault, fit, cmd.Decoder))
	if err != nil {
		return pair, err
	}
	return [2]*code.Code(codes), nil
}

// plane is the plane of the map.
func (cmd *heatmapCmd) plane(s *scenario.Scenario) plane.Models {
	if !cmd.perceived() {
		return plane.Mixture{}
	}
	// Cells are computed side by side, so each learns on one goroutine.
	m, _ := s.Model.(scenario.Perceived) // of a fit
	m.Cutoff, m.Training, m.Workers = cmd.Cutoff, cmd.Training, 1
	return plane.Perceived{Model: m, Prior: s.Prior}
}
