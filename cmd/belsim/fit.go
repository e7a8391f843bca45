package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"belsim/errmodel/observed"
	"belsim/montecarlo/scenario"
	"belsim/montecarlo/table"
	"belsim/montecarlo/verdict"
	"belsim/plots"
	"belsim/theory/arrayfile"
)

type fitCmd struct {
	Code        string             `required:"" placeholder:"CODE" reads:"" help:"Code the network was trained with, a NAME or a FILE."`
	Levels      int                `placeholder:"L" help:"Number of quantization levels of a named code (default: the most that need as many bits as there are outputs)."`
	Targets     string             `required:"" placeholder:"FILE" reads:"" help:"Targets of the test samples, .csv, .npy or FILE.npz:NAME: levels from 1, or real labels with --range."`
	Outputs     string             `required:"" placeholder:"[KIND:]FILE" reads:"" help:"Outputs of the classifiers, samples × bits: logits, probabilities or bits (0 and 1, or ±1), whichever they are; logits:FILE, probabilities:FILE or bits:FILE says so."`
	Range       verdict.LabelRange `placeholder:"a:b" help:"Range of real labels: a is level 1, b the last one."`
	Temperature float64            `default:"1" placeholder:"τ" help:"Temperature τ of gen-ex, by which the network's logits are multiplied (default: 1)."`
	PerBit      bool               `help:"Fit an r and a σ for each bit, too."`
	Bits        []int              `placeholder:"k" help:"Bits to draw, from 1, with a picture as output (default: two with errors)."`
	Recommend   bool               `help:"Rank all codes under the fitted model, and say what it would take to change the ranking."`
	Candidates  []string           `placeholder:"FILE" reads:"" help:"Codes of one's own to rank as well."`
	Samples     uint64             `default:"10000" help:"Simulated samples of each label."`
	Seed        uint64             `default:"1" help:"Seed of the random numbers."`
	backendFlags
	outputFlags
}

func (fitCmd) Help() string {
	return `From the test outputs of a trained network: the classifiers' error probabilities, r and σ of the Gaussian-mixture model by maximum likelihood, whether that model describes them, how their errors depend on each other, and for every decoder that fits the code bound, exact value and simulation under the model beside the error observed.

-o FILE.json can be read back by compare, verify and heatmap with --model; -o FILE.csv has the observed error rate of every level and bit; -o FILE.npy is a table for --errors (the model's rows where a level has no samples); a picture is the paper's Figure 3(a, b).

Example, on a network's outputs that lie in belsim's repository:

  belsim fit --code johnson --targets testdata/network/targets.npy --range 2.5:4.3 --outputs testdata/network/logits.npy -o fit.png`
}

