package main

import (
	"context"
	"fmt"
	"io"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/assess"
	"belsim/plots"
	"belsim/theory/base/arrayfile"
)

type levelsCmd struct {
	Targets      string            `required:"" placeholder:"FILE" reads:"" help:"Targets: real labels."`
	Levels       []int             `placeholder:"L" help:"Numbers of levels (default: 8,16,32,64,128,256)."`
	Range        assess.LabelRange `placeholder:"a:b" help:"Labels of the end levels (default: all but 0.1 % of the targets)."`
	Baseline     float64           `placeholder:"X" help:"Mean |error| of direct regression or of a network."`
	pictureFlags `set:"endings=.csv .npy .json .png .svg .pdf"`
}

// Run implements the command.
func (cmd *levelsCmd) Run(ctx context.Context, env *environment) error {
	if err := cmd.checkOutput(env, levelSpaces(ctx, nil, cmd.style())); err != nil {
		return err
	}
	counts := cmd.Levels
	if len(counts) == 0 {
		counts = []int{8, 16, 32, 64, 128, 256}
	}
	found, err := assess.NewSpacings(ctx, cmd.Targets, cmd.Range, counts, cmd.Baseline)
	if err != nil {
		return checkFlags(err)
	}
	found.Provenance = env.provenance()
	return cmd.deliver(env, levelSpaces(ctx, found, cmd.style()))
}

// levelSpaces is the answer.
func levelSpaces(ctx context.Context, found *assess.Spacings, style plots.Style) result {
	values := func(write func(context.Context, io.Writer, mat.Matrix) error) func(io.Writer) error {
		return func(w io.Writer) error {
			r, err := found.Chosen()
			if err != nil {
				return fmt.Errorf("%w: want one with --levels", err)
			}
			return write(ctx, w, mat.NewDense(r.Levels, 1, r.Values))
		}
	}
	return result{
		files: map[string]func(io.Writer) error{"json": asJSON(found), "csv": values(arrayfile.WriteCSV),
			"npy": values(arrayfile.WriteNPY)},
		figure: func() (*plots.Figure, error) {
			r, err := found.Chosen()
			if err != nil {
				return nil, fmt.Errorf("%w: want one with --levels", err)
			}
			title := fmt.Sprintf("%d levels, %s", r.Levels, r.Called())
			return plots.Spacing(plots.SpacingData{Title: title, Targets: found.Sorted(), Levels: r.Values, Style: style})
		},
		print: func(w io.Writer) error { return found.Section().Write(w) },
	}
}
