package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"belsim/errmodel/assess"
	"belsim/montecarlo/search"
	"belsim/plots"
	"belsim/plots/paper"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/memory"
	"belsim/theory/base/refuse"
	"belsim/theory/base/table"
	"belsim/theory/code"
)

type optimizeCmd struct {
	levelsFlag
	circularFlag
	Bits           search.BitCounts `placeholder:"M" help:"Number of bits; with --pareto a range lo:hi:count[:log]."`
	Decoder        string           `enum:",${anycode}" default:"" placeholder:"NAME" help:"Decoder of the found and the named codes (default: gen), one of ${anycode}."`
	MaxTransitions int              `group:"codes" placeholder:"T" help:"Most transitions of a bit (default: any number)."`
	Start          string           `group:"codes" placeholder:"CODE" reads:"" help:"Begin from this code."`
	Fix            []int            `group:"codes" placeholder:"k" help:"Columns of --start that stay, from 1."`
	Steps          uint64           `xor:"time" group:"sampling" placeholder:"N" help:"Changes to try (default: ${steps})."`
	Time           time.Duration    `xor:"time" group:"sampling" placeholder:"D" help:"Search for about so long."`
	networks       bool             // are forecast
	Pareto         bool             `help:"Search for every number of bits: the trade-off of bits against error."`
	Keep           string           `group:"output" placeholder:"FOLDER" help:"Folder for the codes of --pareto."`
	scenarioFlags
	samplesFlags
	backendFlags
	pictureFlags `set:"endings=.csv .npy .json .png .svg .pdf"`
}

// Run implements the command.
func (cmd *optimizeCmd) Run(ctx context.Context, env *environment) error {
	out := cmd.found(ctx, nil, "")
	if cmd.Pareto {
		out = cmd.tradeoff(nil, "")
	}
	if err := errors.Join(cmd.checkOutput(env, out), cmd.check()); err != nil {
		return err
	}
	s, fit, err := cmd.read(env, cmd.sampling(), (*assess.Fit).FillNetwork)
	if err != nil {
		return err
	}
	o, err := cmd.options(sizes(s, cmd.Levels, 0, cmd.circularFlag, fit))
	if err != nil {
		return err
	}
	if err := cmd.ask(s, o.Levels, o.Circular); err != nil {
		return err
	}
	backend := cmd.backend(env)
	defer backend.Close()
	optimizer, err := search.NewOptimizer(s, cmd.Decoder, cmd.sampling(), o)
	if err != nil {
		return checkFlags(err)
	}
	if cmd.networks = optimizer.Forecaster != nil; cmd.networks && fit != nil {
		fit.Inform(optimizer.Forecaster, true)
	}
	bits, err := cmd.bits(optimizer)
	if err != nil {
		return err
	}
	if err := cmd.makeKeep(env, bits); err != nil {
		return err
	}
	optimizer.Begin = func(bits int) (func(uint64, float64), func()) {
		return cmd.follow(env, bits, optimizer.Options.Steps, s.Cost().Unit())
	}
	env.saves.Store(true) // the best code so far is kept
	if cmd.Pareto {
		optimizer.Found = func(found *search.Optimized) error {
			return cmd.keep(context.WithoutCancel(ctx), env, found)
		}
		result, err := optimizer.Tradeoff(ctx, backend, bits)
		if err != nil {
			return err
		}
		return cmd.finishTradeoff(env, result, optimizer.Subject)
	}
	found, err := optimizer.Find(ctx, backend, bits[0])
	if err != nil {
		return err
	}
	return cmd.finish(context.WithoutCancel(ctx), env, found, optimizer.Subject)
}

// check refuses flags without reading anything.
func (cmd *optimizeCmd) check() error {
	switch {
	case cmd.Time > search.MaxTime:
		return fmt.Errorf("--time %v: want at most %v", cmd.Time, search.MaxTime)
	case cmd.Steps > search.MaxSteps:
		return fmt.Errorf("--steps %d: want 1 to %d", cmd.Steps, uint64(search.MaxSteps))
	case len(cmd.Fix) > 0 && cmd.Start == "":
		return errors.New("--fix names columns of --start, which is missing")
	case cmd.Keep != "" && !cmd.Pareto:
		return errors.New("--keep is for --pareto; -o FILE.csv writes the code")
	case cmd.Pareto && (cmd.Start != "" || cmd.Errors != ""):
		return errors.New("--pareto changes the number of bits; --start and --errors are for one number of them")
	case !cmd.Pareto && len(cmd.Bits) > 1:
		return errors.New("--bits: a range of bits is for --pareto")
	case !cmd.Pareto && len(cmd.Bits) == 0 && cmd.Start == "" && cmd.Errors == "":
		return errors.New("--bits is missing: the number of bits of the code, such as --bits 12; or --pareto for all")
	}
	if info, err := os.Stat(cmd.Keep); err == nil && !info.IsDir() {
		return fmt.Errorf("--keep %s: not a folder", cmd.Keep)
	}
	return nil
}

