package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"belsim/errmodel"
	"belsim/montecarlo/assess"
	"belsim/montecarlo/scenario"
	"belsim/plots"
	"belsim/plots/paper"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/table"
)

type heatmapCmd struct {
	Codes  []string      `arg:"" optional:"" name:"code" reads:"" help:"Two codes A and B, NAMEs or FILEs (default: unary johnson-nonzero)."`
	Levels int           `placeholder:"L" help:"Number of quantization levels of named codes (default: 256, or as many as a file or --prior has; 255 for unary johnson-nonzero, as in the paper)."`
	R      scenario.Axis `default:"1:150:100" placeholder:"lo:hi:count[:log]" help:"Range of the weight r, or numbers with commas between them (default: ${default}; with --model, a factor of 8 to both sides)."`
	Sigma  scenario.Axis `default:"1:100:100" placeholder:"lo:hi:count[:log]" help:"Range of the width σ, in levels (default: ${default}; with --model, a factor of 8 to both sides)."`
	transitionsFlag
	LabelNoise scenario.Axis `placeholder:"lo:hi:count[:log]" help:"Error models of networks instead: each knows one number, the label with a noise; range of its standard deviation s, in levels (default with --model: a factor of 4 to both sides)."`
	Misfit     scenario.Axis `default:"0.125:0.5:9:log" placeholder:"lo:hi:count[:log]" help:"Range of the misfit η of these networks, in levels (default: ${default})."`
	Cutoff     float64       `placeholder:"κ" help:"Cutoff κ of what they learn, in cycles over the range of labels (default: by s and the number of levels)."`
	trainingFlag
	Method  string `enum:"bound,exact,mc" default:"bound" help:"How each code's error is computed: ${enum} (default: bound; with --model and shared noise, mc)."`
	Decoder string `enum:"${decoders}" default:"auto" help:"Decoder of both codes: ${enum}; auto takes the paper's for each; map, median and mean know the error model."`
	outputsFlags
	Samples uint64 `default:"100" help:"Samples of each label in each cell, with --method mc."`
	Seed    uint64 `default:"1" help:"Seed of the random numbers, with --method mc."`
	fitFlag
	priorFlag
	backendFlags
	outputFlags
}

func (heatmapCmd) Help() string {
	return `The increase in expected error of code A over code B, 100·(E_A − E_B)/E_B, over the plane of r and σ: with the default codes and --method bound, the paper's Figure 3(c). Cells where r and σ give a probability above 1 are blank.

r is nearly the mean error of unary in levels, and σ says how far from a transition bits err. The ranges without flags are the paper's, of 255 levels. Trained networks are in the corner: they had r of 1.3 to 4.4 % of the number of levels (0.8 to 2.8 for 64), and σ of about r, or a little more. The second example draws this corner.

-o FILE.html is a page that shows the numbers of the cell under the mouse, and FILE.vl.json is for Vega-Lite.

Examples:

  belsim heatmap -o heatmap.png

  belsim heatmap hexj b1jdj --levels 64 --r 0.1:3:30 --sigma 0.5:5:30 --method exact -o corner.png`
}

