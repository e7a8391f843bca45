package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"belsim/errmodel/scenario"
	"belsim/montecarlo/search"
	"belsim/plots"
	"belsim/plots/paper"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/memory"
	"belsim/theory/code"
)

type optimizeCmd struct {
	Codes  []string `arg:"" optional:"" name:"code" reads:"" help:"Codes to begin from and compare: NAMEs, FILEs, NAME=FILEs."`
	Levels int      `placeholder:"L" help:"Number of levels of named codes (default: 256, or as a file has)."`
	circularFlag
	Bits           int      `placeholder:"M" help:"Number of bits, at most 64."`
	Cost           string   `default:"absolute" placeholder:"COST" reads:"" help:"What an answer costs: ${cost}."`
	R              *float64 `placeholder:"r" help:"Weight r of the Gaussian at each bit transition (default: ${r})."`
	Sigma          float64  `placeholder:"σ" help:"Width σ of the Gaussians, in levels (default: ${sigma})."`
	MaxTransitions int      `placeholder:"T" help:"Most transitions of a bit (default: any number)."`
	Repeat         bool     `help:"Columns may be equal or complementary. In networks, such bits err together."`
	Steps          uint64   `placeholder:"N" help:"Changes to try (default: ${steps})."`
	Seed           uint64   `default:"1" help:"Seed of the random numbers."`
	Model          string   `hidden:"" reads:""`
	outputFlags    `set:"endings=.csv .npy .json .png .svg .pdf"`
}

// Run implements the command.
func (cmd *optimizeCmd) Run(ctx context.Context, env *environment) error {
	if err := cmd.checkOutput(env, cmd.found(ctx, nil, "")); err != nil {
		return err
	}
	switch {
	case cmd.Model != "":
		return fmt.Errorf("--model %s: a search is for bits that err independently, and those of a network do not; "+
			"want --r and --sigma", cmd.Model)
	case cmd.Bits == 0:
		return errors.New("--bits is missing: the number of bits of the code, such as --bits 12")
	}
	m := mixtureFlags{R: cmd.R, Sigma: cmd.Sigma}.model()
	codes, err := code.OpenAll(cmd.Codes, code.Sizes{Levels: cmd.Levels, Circular: cmd.Circular})
	if err != nil {
		return err
	}
	s := scenario.New(m)
	o := search.Options{Levels: cmp.Or(cmd.Levels, code.DefaultLevels), Circular: cmd.Circular, Bits: cmd.Bits,
		MaxTransitions: cmd.MaxTransitions, Repeat: cmd.Repeat, Codes: codes, Steps: cmd.Steps}
	for _, c := range codes { // all have as many
		o.Levels = c.Levels()
	}
	if err := checkFlags(s.SetCost(cmd.Cost, o.Circular, o.Levels)); err != nil {
		return err
	}
	optimizer, err := search.NewOptimizer(s, samplesFlags{Seed: cmd.Seed}.sampling(), o)
	if err != nil {
		return checkFlags(err)
	}
	o = optimizer.Options
	if err := o.Check(); err != nil {
		return fmt.Errorf("--bits %d: %w", o.Bits, err)
	}
	for _, c := range o.Repeating() {
		env.note("%s has columns that are equal or complementary: the search does not begin from it without --repeat",
			c.Name())
	}
	if err := memory.Check(fmt.Sprintf("a search for %d levels and %d bits", o.Levels, o.Bits),
		search.Bytes(o.Levels, o.Bits, o.Workers)); err != nil {
		return err
	}
	env.saves.Store(true) // the best code so far is kept
	bar := env.newProgress("steps", o.Steps)
	found, err := optimizer.Find(ctx, func(n uint64, best float64) {
		bar.say(strings.TrimSpace(fmt.Sprintf("best so far about %.4g %s", best, s.Cost().Unit())))
		bar.add(n)
	})
	bar.stop()
	if err != nil {
		return err
	}
	return cmd.finish(context.WithoutCancel(ctx), env, found, optimizer.Subject)
}

// finish writes and prints the code that was found.
func (cmd *optimizeCmd) finish(ctx context.Context, env *environment, found *search.Optimized, model string) error {
	for _, path := range cmd.Output {
		if f := format(path); found.CodeFile == nil && (f == "csv" || f == "npy") {
			found.CodeFile = &path
		}
	}
	found.Provenance = env.provenance()
	return errors.Join(cmd.deliver(env, cmd.found(ctx, found, model)), found.Interrupted())
}

// found is the result of a search for one code.
func (cmd *optimizeCmd) found(ctx context.Context, found *search.Optimized, model string) result {
	return result{
		files: map[string]func(io.Writer) error{
			"csv":  func(w io.Writer) error { return arrayfile.WriteCSV(ctx, w, found.Found) },
			"npy":  func(w io.Writer) error { return arrayfile.WriteBitsNPY(ctx, w, found.Found) },
			"json": asJSON(found),
		},
		figure: func() (*plots.Figure, error) {
			title := fmt.Sprintf("found: %d levels, %d bits, %s, %s", found.Levels, found.Bits, found.Decoder, model)
			return plots.CodeMatrix(paper.CodeMatrixData(found.Found, title, plots.Style{})), nil
		},
		print: func(w io.Writer) error { return cmd.printFound(w, found, model) },
	}
}

// printFound writes the result for people.
func (cmd *optimizeCmd) printFound(w io.Writer, o *search.Optimized, model string) error {
	fmt.Fprintf(w, "%d levels, %d bits, decoder %s, %s, seed %d; %s\n\n", o.Levels, o.Bits, o.Decoder,
		model, o.Seed, o.Expects)
	if err := o.Table().Write(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", strings.Join(o.Remarks(), "\n"))
	if o.CodeFile != nil {
		_, err = fmt.Fprintf(w, "written to %s\n", strings.Join(cmd.Output, ", "))
	}
	return err
}