// options returns what the flags say about the search. Bits is 0 where they do not say it.
func (cmd *optimizeCmd) options(size code.Sizes) (search.Options, error) {
	o := search.Options{Levels: size.Named(), Circular: size.Circular, MaxTransitions: cmd.MaxTransitions,
		Workers: cmd.Workers, Steps: cmd.Steps, Time: cmd.Time}
	if len(cmd.Bits) > 0 {
		o.Bits = cmd.Bits[0]
	}
	if cmd.Start == "" {
		return o, nil
	}
	codes, err := code.OpenAll([]string{cmd.Start}, size)
	if err != nil {
		return o, err
	}
	o.Start, o.Levels = codes[0], codes[0].Levels()
	if len(cmd.Bits) == 0 {
		o.Bits = codes[0].Bits()
	}
	for _, k := range cmd.Fix {
		o.Fixed = append(o.Fixed, k-1)
	}
	return o, nil
}

// bits returns the numbers of bits to search, all of them possible.
func (cmd *optimizeCmd) bits(optimizer *search.Optimizer) ([]int, error) {
	bits := optimizer.Counts(cmd.Bits, cmd.Pareto)
	for _, m := range bits {
		if err := optimizer.Check(m); err != nil {
			if of, ok := errors.AsType[*refuse.Value](err); ok { // of another flag
				return nil, checkFlags(of)
			}
			return nil, fmt.Errorf("--bits %d: %w", m, err)
		}
	}
	levels, most := optimizer.Options.Levels, slices.Max(bits)
	return bits, memory.Check(fmt.Sprintf("a search for %d levels and %d bits", levels, most),
		search.Bytes(levels, most, cmd.Workers))
}

// follow shows how far the search for a number of bits is: steps, or seconds of --time.
func (cmd *optimizeCmd) follow(env *environment, bits int, steps uint64, unit string) (progress func(uint64, float64),
	end func()) {
	what, total := "steps", steps
	if cmd.Time > 0 {
		what, total = "seconds", uint64(cmd.Time/time.Second)
	}
	if cmd.Pareto {
		what = fmt.Sprintf("%d bits, %s", bits, what)
	}
	bar := env.newProgress(what, total)
	began, seconds := time.Now(), uint64(0)
	return func(n uint64, best float64) {
		text := "no valid code so far"
		if !math.IsInf(best, 1) {
			text = strings.TrimSpace(fmt.Sprintf("best so far about %.4g %s", best, unit))
		}
		if bar.say(text); cmd.Time == 0 {
			bar.add(n)
		} else if now := uint64(time.Since(began) / time.Second); now > seconds {
			bar.add(now - seconds)
			seconds = now
		}
	}, bar.stop
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
			return plots.CodeMatrix(paper.CodeMatrixData(found.Found, title, cmd.style()))
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
		_, err = fmt.Fprintf(w, "written to %s\n", *o.CodeFile)
	}
	return err
}

// keep writes a code of the trade-off when it is found.
func (cmd *optimizeCmd) keep(ctx context.Context, env *environment, found *search.Optimized) error {
	found.Provenance = env.provenance()
	if cmd.Keep == "" {
		return nil
	}
	path := cmd.kept(found.Bits)
	found.CodeFile = &path
	return cmd.writeFile(env, path, func(w io.Writer) error { return arrayfile.WriteCSV(ctx, w, found.Found) })
}

// kept is the file of --keep for a number of bits.
func (cmd *optimizeCmd) kept(bits int) string {
	return filepath.Join(cmd.Keep, fmt.Sprintf("found-%d.csv", bits))
}

// makeKeep makes the folder of --keep.
func (cmd *optimizeCmd) makeKeep(env *environment, bits []int) error {
	if cmd.Keep == "" {
		return nil
	}
	if err := os.MkdirAll(cmd.Keep, 0o777); err != nil {
		return outside(fmt.Errorf("making the folder of --keep: %w", err))
	}
	var kept outputFlags
	for _, m := range bits {
		kept.Output = append(kept.Output, cmd.kept(m))
	}
	return kept.checkFiles(env, "csv")
}

// finishTradeoff writes and prints the trade-off.
func (cmd *optimizeCmd) finishTradeoff(env *environment, t *search.Tradeoff, model string) error {
	for _, err := range t.Impossible {
		env.note("%v", err)
	}
	t.Provenance = env.provenance()
	return errors.Join(cmd.deliver(env, cmd.tradeoff(t, model)), t.Interrupted())
}

// tradeoff is the result of --pareto.
func (cmd *optimizeCmd) tradeoff(t *search.Tradeoff, model string) result {
	return result{
		files: map[string]func(io.Writer) error{
			"json": asJSON(t),
			"csv":  func(w io.Writer) error { return table.WriteCSV(w, t.Rows()) },
		},
		figure: func() (*plots.Figure, error) { return plots.Tradeoff(paper.TradeoffData(t, model, cmd.style())) },
		print: func(w io.Writer) error {
			fmt.Fprintf(w, "%d levels, decoder %s, %s, seed %d; %s\n\n", t.Levels, t.Decoder, model,
				t.Seed, t.Expects)
			err := t.Table().Write(w)
			for _, text := range t.Remarks() {
				_, err = fmt.Fprintf(w, "\n%s\n", text)
			}
			return err
		},
	}
}
