package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"belsim/plots"
	"belsim/plots/paper"
	"belsim/theory/base/position"
)

type figuresCmd struct {
	Output string   `short:"o" default:"figures" placeholder:"DIR" help:"Folder to write to (default: ${default})."`
	Only   []string `placeholder:"NAME" help:"Only these figures, with commas between them, such as 2a,3c-exact."`
	Quick  bool     `help:"Fewer cells and samples."`
	workersFlag
	styleFlag
}

// Run implements the command.
func (cmd *figuresCmd) Run(ctx context.Context, env *environment) error {
	chosen, err := cmd.chosen()
	if err != nil {
		return err
	}
	if info, err := os.Stat(cmd.Output); err == nil && !info.IsDir() {
		return fmt.Errorf("cannot write to %s: it is not a folder", cmd.Output)
	}
	if err := os.MkdirAll(cmd.Output, 0o777); err != nil {
		return outside(fmt.Errorf("making the folder: %w", err))
	}
	names := []string{"index.html"}
	for _, f := range chosen {
		names = append(names, filesOf(f)...)
	}
	if err := cmd.outputs(names...).checkFiles(env, append(figureFormats, "html")...); err != nil {
		return err
	}
	bar := env.newProgress("figures", uint64(len(chosen)))
	defer bar.stop()
	var cards []paper.Card
	for _, f := range chosen {
		c, err := cmd.write(ctx, env, f)
		if err != nil {
			return fmt.Errorf("figure %s: %w", f.Name, err)
		}
		cards = append(cards, c)
		bar.add(1)
	}
	bar.stop()
	if err := cmd.outputs("index.html").write(env,
		func(w io.Writer, _ string) error { return paper.WriteIndex(w, cards) }); err != nil {
		return err
	}
	for _, c := range cards {
		fmt.Fprintf(env.stdout, "%-11s %s\n", c.Name, c.Command)
	}
	_, err = fmt.Fprintf(env.stdout, "%s in the folder %s; see index.html\n", position.Counted(len(cards), "figure"),
		cmd.Output)
	return err
}

// chosen are the figures of --only, or all.
func (cmd *figuresCmd) chosen() ([]paper.Figure, error) {
	all := paper.Figures(cmd.Quick)
	var names []string
	for _, f := range all {
		names = append(names, f.Name)
	}
	for _, name := range cmd.Only {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("--only %s: want some of %s", name, strings.Join(names, ", "))
		}
	}
	return slices.DeleteFunc(all, func(f paper.Figure) bool {
		return len(cmd.Only) > 0 && !slices.Contains(cmd.Only, f.Name)
	}), nil
}

// outputs are files in the folder.
func (cmd *figuresCmd) outputs(names ...string) outputFlags {
	var out outputFlags
	for _, name := range names {
		out.Output = append(out.Output, filepath.Join(cmd.Output, name))
	}
	return out
}

// figureFormats are the formats of every figure.
var figureFormats = []string{"csv", "pdf", "svg", "png"}

// filesOf returns the names of a figure's files.
func filesOf(f paper.Figure) []string {
	var out []string
	for _, format := range figureFormats {
		out = append(out, "figure-"+f.Name+"."+format)
	}
	return out
}

// write makes the files of a figure, by the command that makes it alone where there is one.
func (cmd *figuresCmd) write(ctx context.Context, env *environment, f paper.Figure) (paper.Card, error) {
	args := []string{"figures", "--only", f.Name}
	if f.Args != nil {
		args = append(slices.Clone(f.Args), "-o", "figure-"+f.Name+".pdf")
	}
	if style := strings.Join(cmd.Style, ","); style != "text" {
		args = append(args, "--style", style)
	}
	c := paper.Card{Name: f.Name, Caption: f.Caption, Command: "belsim " + strings.Join(quoted(args), " ")}
	out := cmd.outputs(filesOf(f)...)
	if f.Args != nil {
		return c, cmd.command(ctx, env, f, out)
	}
	drawn, numbers, err := f.Make(cmd.style())
	if err != nil {
		return c, err
	}
	return c, out.write(env, result{files: map[string]func(io.Writer) error{"csv": numbers},
		figure: func() (*plots.Figure, error) { return drawn, nil }}.write)
}

// command runs the command of a figure.
func (cmd *figuresCmd) command(ctx context.Context, env *environment, f paper.Figure, out outputFlags) error {
	args := append(slices.Clone(f.Args), "--quiet", "--style", strings.Join(cmd.Style, ","))
	if cmd.Workers > 0 && args[0] != "codes" {
		args = append(args, "--workers", fmt.Sprint(cmd.Workers))
	}
	for _, path := range out.Output {
		args = append(args, "--output="+path)
	}
	inner := newEnvironment(args, io.Discard, env.stderr)
	inner.unfinished = env.unfinished
	k, err := inner.parse(ctx, args, func(int) {})
	if err == nil {
		err = k.Run()
	}
	env.files.written = append(env.files.written, inner.files.written...)
	return err
}
