package main

import (
	"context"
	"fmt"
	"io"

	"belsim/montecarlo/sweep"
	"belsim/plots"
	"belsim/plots/paper"
	"belsim/theory/base/position"
	"belsim/theory/base/table"
)

type mergeCmd struct {
	Results      string `arg:"" name:"results" help:"Folder of the results of a sweep."`
	pictureFlags `set:"endings=.csv .json .png .svg .pdf"`
}

// Run implements the command.
func (cmd *mergeCmd) Run(ctx context.Context, env *environment) error {
	if err := cmd.checkOutput(env, cmd.result(nil)); err != nil {
		return err
	}
	m, err := sweep.Merge(ctx, cmd.Results, nil)
	if err != nil {
		return environmental(err)
	}
	if err := m.Complete(); err != nil {
		among := "" // which of several cuts into shards
		if n := len(m.Shards) - 1; n > 0 {
			among = fmt.Sprintf(" --shards %d", m.Shards[n])
		}
		return fmt.Errorf("%s: %w: 'belsim sweep PLAN --out %s --print missing%s' lists their shards", cmd.Results, err,
			cmd.Results, among)
	}
	return cmd.deliver(env, cmd.result(m))
}

// result is the table of all cells.
func (cmd *mergeCmd) result(m *sweep.Merged) result {
	return result{
		files: map[string]func(io.Writer) error{
			"json": func(w io.Writer) error { return table.WriteJSON(w, m.Table(version())) },
			"csv":  func(w io.Writer) error { return table.WriteCSV(w, m.Table(version()).Cells) },
		},
		figure: func() (*plots.Figure, error) {
			increases, err := m.Map()
			if err != nil {
				return nil, err
			}
			return plots.Heatmap(paper.MapData(increases, nil, cmd.style()))
		},
		print: func(w io.Writer) error { return cmd.print(w, m) },
	}
}

// print says what was merged, and what a picture of it does not compare.
func (cmd *mergeCmd) print(w io.Writer, m *sweep.Merged) error {
	text := fmt.Sprintf("plan %.12s: %d cells, %d of them invalid, from %s\n", m.ID, m.Size(), m.Invalid,
		position.Counted(m.Files, "file"))
	if cmd.writes(plots.Formats()...) {
		drawn, err := m.Map()
		if err != nil {
			return err
		}
		if warning := drawn.Warning(); warning != "" {
			text += warning + "\n"
		}
	}
	_, err := io.WriteString(w, text)
	return err
}
