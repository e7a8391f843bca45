package main

import (
	"context"
	"fmt"
	"io"

	"belsim/montecarlo/sweep"
	"belsim/plots"
	"belsim/plots/paper"
	"belsim/theory/base/table"
)

type mergeCmd struct {
	Results string `arg:"" name:"results" reads:"results" help:"Folder of the results of a sweep."`
	pictureFlags
}

func (mergeCmd) Help() string {
	return `One row for each cell of the plan, in its order, from the files that 'belsim sweep' left in a folder. The numbers, and the bytes of the files, are the same however many shards there were. Files of another plan or version, edited or truncated ones are refused; what several files have is counted once. A picture of a sweep of two codes is that of heatmap, by the first method of the plan.

Example, after 'belsim sweep testdata/sweep/plan.json --out results':

  belsim merge results -o map.csv -o map.png`
}

// Run implements the command.
func (cmd *mergeCmd) Run(ctx context.Context, env *environment) error {
	if err := cmd.checkOutput(env, cmd.result(ctx, nil)); err != nil {
		return err
	}
	m, err := sweep.Merge(ctx, cmd.Results, nil)
	if err != nil {
		return environmental(err)
	}
	if err := m.Complete(); err != nil {
		return fmt.Errorf("%s: %w: 'belsim sweep PLAN --out %s --print missing' lists their shards", cmd.Results, err,
			cmd.Results)
	}
	return cmd.deliver(env, cmd.result(ctx, m))
}

// result is the table of all cells.
func (cmd *mergeCmd) result(ctx context.Context, m *sweep.Merged) result {
	return result{
		files: map[string]func(io.Writer) error{
			"json": func(w io.Writer) error { return table.WriteJSON(w, m.Table(version())) },
			"csv": func(w io.Writer) error {
				return table.WriteCSVSeq(w, m.Cells(ctx), m.Plane.Missing()...)
			},
		},
		figure: func() (*plots.Figure, error) { return cmd.figure(m) },
		print: func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "plan %.12s: %d cells, %d of them invalid, from %s\n", m.ID, m.Size(), m.Invalid,
				counted(m.Files, "file"))
			return err
		},
	}
}

// figure draws a map of two codes.
func (cmd *mergeCmd) figure(m *sweep.Merged) (*plots.Figure, error) {
	increases, err := m.Map()
	if err != nil {
		return nil, err
	}
	return plots.Heatmap(paper.RatioData(increases, cmd.style()))
}
