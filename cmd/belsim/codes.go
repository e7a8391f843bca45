package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"belsim/plots"
	"belsim/theory/arrayfile"
	"belsim/theory/code"
	"belsim/theory/decode"
)

type codesCmd struct {
	Code string `arg:"" optional:"" help:"Code to print, a NAME or a FILE; without it, a table of all codes."`
	levelsFlag
	Properties bool `help:"Print the properties of CODE instead of its matrix."`
	workersFlag
	outputFlags
}

func (codesCmd) Help() string {
	return `Without a code: the codes that belsim knows, with the paper's three design principles as numbers. With one: its matrix, a row for each level and a column for each bit, as comma-separated 0 and 1.

Example:

  belsim codes hexj --levels 700 -o hexj.npy`
}

// codeRow is a code in a list.
type codeRow struct {
	code.Properties
	Decoder     string `json:"decoder"` // the one that --decoder auto takes
	Description string `json:"description,omitempty"`
}

// Run implements the command.
func (cmd *codesCmd) Run(ctx context.Context, env *environment) error {
	restore, err := cmd.use()
	if err != nil {
		return err
	}
	defer restore()
	if cmd.Code == "" {
		return cmd.list(ctx, env)
	}
	if err := cmd.checkOutput("csv", "npy", "json", "png", "svg", "pdf", "tex"); err != nil {
		return err
	}
	codes, err := openCodes([]string{cmd.Code}, cmd.Levels, defaultLevels, nil, false)
	if err != nil {
		return err
	}
	c := codes[0]
	if err := cmd.write(func(w io.Writer, path string) error { return cmd.writeCode(ctx, w, c, path) }); err != nil {
		return err
	}
	switch {
	case cmd.JSON:
		return cmd.writeCode(ctx, env.stdout, c, ".json")
	case cmd.Properties:
		row, err := describe(ctx, c)
		if err != nil {
			return err
		}
		printCodes(env.stdout, []codeRow{row})
	case len(cmd.Output) == 0:
		return outside(arrayfile.WriteCSV(env.stdout, c))
	}
	return nil
}

// list prints the table of all codes.
func (cmd *codesCmd) list(ctx context.Context, env *environment) error {
	if err := cmd.checkOutput("json"); err != nil {
		return err
	}
	levels := cmd.Levels
	if levels == 0 {
		levels = defaultLevels
	}
	var rows []codeRow
	for _, f := range code.Families() {
		c, err := openNamed(f.Name, levels)
		if err != nil {
			return err
		}
		row, err := describe(ctx, c)
		if err != nil {
			return err
		}
		row.Description = f.Description
		rows = append(rows, row)
	}
	result := map[string]any{"codes": rows}
	if err := cmd.write(func(w io.Writer, _ string) error { return writeJSON(w, result) }); err != nil {
		return err
	}
	if cmd.JSON {
		return writeJSON(env.stdout, result)
	}
	printCodes(env.stdout, rows)
	return nil
}

func describe(ctx context.Context, c *code.Code) (codeRow, error) {
	p, err := c.Properties(ctx, 0)
	if err != nil {
		return codeRow{}, err
	}
	d, err := decode.New(decode.Auto, c)
	if err != nil {
		return codeRow{}, err
	}
	return codeRow{Properties: p, Decoder: d.Name()}, nil
}

func printCodes(w io.Writer, rows []codeRow) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "code\tlevels\tbits\tmin distance\ttransitions per bit\tdistance–label correlation\tdecoder\t\n")
	for _, r := range rows {
		distance, correlation := "–", "–"
		if r.MinDistance != nil {
			distance = fmt.Sprint(*r.MinDistance)
		}
		if r.Correlation != nil {
			correlation = fmt.Sprintf("%.3f", *r.Correlation)
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%.4g\t%s\t%s\t\n", r.Code, r.Levels, r.Bits, distance, r.TransitionsPerBit, correlation, r.Decoder)
	}
	t.Flush()
}

// writeCode writes a code in the format of a path.
func (cmd *codesCmd) writeCode(ctx context.Context, w io.Writer, c *code.Code, path string) error {
	switch format(path) {
	case "csv":
		return arrayfile.WriteCSV(w, c)
	case "npy":
		return arrayfile.WriteBitsNPY(w, c)
	case "json":
		row, err := describe(ctx, c)
		if err != nil {
			return err
		}
		return writeJSON(w, struct {
			codeRow
			Words []string `json:"words"`
		}{row, codeWords(c)})
	}
	return drawCode(w, c, fmt.Sprintf("%s, %d levels, %d bits", c.Name(), c.Levels(), c.Bits()), path, cmd.size())
}

// codeWords are the words of a code, as texts of 0 and 1.
func codeWords(c *code.Code) []string {
	words := make([]string, c.Levels())
	for i := range words {
		var b strings.Builder
		for k := range c.Bits() {
			if c.Bit(i, k) {
				b.WriteByte('1')
			} else {
				b.WriteByte('0')
			}
		}
		words[i] = b.String()
	}
	return words
}

// drawCode draws a code as a matrix.
func drawCode(w io.Writer, c *code.Code, title, path string, size plots.Size) error {
	f, err := plots.CodeMatrix(plots.CodeMatrixData{Title: title, Levels: c.Levels(), Bits: c.Bits(), Bit: c.Bit, Size: size})
	if err != nil {
		return err
	}
	return writeFigure(w, f, path)
}
