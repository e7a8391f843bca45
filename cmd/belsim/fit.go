package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"belsim/errmodel"
	"belsim/errmodel/observed"
	"belsim/montecarlo/scenario"
	"belsim/montecarlo/table"
	"belsim/montecarlo/verdict"
	"belsim/plots"
	"belsim/plots/paper"
	"belsim/theory/arrayfile"
)

type fitCmd struct {
	Code        []string             `placeholder:"CODE" reads:"" sep:"none" help:"Code the network was trained with, a NAME or a FILE (default: the first of --runs); several times for a network of several outputs."`
	Levels      int                  `placeholder:"L" help:"Number of quantization levels of a named code (default: the only one that needs as many bits as there are outputs)."`
	Targets     string               `required:"" placeholder:"FILE" reads:"" help:"Targets of the test samples, .csv, .npy or FILE.npz:NAME: levels from 1, or real labels with --range; samples × K for a network of K outputs."`
	Outputs     string               `placeholder:"[KIND:]FILE" reads:"" help:"Outputs of the classifiers, samples × bits (samples × K × bits for K outputs): logits, probabilities or bits (0 and 1, or ±1), whichever they are; logits:FILE, probabilities:FILE or bits:FILE says so."`
	Range       []verdict.LabelRange `placeholder:"a:b" sep:"none" help:"Range of real labels: a is level 1, b the last one; several times for a network of several outputs."`
	Training    string               `enum:"auto,bits,decoder" default:"auto" help:"What the network was trained for: each bit by its own cross-entropy (bits), or the decoder's distribution over the levels (decoder); auto finds out (default: auto)."`
	Also        []string             `placeholder:"CODE:OUTPUTS" reads:"" sep:"none" help:"Another network for the same targets, of the same or another code; several times."`
	Runs        string               `placeholder:"FILE" reads:"" help:"More networks: a .csv with the columns code, loss (BCE or CE), seed and outputs, whose paths are relative to it."`
	Temperature float64              `default:"1" placeholder:"τ" help:"Temperature τ of gen-ex, by which the network's logits are multiplied (default: 1)."`
	PerBit      bool                 `help:"Fit an r and a σ for each bit, too."`
	Bits        []int                `placeholder:"k" help:"Bits to draw, from 1, with a picture as output (default: two with errors)."`
	Recommend   bool                 `help:"Forecast the error of all codes if they were trained, bit by bit and for the decoder, and rank them."`
	Candidates  []string             `placeholder:"FILE" reads:"" help:"Codes of one's own to forecast as well."`
	Samples     uint64               `default:"10000" help:"Simulated samples of each label."`
	Seed        uint64               `default:"1" help:"Seed of the random numbers."`
	backendFlags
	outputFlags
}

func (fitCmd) Help() string {
	return `From the test outputs of a trained network: how wrong it is with each decoder, and two models beside it. The perceived-label model is one noisy label that all bits share; it forecasts the errors of codes that were not trained (--recommend). The Gaussian mixture gives each bit its error probabilities, r and σ by maximum likelihood, with bound, exact value and simulation for every decoder that fits the code. The first sentences are the verdict; the numbers follow.

A second network narrows the forecasts: train one with the columns of 'belsim codes probe', whose bits have 1, 2, 4, 8, … transitions, and give its outputs with --also probe:FILE. --runs reads a table of networks, and averages seeds.

-o FILE.json can be read back by compare, verify and heatmap with --model; -o FILE.csv has the observed error rate of every level and bit; -o FILE.npy is a table for --errors (the model's rows where a level has no samples); a picture is the paper's Figure 3(a, b).

Example, on a network's outputs that lie in belsim's repository:

  belsim fit --code johnson --levels 64 --targets testdata/network/targets.npy --range 2.5:4.3 --outputs testdata/network/logits.npy -o fit.png`
}

