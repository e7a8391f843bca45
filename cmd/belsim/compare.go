package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/montecarlo/compare"
	"belsim/plots"
	"belsim/plots/paper"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/expect"
)

type compareCmd struct {
	Codes []string `arg:"" optional:"" name:"code" reads:"" help:"Codes: NAMEs, FILEs and NAME=FILEs (default: all)."`
	levelsFlag
	circularFlag
	Decoder []string `enum:"${decoders}" default:"auto" help:"Decoders, with commas between them: ${enum}; ${auto}."`
	scenarioFlags
	Exact bool `help:"Compute also the values that take more than about a second, up to minutes each."`
	samplesFlags
	backendFlags
	pictureFlags `set:"endings=.csv .json .png .svg .pdf"`
}

// Run implements the command.
func (cmd *compareCmd) Run(ctx context.Context, env *environment) error {
	if err := cmd.checkOutput(env, cmd.result(env, nil, nil)); err != nil {
		return err
	}
	draw := cmd.sampling()
	s, fit, err := cmd.read(env, draw)
	if err != nil {
		return err
	}
	codes, err := code.OpenAll(namedOrAll(cmd.Codes), sizes(s, cmd.Levels, 0, cmd.circularFlag, fit))
	if err != nil {
		return err
	}
	cmd.Circular = codes[0].Circular() // or the fit is
	if err := cmd.ask(s, codes[0].Levels(), codes[0].Circular()); err != nil {
		return err
	}
	backend := cmd.backend(env)
	defer backend.Close()
	var candidates *compare.Candidates
	if err := env.during("error models", func() (err error) {
		candidates, err = compare.NewCandidates(ctx, s, codes, cmd.Decoder, draw)
		return err
	}); err != nil {
		return err
	}
	if cmd.Exact {
		cmd.noteLong(env, candidates.Problems)
	} else {
		candidates.Skip = expect.Skip{Slow: true}
	}
	what, total := "samples", draw.Samples*uint64(codes[0].Levels()*len(candidates.Problems))
	if draw.RelErr > 0 {
		what, total = "codes", uint64(len(candidates.Problems))
	}
	bar := env.newProgress(what, total)
	run := cmd.run(backend, bar)
	found, err := compare.Rank(ctx, s, run, candidates, draw)
	bar.stop()
	if err != nil {
		return err
	}
	found.Provenance = env.provenance()
	return cmd.deliver(env, cmd.result(env, found, s))
}

// noteLong says which values of --exact take long, and which are left out because they take more than
// minutes.
func (cmd *compareCmd) noteLong(env *environment, problems []*montecarlo.Problem) {
	var wait time.Duration
	var out []string
	for _, p := range problems {
		switch d := expect.LawTime(p.Expected()); {
		case d > expect.Patience:
			out = append(out, fmt.Sprintf("%s (%s)", p.Code.Name(), p.Decoder.Name()))
		default:
			wait += d
		}
	}
	text := ""
	if wait > time.Second {
		text = fmt.Sprintf("any law takes about %.0f s of a processor", wait.Seconds())
	}
	if len(out) > 0 {
		text = strings.TrimPrefix(text+fmt.Sprintf("; … stands for any law of %s, which takes more than %.0f minutes",
			strings.Join(out, ", "), expect.Patience.Minutes()), "; ")
	}
	if text != "" {
		env.note("--exact: %s", text)
	}
}

// result is the ranking.
func (cmd *compareCmd) result(env *environment, found *compare.Ranking, s *scenario.Scenario) result {
	return result{
		files: map[string]func(io.Writer) error{
			"json": asJSON(found),
			"csv":  func(w io.Writer) error { return table.WriteCSV(w, found.Results, found.Missing()...) },
		},
		figure: func() (*plots.Figure, error) {
			return plots.Compare(paper.CompareData(found.Valid(), s.String(), cmd.style())), nil
		},
		print: func(w io.Writer) error { return cmd.report(w, found, s) },
	}
}

// report prints the ranking for people.
func (cmd *compareCmd) report(w io.Writer, found *compare.Ranking, s *scenario.Scenario) error {
	fmt.Fprintln(w, found.Heading(s))
	if err := found.Table().Write(w); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, found.Notes())
	return err
}

// namedOrAll are the codes of a command line, or all that have a name.
func namedOrAll(codes []string) []string {
	if len(codes) > 0 {
		return codes
	}
	var names []string
	for _, f := range code.Families() {
		names = append(names, f.Name)
	}
	return names
}