// Run implements the command.
func (cmd *fitCmd) Run(ctx context.Context, env *environment) error {
	if err := firstError(cmd.checkWorkers(), cmd.checkOutput(env, "csv", "json", "npy", "png", "svg", "pdf", "tex")); err != nil {
		return err
	}
	o := verdict.Options{
		Code: cmd.Code, Levels: cmd.Levels, Targets: cmd.Targets, Outputs: cmd.Outputs, Range: cmd.Range,
		Temperature: cmd.Temperature, PerBit: cmd.PerBit, Samples: cmd.Samples, Seed: cmd.Seed, Decoders: env.decoders,
	}
	if err := checkFlags(o.Check()); err != nil {
		return err
	}
	if len(cmd.Candidates) > 0 && !cmd.Recommend {
		return errors.New("--candidates are for --recommend")
	}
	network, err := verdict.Open(ctx, o)
	if err != nil {
		return err
	}
	defer network.Close()
	c := network.Code()
	for _, k := range cmd.Bits {
		if k < 1 || k > c.Bits() {
			return fmt.Errorf("--bits %d: %s has bits 1 to %d", k, c.Name(), c.Bits())
		}
	}
	s, err := cmd.study(ctx, env, network)
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

// study fits the model, predicts errors with it, and ranks codes if that is asked for.
func (cmd *fitCmd) study(ctx context.Context, env *environment, network *verdict.Network) (*verdict.Study, error) {
	total := max(network.Samples(), 0)
	bar := env.newProgress(cmd.Quiet || network.Samples() < 0, "samples read", 2*uint64(total))
	s, err := network.Fit(ctx, cmd.Workers, bar.add)
	bar.stop()
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
	d.Bits = bitProfiles(profiles...)
	return writeFigure(w, path)(plots.Profile(d))
}

// bitProfiles are profiles as they are drawn.
func bitProfiles(profiles ...verdict.Profile) []plots.BitProfile {
	out := make([]plots.BitProfile, len(profiles))
	for i, p := range profiles {
		out[i] = plots.BitProfile(p)
	}
	return out
}

// printStudy writes the study for people.
func (cmd *fitCmd) printStudy(env *environment, s *verdict.Study) error {
	w, f := env.stdout, s.Fit
	outputs := f.Outputs
	if outputs == string(observed.Signs) {
		outputs = "bits (±1)"
	}
	fmt.Fprintf(w, "%s, %d levels (%d bits); %d samples of levels %d to %d, outputs are %s", f.Code, f.Levels, f.Bits, f.Samples, s.Lowest, s.Highest, outputs)
	if f.Range != nil {
		fmt.Fprintf(w, "; a level is %.4g wide", f.LevelWidth)
	}
	gap := "" // around a list in Markdown, which takes the next line for a row
	if cmd.Format != "text" {
		gap = "\n"
	}
	fmt.Fprintf(w, "\n\nerror model, maximum likelihood (%.0f %% intervals)\n%s", 100*f.Confidence, gap)
	if err := cmd.print(env, parameterTable(f)); err != nil {
		return err
	}
	fmt.Fprint(w, gap)
	for _, remark := range s.Remarks() {
		fmt.Fprintf(w, "  %s\n", remark)
	}
	fmt.Fprintln(w)
	if len(f.PerBit) > 0 {
		if err := cmd.print(env, bitTable(f.PerBit)); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	if err := cmd.printDecoders(env, f); err != nil || f.Recommendation == nil {
		return err
	}
	return cmd.printRanking(env, f)
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
	fmt.Fprintf(w, "|error| in levels, over these targets; seed %d\n\n", f.Seed)
	if err := cmd.print(env, table.Of(f.Decoders,
		table.Replace("mean", "", func(d verdict.DecoderResult) string { return plusMinus(d.Mean, d.StdErr) }),
		table.Replace("observed", "", func(d verdict.DecoderResult) string { return plusMinus(d.Observed, d.ObservedStdErr) }),
		table.Replace("model_error_percent", "", func(d verdict.DecoderResult) string {
			if d.ModelError.IsMissing() {
				return "–"
			}
			return fmt.Sprintf("%+.1f %%", float64(d.ModelError))
		}))); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, `
bound, exact, simulated: the mixture, bits erring independently; observed rates: independent bits
with the error rates observed instead of the mixture's; shared noise: the mixture with ρ. What
separates observed rates from exact is the mixture's shape; what separates them from observed is
that bits do not err independently. The model's error is exact (or simulated) against observed.
`)
	if f.Range == nil {
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

// printRanking writes the ranking of codes.
func (cmd *fitCmd) printRanking(env *environment, f *verdict.Fit) error {
	w, rec := env.stdout, f.Recommendation
	fmt.Fprintf(w, "\ncodes under r = %s, σ = %s", f.R.Short(), f.Sigma.Short())
	if f.SharedNoise > 0 {
		fmt.Fprintf(w, ", ρ = %s", f.SharedNoise.Short())
	}
	against, continuous := "", ""
	if f.Range != nil {
		against, continuous = ", quantization included", " --labels continuous"
	}
	fmt.Fprintf(w, " and these targets; |error| in levels%s\n\n", against)
	if err := cmd.print(env, rankingTable(rec.Ranking)); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, `
These errors suppose that the classifiers of every code have the r and σ of yours. A network
trained with another code has others: larger ones where its bits have more transitions. The last
columns say how large they may be, in proportion to yours, before that code is no better than
yours (below 1: how small they would have to be).
`)
	if c := rec.Crossing; c != nil {
		_, err = fmt.Fprintf(w, "\n%s\nThe map: belsim heatmap %s %s --method mc --model FIT.json%s -o map.png, with FIT.json from -o.\n", f.CrossingText(), c.First, c.Second, continuous)
	}
	return err
}

// rankingTable has a row for each code.
func rankingTable(ranking []verdict.RankedCode) *table.Table {
	// cell is a cell of a valid code, or what stands there for one whose r and σ are invalid.
	cell := func(valid func(verdict.RankedCode) string, invalid string) func(verdict.RankedCode) string {
		return func(r verdict.RankedCode) string {
			if r.Invalid {
				return invalid
			}
			return valid(r)
		}
	}
	factor := func(of func(verdict.RankedCode) table.Number) func(verdict.RankedCode) string {
		return cell(func(r verdict.RankedCode) string {
			switch n := of(r); {
			case r.Trained:
				return ""
			case n.IsMissing():
				return "–"
			default:
				return strconv.FormatFloat(float64(n), 'g', 2, 64)
			}
		}, "")
	}
	return table.Of(ranking,
		table.Replace("code", "", func(r verdict.RankedCode) string {
			if r.Trained {
				return "yours: " + r.Code
			}
			return r.Code
		}),
		table.Replace("decoder", "", cell(func(r verdict.RankedCode) string { return r.Decoder }, "–")),
		table.Replace("outputs", "", cell(func(r verdict.RankedCode) string { return r.Outputs }, "–")),
		table.Replace("mean", "", cell(func(r verdict.RankedCode) string { return plusMinus(r.Mean, r.StdErr) }, "invalid: e > 1")),
		table.Replace("r_factor", "", factor(func(r verdict.RankedCode) table.Number { return r.RFactor })),
		table.Replace("sigma_factor", "", factor(func(r verdict.RankedCode) table.Number { return r.SigmaFactor })))
}