// Run implements the command.
func (cmd *heatmapCmd) Run(ctx context.Context, env *environment) error {
	if err := firstError(cmd.checkWorkers(), cmd.checkOutput(env, "csv", "json", "npy", "png", "svg", "pdf", "tex", "html", "vl.json")); err != nil {
		return err
	}
	draw := scenario.Sampling{Samples: cmd.Samples, Seed: cmd.Seed}
	s := cmd.outputsFlags.scenario(env)
	if err := firstError(checkFlags(s.Check()), checkFlags(draw.Check())); err != nil {
		return err
	}
	fit, err := fillFit(env, s, cmd.fitFlag, cmd.priorFlag)
	if err != nil {
		return err
	}
	cmd.around(env, s, fit)
	if cmd.perceived() {
		if err := (perceivedFlags{Cutoff: cmd.Cutoff}).check(); err != nil {
			return err
		}
		if cmd.training() == errmodel.ForDecoder && s.Outputs == scenario.AutoOutputs {
			s.Outputs = scenario.Logits // their signs mean nothing by themselves
		}
	}
	x, y := cmd.R, cmd.Sigma
	if cmd.perceived() {
		x, y = cmd.LabelNoise, cmd.Misfit
	}
	sides, err := cmd.openSides(ctx, s, fit)
	if err != nil {
		return err
	}
	weights, err := s.Weights(sides[0].Code.Levels())
	if err != nil {
		return err
	}
	backend := cmd.backend(env, cmd.Quiet)
	defer backend.Close()
	m, err := s.NewMap(sides, x, y, scenario.Method(cmd.Method))
	if err != nil {
		return err
	}
	m.Provenance = env.provenance()
	bar := env.newProgress(cmd.Quiet, "cells", uint64(len(m.Cells)))
	err = s.Fill(ctx, cmd.run(backend, bar), m, sides, weights, draw)
	bar.stop()
	if err != nil {
		return bar.interrupted(err)
	}
	if err := cmd.write(env, func(w io.Writer, path string) error {
		switch format(path) {
		case "json":
			return table.WriteJSON(w, m)
		case "npy":
			return arrayfile.WriteNPY(ctx, w, m.Increases())
		case "csv":
			return table.WriteCSV(w, m.Cells, m.Columns()...)
		case "html":
			return paper.MapPage(m, s, fit, cmd.Decoder).HTML(w)
		case "vl.json":
			return paper.MapPage(m, s, fit, cmd.Decoder).VegaLite(w)
		}
		return writeFigure(w, path)(plots.Heatmap(paper.MapData(m, s, fit, cmd.Decoder, cmd.size())))
	}); err != nil {
		return err
	}
	if cmd.JSON {
		return table.WriteJSON(env.stdout, m)
	}
	if fit == nil {
		return m.Report(env.stdout, s, nil)
	}
	p := fit.Point(m.Plane)
	at := m.Plane.Point(float64(p.X), float64(p.Y))
	return m.Report(env.stdout, s, &at)
}

// perceived reports whether the plane is of networks that know a perceived label.
func (cmd *heatmapCmd) perceived() bool { return len(cmd.LabelNoise.Values) > 0 }

// around puts the map around the parameters of --model, unless the ranges are given, and takes the
// training and the cutoff of its networks.
func (cmd *heatmapCmd) around(env *environment, s *scenario.Scenario, fit *assess.Fit) {
	if fit == nil {
		return
	}
	if m, ok := s.Model.(scenario.Perceived); ok {
		const factor, count = 4, 9 // the fit is the cell in the middle
		if !cmd.perceived() {
			cmd.LabelNoise = scenario.AxisAround(m.Noise, factor, count)
		}
		if !env.given["cutoff"] {
			cmd.Cutoff = m.Cutoff
		}
		if !env.given["training"] {
			cmd.Training = string(m.Training)
		}
		return
	}
	const factor, count = 8, 61
	if !env.given["r"] {
		cmd.R = scenario.AxisAround(float64(fit.R), factor, count)
	}
	if !env.given["sigma"] {
		cmd.Sigma = scenario.AxisAround(float64(fit.Sigma), factor, count)
	}
	if !env.given["method"] && s.SharedNoise > 0 {
		cmd.Method = "mc" // neither bounds nor exact values are for bits that err together
	}
}

// openSides opens both codes, of the same number of levels.
func (cmd *heatmapCmd) openSides(ctx context.Context, s *scenario.Scenario, fit *assess.Fit) (sides [2]scenario.Side, err error) {
	names := cmd.Codes
	switch len(names) {
	case 0:
		pair := paper.Codes()
		names = pair[:]
	case 2:
	default:
		return sides, fmt.Errorf("codes given: %d; want two to compare, or none for unary and johnson-nonzero", len(names))
	}
	usual := defaultLevels
	if pair := paper.Codes(); slices.Equal(names, pair[:]) {
		usual = paper.Levels // Figure 3(c)
	}
	codes, err := scenario.OpenCodes(names, sizes(s, cmd.Levels, usual, fit, cmd.Decoder))
	if err != nil {
		return sides, err
	}
	var plane scenario.Plane = scenario.MixturePlane{Printed: cmd.printed()}
	if cmd.perceived() {
		// Cells are computed side by side, so each learns on one goroutine.
		m, _ := s.Model.(scenario.Perceived) // of a fit
		m.Cutoff, m.Training, m.Workers = cmd.Cutoff, cmd.training(), 1
		plane = scenario.PerceivedPlane{Model: m, Prior: s.Prior}
	}
	for i, c := range codes {
		if sides[i], err = s.Side(ctx, c, cmd.Decoder, plane); err != nil {
			return sides, err
		}
	}
	return sides, nil
}