// Run implements the command.
func (cmd *fitCmd) Run(ctx context.Context, env *environment) error {
	others, err := cmd.networks(env)
	if err := firstError(err, cmd.checkWorkers(), cmd.checkOutput(env, "csv", "json", "npy", "png", "svg", "pdf", "tex")); err != nil {
		return err
	}
	o := verdict.Options{
		Levels: cmd.Levels, Targets: cmd.Targets, Outputs: cmd.Outputs, Training: cmd.training(),
		Temperature: cmd.Temperature, PerBit: cmd.PerBit, Samples: cmd.Samples, Seed: cmd.Seed, Decoders: env.decoders,
	}
	if err := checkFlags(o.Check()); err != nil {
		return err
	}
	if len(cmd.Candidates) > 0 && !cmd.Recommend {
		return errors.New("--candidates are for --recommend")
	}
	outputs, err := verdict.CountOutputs(o)
	if err != nil {
		return err
	}
	for _, given := range []struct {
		flag  string
		times int
	}{{"--code", len(cmd.Code)}, {"--range", len(cmd.Range)}} {
		if given.times > 1 && given.times != outputs {
			return fmt.Errorf("%s is given %d times, and the network has outputs for %d targets", given.flag, given.times, outputs)
		}
	}
	if outputs > 1 {
		return cmd.several(ctx, env, o, outputs, len(others))
	}
	s, err := cmd.one(ctx, env, cmd.of(o, 0), others)
	if err != nil {
		return err
	}
	if err := cmd.write(env, func(w io.Writer, path string) error { return cmd.writeStudy(ctx, w, path, s) }); err != nil {
		return err
	}
	if cmd.JSON {
		return table.WriteJSON(env.stdout, s.Fit)
	}
	return cmd.printStudy(env, s)
}

// of are the options of one output, from 0, of which the code and the range may be its own.
func (cmd *fitCmd) of(o verdict.Options, k int) verdict.Options {
	o.Code = cmd.Code[min(k, len(cmd.Code)-1)]
	if len(cmd.Range) > 0 {
		o.Range = cmd.Range[min(k, len(cmd.Range)-1)]
	}
	return o
}

// one judges one output of a network.
func (cmd *fitCmd) one(ctx context.Context, env *environment, o verdict.Options, others []verdict.Other) (*verdict.Study, error) {
	network, err := verdict.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer network.Close()
	c := network.Code()
	for _, k := range cmd.Bits {
		if k < 1 || k > c.Bits() {
			return nil, fmt.Errorf("--bits %d: %s has bits 1 to %d", k, c.Name(), c.Bits())
		}
	}
	return cmd.study(ctx, env, network, others)
}

// several judges all outputs of a network.
func (cmd *fitCmd) several(ctx context.Context, env *environment, o verdict.Options, outputs, others int) error {
	if others > 0 {
		return errors.New("--also and --runs are for networks of one output")
	}
	for _, path := range cmd.Output {
		if format(path) != "json" {
			return fmt.Errorf("cannot write %s: a network of several outputs is written as .json", path)
		}
	}
	var studies []*verdict.Study
	for k := range outputs {
		at := cmd.of(o, k)
		at.Output = k + 1
		s, err := cmd.one(ctx, env, at, nil)
		if err != nil {
			return fmt.Errorf("output %d: %w", k+1, err)
		}
		studies = append(studies, s)
	}
	all := verdict.NewSeveral(studies)
	if err := cmd.write(env, func(w io.Writer, _ string) error { return table.WriteJSON(w, all) }); err != nil {
		return err
	}
	if cmd.JSON {
		return table.WriteJSON(env.stdout, all)
	}
	for _, sentence := range all.Verdict {
		fmt.Fprint(env.stdout, wrapped(sentence, openingWidth, ""))
	}
	fmt.Fprintln(env.stdout)
	return cmd.print(env, table.Of(all.Rows, table.Append("one noisy label", func(r verdict.OutputRow) string {
		if r.Describes {
			return "describes it"
		}
		return "does not"
	})))
}

