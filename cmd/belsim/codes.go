package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"belsim/plots"
	"belsim/plots/paper"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

type codesCmd struct {
	Code string `arg:"" optional:"" reads:"" help:"Code to print, a NAME or a FILE; without it, a table of all codes."`
	levelsFlag
	circularFlag
	pictureFlags `set:"endings=.csv .npy .json .png .svg .pdf"`
}

// codeRow is a code in a list.
type codeRow struct {
	code.Properties
	Decoder     string `json:"decoder" text:"decoder"`
	Description string `json:"description,omitempty"`
}

// codeList is the JSON of all codes.
type codeList struct {
	// a row for each code
	Codes []codeRow `json:"codes"`
}

// codeMatrix is the JSON of one code.
type codeMatrix struct {
	codeRow
	// the code words, a text of 0 and 1 for each level
	Words []string `json:"words" csv:"-"`
}

// Run implements the command.
func (cmd *codesCmd) Run(ctx context.Context, env *environment) error {
	if cmd.Code == "" {
		return cmd.list(ctx, env)
	}
	if err := cmd.checkOutput(env, cmd.result(ctx, env, nil)); err != nil {
		return err
	}
	codes, err := code.OpenAll([]string{cmd.Code}, code.Sizes{Levels: cmd.Levels, Circular: cmd.Circular})
	if err != nil {
		return err
	}
	if len(cmd.Output) == 0 && cmd.Format == "text" && !env.quiet {
		row, err := cmd.describe(ctx, env, codes[0])
		if err != nil {
			return err
		}
		text := fmt.Sprintf("%s: %d levels, %d bits; %s", row.Code, row.Levels, row.Bits, row.Text())
		if row.Correlation != nil {
			text += fmt.Sprintf("; distance–label correlation %.3f", *row.Correlation)
		}
		env.note("%s", text)
	}
	return cmd.deliver(env, cmd.result(ctx, env, codes[0]))
}

// result is one code.
func (cmd *codesCmd) result(ctx context.Context, env *environment, c *code.Code) result {
	return result{
		files: map[string]func(io.Writer) error{
			"csv":  func(w io.Writer) error { return arrayfile.WriteCSV(ctx, w, c) },
			"npy":  func(w io.Writer) error { return arrayfile.WriteBitsNPY(ctx, w, c) },
			"json": func(w io.Writer) error { return cmd.writeJSON(ctx, env, w, c) },
		},
		figure: func() (*plots.Figure, error) {
			return plots.CodeMatrix(paper.CodeMatrixData(c, paper.CodeTitle(c), cmd.style())), nil
		},
		print: func(w io.Writer) error {
			if len(cmd.Output) == 0 {
				return arrayfile.WriteCSV(ctx, w, c)
			}
			return nil
		},
	}
}

// list prints the table of all codes.
func (cmd *codesCmd) list(ctx context.Context, env *environment) error {
	var list codeList
	out := result{
		files: map[string]func(io.Writer) error{"json": asJSON(&list)},
		print: func(w io.Writer) error {
			what := table.Of(code.Families())
			what.Style = table.List
			properties := table.Of(list.Codes)
			properties.Spare = []string{"levels"}
			err := properties.Write(w)
			if slices.ContainsFunc(list.Codes, func(r codeRow) bool { return r.Correlation == nil && r.MinDistance != nil }) {
				fmt.Fprintln(w, "– All words are equally far apart.")
			}
			fmt.Fprintln(w)
			return cmp.Or(err, what.Write(w))
		},
	}
	if err := cmd.checkOutput(env, out); err != nil {
		return err
	}
	for _, f := range code.Families() {
		c, err := code.New(f.Name, cmp.Or(cmd.Levels, code.DefaultLevels))
		if err != nil {
			return err
		}
		row, err := cmd.describe(ctx, env, c.OnCircle(cmd.Circular))
		if err != nil {
			return err
		}
		row.Description = f.Description
		list.Codes = append(list.Codes, row)
	}
	return cmd.deliver(env, out)
}

// describe lists the properties of a code.
func (cmd *codesCmd) describe(ctx context.Context, env *environment, c *code.Code) (codeRow, error) {
	var p code.Properties
	if err := env.during("pairs of words",
		func() (err error) { p, err = c.Properties(ctx, 0); return err }); err != nil {
		return codeRow{}, err
	}
	d, err := env.decoders.New(decode.Auto, c, decode.Options{})
	if err != nil {
		return codeRow{}, err
	}
	return codeRow{Properties: p, Decoder: d.Name()}, nil
}

// writeJSON writes a code with its words.
func (cmd *codesCmd) writeJSON(ctx context.Context, env *environment, w io.Writer, c *code.Code) error {
	row, err := cmd.describe(ctx, env, c)
	if err != nil {
		return err
	}
	// The words may be gigabytes, and are written one by one, in the place of an empty list.
	var frame bytes.Buffer
	if err := table.WriteJSON(&frame, codeMatrix{row, []string{}}); err != nil {
		return err
	}
	before, after, _ := strings.Cut(frame.String(), "[]\n")
	out := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprint(out, before)
	text := []byte("[\n")
	for i := range c.Levels() {
		if err := ctx.Err(); err != nil {
			return err
		}
		text = append(c.AppendText(append(text, `    "`...), i), '"')
		if _, err := out.Write(text); err != nil {
			return err
		}
		text = append(text[:0], ",\n"...)
	}
	fmt.Fprint(out, "\n  ]\n", after)
	return out.Flush()
}