// networks lists the networks besides the first one, which it takes from --runs where no flag
// names it.
func (cmd *fitCmd) networks(env *environment) ([]verdict.Other, error) {
	var others []verdict.Other
	for _, text := range cmd.Also {
		o, err := verdict.ParseOther(text)
		if err != nil {
			return nil, fmt.Errorf("--also %w", err)
		}
		others = append(others, o)
	}
	if cmd.Runs != "" {
		runs, err := verdict.ReadRuns(cmd.Runs)
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			env.inputs = append(env.inputs, input{"--runs", r.Outputs})
		}
		if len(cmd.Code) == 0 && cmd.Outputs == "" {
			cmd.Code, cmd.Outputs, cmd.Training = []string{runs[0].Code}, runs[0].Outputs, string(runs[0].Training)
			runs = runs[1:]
		}
		others = append(others, runs...)
	}
	switch {
	case len(cmd.Code) == 0:
		return nil, errors.New("missing flags: --code=CODE")
	case cmd.Outputs == "":
		return nil, errors.New("missing flags: --outputs=[KIND:]FILE")
	}
	return others, nil
}

// training is what the network was trained for, as far as it is said.
func (cmd *fitCmd) training() errmodel.Training {
	if cmd.Training == "auto" {
		return ""
	}
	return errmodel.Training(cmd.Training)
}

// study fits the models, predicts errors with them, and forecasts codes if that is asked for.
func (cmd *fitCmd) study(ctx context.Context, env *environment, network *verdict.Network, others []verdict.Other) (*verdict.Study, error) {
	total := max(network.Samples(), 0) * (2 + len(others))
	bar := env.newProgress(cmd.Quiet || network.Samples() < 0, "samples read", uint64(total))
	s, err := network.Fit(ctx, cmd.Workers, bar.add)
	if err == nil {
		err = s.AddOthers(ctx, cmd.Workers, others, bar.add)
	}
	bar.stop()
	if err == nil {
		err = s.Perceive(ctx, cmd.Workers)
	}
	if err != nil {
		return nil, bar.interrupted(err)
	}
	s.Fit.Provenance = env.provenance()
	backend := cmd.backend(env, cmd.Quiet)
	defer backend.Close()
	if err := s.Predict(ctx, scenario.Run{Backend: backend, Workers: cmd.Workers}); err != nil || !cmd.Recommend {
		return s, err
	}
	bar = env.newProgress(cmd.Quiet, "codes", s.RankSteps(cmd.Candidates))
	err = s.Rank(ctx, cmd.run(backend, bar), cmd.Candidates)
	bar.stop()
	return s, bar.interrupted(err)
}

// writeStudy writes the study in the format of a file.
func (cmd *fitCmd) writeStudy(ctx context.Context, w io.Writer, path string, s *verdict.Study) error {
	f := s.Fit
	switch format(path) {
	case "json":
		return table.WriteJSON(w, f)
	case "npy":
		return arrayfile.WriteNPY(ctx, w, s.Rates())
	case "csv":
		return s.WriteRates(w)
	}
	d := plots.ProfileData{Size: cmd.size(), Title: fmt.Sprintf("%s, %d levels, %d samples: r = %.3g, σ = %.3g", f.Code, f.Levels, f.Samples, float64(f.R), float64(f.Sigma))}
	if len(f.PerBit) > 0 {
		d.Title = fmt.Sprintf("%s, %d levels, %d samples: r and σ of each bit", f.Code, f.Levels, f.Samples)
	}
	profiles, err := s.Profiles(cmd.Bits...)
	if err != nil {
		return err
	}
	d.Bits = paper.BitProfiles(profiles...)
	return writeFigure(w, path)(plots.Profile(d))
}

const (
	// openingWidth and lineWidth are the widest lines of the verdict, and of all that follows.
	openingWidth, lineWidth = 100, 120
)

// printStudy writes the study for people.
func (cmd *fitCmd) printStudy(env *environment, s *verdict.Study) error {
	w, f := env.stdout, s.Fit
	for _, sentence := range s.Opening() {
		fmt.Fprint(w, wrapped(sentence, openingWidth, ""))
	}
	fmt.Fprintln(w)
	outputs := f.Outputs
	if outputs == string(observed.Signs) {
		outputs = "bits (±1)"
	}
	head := fmt.Sprintf("%s, %d levels (%d bits); %d samples of levels %d to %d, outputs are %s", f.Code, f.Levels, f.Bits, f.Samples, s.Lowest, s.Highest, outputs)
	if f.Range != nil {
		head += fmt.Sprintf("; a level is %.4g wide", f.LevelWidth)
	}
	fmt.Fprint(w, wrapped(head, lineWidth, ""))
	gap := "" // around a list in Markdown, which takes the next line for a row
	if cmd.Format != "text" {
		gap = "\n"
	}
	if err := cmd.printPerceived(env, f, gap); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nmixture model, maximum likelihood (%.0f %% intervals)\n%s", 100*f.Confidence, gap)
	if err := cmd.print(env, parameterTable(f)); err != nil {
		return err
	}
	fmt.Fprint(w, gap)
	for _, remark := range s.Remarks() {
		fmt.Fprint(w, wrapped("  "+remark, lineWidth, "    "))
	}
	fmt.Fprintln(w)
	if len(f.PerBit) > 0 {
		if err := cmd.print(env, bitTable(f.PerBit)); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	if err := cmd.printDecoders(env, f); err != nil {
		return err
	}
	if len(f.Networks) > 0 {
		if err := cmd.printNetworks(env, f); err != nil {
			return err
		}
	}
	if f.Recommendation == nil {
		return nil
	}
	return cmd.printRanking(env, f)
}

// printPerceived writes the perceived-label model, and the rates of the bits beside it.
func (cmd *fitCmd) printPerceived(env *environment, f *verdict.Fit, gap string) error {
	w, p := env.stdout, f.Perceived
	if p == nil || p.Noise.IsMissing() {
		return nil
	}
	fmt.Fprintf(w, "\nperceived-label model (95 %% intervals)\n%s", gap)
	from := "the model's default"
	if p.CutoffFitted {
		from = "fitted"
	}
	if err := cmd.print(env, &table.Table{Style: table.List, Rows: [][]string{
		{"label noise s, levels", p.Noise.Short(), between(p.NoiseInterval), "fitted"},
		{"cutoff κ, cycles over the range", p.Cutoff.Short(), between(p.CutoffInterval), from},
		{"misfit η, levels", p.Misfit.Short(), "", "a constant"},
		{"distance of the data", p.Distance.Short(), "", "in standard deviations of what networks differ from it by"},
	}}); err != nil || len(p.Rates) == 0 {
		return err
	}
	fmt.Fprint(w, "\nrate of wrong bits, by their transitions: model against observed\n\n")
	return cmd.print(env, table.Of(p.Rates))
}

// wrapped breaks a text into lines of at most width characters, the second and all later ones
// with an indent.
func wrapped(text string, width int, indent string) string {
	var b strings.Builder
	line := text[:len(text)-len(strings.TrimLeft(text, " "))]
	empty := true
	for _, word := range strings.Fields(text) {
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			b.WriteString(line + "\n")
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	return b.String() + line + "\n"
}

// parameterTable has a row for each parameter of the model.
func parameterTable(f *verdict.Fit) *table.Table {
	wider := func(effect table.Number) string {
		if effect.IsMissing() {
			return ""
		}
		return fmt.Sprintf("%.2g times as wide as for independent bits", math.Sqrt(float64(effect)))
	}
	return &table.Table{Style: table.List, Rows: [][]string{
		{"r", f.R.Short(), between(f.RInterval), wider(f.DesignEffect[0])},
		{"σ, levels", f.Sigma.Short(), between(f.SigmaInterval), wider(f.DesignEffect[1])},
		{"shared noise ρ", f.SharedNoise.Short(), between(f.SharedNoiseInterval), ""},
	}}
}

// bitTable has a row for each bit.
func bitTable(bits []verdict.BitFit) *table.Table {
	return table.Of(bits,
		table.Replace("r_interval", "", func(b verdict.BitFit) string { return between(b.RInterval) }),
		table.Replace("sigma_interval", "", func(b verdict.BitFit) string { return between(b.SigmaInterval) }))
}

// between writes an interval.
func between(i [2]table.Number) string {
	switch lo, hi := i[0].IsMissing(), i[1].IsMissing(); {
	case lo && hi:
		return ""
	case hi:
		return fmt.Sprintf("from %s", i[0].Short())
	}
	return fmt.Sprintf("%s to %s", i[0].Short(), i[1].Short())
}

// printDecoders writes the errors of the decoders, in levels and in label units.
func (cmd *fitCmd) printDecoders(env *environment, f *verdict.Fit) error {
	w := env.stdout
	fmt.Fprintf(w, "model against observed: |error| in levels, over these targets; seed %d\n\n", f.Seed)
	if err := cmd.print(env, table.Of(f.Decoders,
		table.Replace("mean", "", func(d verdict.DecoderResult) string { return table.PlusMinus(d.Mean, d.StdErr) }),
		table.Replace("observed", "", func(d verdict.DecoderResult) string { return table.PlusMinus(d.Observed, d.ObservedStdErr) }))); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, `
bound, exact, simulated: the mixture, bits erring independently; observed rates: independent bits
with the error rates observed instead of the mixture's; shared noise: the mixture with ρ;
perceived: the perceived-label model, whose s is fitted to one of these errors.
`)
	if f.Range == nil || f.LevelWidth == 1 {
		return err
	}
	type row struct {
		Decoder string `text:"decoder"`
		Outputs string `text:"reads"`
		verdict.Units
	}
	var rows []row
	for _, d := range f.Decoders {
		rows = append(rows, row{d.Decoder, d.Outputs, d.LabelUnits})
	}
	fmt.Fprint(w, "\n|error| in label units\n\n")
	return cmd.print(env, table.Of(rows))
}

// printNetworks writes the table of all networks, with the best decoder of each.
func (cmd *fitCmd) printNetworks(env *environment, f *verdict.Fit) error {
	var rows []verdict.NetworkRow
	for _, r := range f.Networks {
		if r.Best {
			rows = append(rows, r)
		}
	}
	fmt.Fprint(env.stdout, "\nall networks, each with its best decoder; |error| in levels\n\n")
	return cmd.print(env, table.Of(rows, table.Replace("interval", "", func(r verdict.NetworkRow) string { return between(r.Interval) })))
}

// printRanking writes the forecasts, the best decoder of each code and training.
func (cmd *fitCmd) printRanking(env *environment, f *verdict.Fit) error {
	w, rec := env.stdout, f.Recommendation
	if len(rec.Ranking) > 0 {
		var rows []verdict.RankedCode
		for _, r := range rec.Ranking {
			if r.Best {
				rows = append(rows, r)
			}
		}
		fmt.Fprint(w, "\ncodes if they were trained, each with its best decoder; |error| in levels, over these targets\n\n")
		if err := cmd.print(env, table.Of(rows,
			table.Replace("code", "", func(r verdict.RankedCode) string {
				if r.Trained {
					return "yours: " + r.Code
				}
				return r.Code
			}),
			table.Replace("interval", "", func(r verdict.RankedCode) string { return between(r.Interval) }),
			table.Replace("tie", "~", func(r verdict.RankedCode) string {
				if r.Tie {
					return "~"
				}
				return ""
			}))); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	for _, note := range rec.Notes {
		fmt.Fprint(w, wrapped(note, openingWidth, ""))
	}
	return nil
}
