package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/perceived"
	"belsim/montecarlo/assess"
	"belsim/montecarlo/compare"
	"belsim/montecarlo/forecast"
	"belsim/montecarlo/scenario"
	"belsim/plots"
	"belsim/plots/paper"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/table"
)

type levelsCmd struct {
	Codes      []string             `arg:"" optional:"" name:"code" reads:"" help:"Codes, NAMEs and FILEs; without any, all that belsim knows."`
	Levels     []int                `placeholder:"L" help:"Numbers of levels, with commas between them (default: those of the files among the codes, or 32,64,128,256)."`
	Range      assess.LabelRange    `xor:"range" placeholder:"a:b" reads:"" help:"Range of the labels: a is level 1, b the last one, for every number of levels."`
	Targets    string               `xor:"noise" placeholder:"FILE" reads:"" help:"Make levels for these targets instead, .csv, .npy or FILE.npz:NAME: even ones, and half even ones with half quantiles of the targets. --baseline X is e₀, the error of direct regression or of a network; -o FILE.csv or FILE.npy has the label of each level, for --range, and -o FILE.png draws them over the histogram of the targets."`
	LabelNoise float64              `xor:"noise" group:"model" placeholder:"s" help:"Standard deviation of what a network knows of a label, in label units."`
	MAE        forecast.UnaryError  `xor:"noise" group:"model" name:"mae" placeholder:"X[@L]" help:"The same, by the mean |error| of unary with L levels, trained with BCE and read by gen, in label units, quantization included (default of L: the largest number of levels)."`
	Model      string               `xor:"noise,range" group:"model" placeholder:"FILE" reads:"" help:"The same, by the perceived label in what 'belsim fit --range a:b -o FILE.json' wrote, with its range, prior, misfit, cutoff and training; --prior, --misfit, --cutoff and --training win over it."`
	Misfit     *float64             `group:"model" placeholder:"η" help:"Misfit η, in label units: how far a bit is from what it could have learned (default: a quarter of a level where there are 64)."`
	Cutoff     float64              `group:"model" placeholder:"κ" help:"Cutoff κ of what networks learn, in cycles over the range of labels (default: by s and the number of levels)."`
	Training   []perceived.Training `enum:"bce,ce,l1,l2" placeholder:"WHAT" group:"model" help:"How the networks are trained, or several ways, with commas between them: bce, each bit by itself; ce, all together for the decoder, which reads logits; l1 or l2, all together through gen-ex, by its mean |error| or squared error (default: bce, or as --model says)."`
	Decoder    []string             `enum:"${decoders}" default:"auto" help:"Decoder of every code, or several, with commas between them: ${enum}; auto takes the best of each."`
	Prior      string               `group:"model" placeholder:"FILE" reads:"" help:"Histogram of the labels, CSV with columns label,count, in label units (default: all labels alike)."`
	Baseline   float64              `group:"codes" placeholder:"X" help:"Mean |error| of direct regression, a network without a code, to compare codes with, in label units."`
	workersFlag
	outputFlags
}

func (levelsCmd) Help() string {
	return `How many levels should the codes of a network have? Few levels cost quantization; with many, the noise of what the network knows of a label decides. The noise belongs to the data and to the network, and is the same for every number of levels. Forecasts of trained networks have both, in label units: the unit of --range. -o levels.png draws the best forecast of each code with each number of levels, under the conclusion.

Example, for labels from 0 to 100 of which unary with 64 levels misses 1.3 on average:

  belsim levels unary hexj --levels 16,32,64 --range 0:100 --mae 1.3@64 --decoder gen,gen-ex

--targets makes levels for labels of a long tail, which even levels quantize badly: q is the mean distance of a target from its level, and a network with these levels errs by about √(e₀² + q²). Spacing matters where q/e₀ of even levels is above 0.3. The end levels clip 0.1 % of the targets; --range a:b says other ends.

  belsim levels --targets testdata/network/targets.npy --levels 16 --baseline 0.033 -o values.csv -o levels.png`
}

// Run implements the command.
func (cmd *levelsCmd) Run(ctx context.Context, env *environment) error {
	if cmd.Targets != "" {
		return cmd.space(ctx, env)
	}
	if err := cmp.Or(cmd.checkOutput(env, ranking(nil, plots.Style{})),
		checkFlags(compare.CheckBaseline(cmd.Baseline)), cmd.check()); err != nil {
		return err
	}
	q, err := cmd.question(env)
	if err != nil {
		return err
	}
	return answer(ctx, env, q, cmd.Workers, cmd.outputFlags, plots.Style{})
}

// space makes levels for targets.
func (cmd *levelsCmd) space(ctx context.Context, env *environment) error {
	if err := cmp.Or(cmd.checkOutput(env, levelSpaces(ctx, nil)),
		checkFlags(compare.CheckBaseline(cmd.Baseline))); err != nil {
		return err
	}
	if len(cmd.Codes) > 0 {
		return errors.New("--targets makes levels for any code: want no code")
	}
	counts := cmd.Levels
	if len(counts) == 0 {
		counts = []int{8, 16, 32, 64, 128, 256}
	}
	found, err := assess.NewSpacings(ctx, cmd.Targets, cmd.Range, counts, cmd.Baseline)
	if err != nil {
		return checkFlags(err)
	}
	found.Provenance = env.provenance()
	return cmd.deliver(env, levelSpaces(ctx, found))
}

// levelSpaces is the answer to --targets.
func levelSpaces(ctx context.Context, found *assess.Spacings) result {
	values := func(write func(context.Context, io.Writer, mat.Matrix) error) func(io.Writer) error {
		return func(w io.Writer) error {
			r, err := found.Chosen()
			if err != nil {
				return fmt.Errorf("%w: want one with --levels", err)
			}
			return write(ctx, w, mat.NewDense(r.Levels, 1, r.Values))
		}
	}
	return result{
		files: map[string]func(io.Writer) error{"json": asJSON(found), "csv": values(arrayfile.WriteCSV),
			"npy": values(arrayfile.WriteNPY)},
		figure: func() (*plots.Figure, error) {
			r, err := found.Chosen()
			if err != nil {
				return nil, fmt.Errorf("%w: want one with --levels", err)
			}
			title := fmt.Sprintf("%d levels, %s", r.Levels, r.Called())
			return plots.Spacing(plots.SpacingData{Title: title, Targets: found.Sorted(), Levels: r.Values})
		},
		print: func(w io.Writer) error { return found.Section().Write(w) },
	}
}

// answer answers a question about networks, and delivers it.
func answer(ctx context.Context, env *environment, q *forecast.Question, workers int, to outputFlags,
	style plots.Style) error {
	work, err := q.Open()
	if err != nil {
		return err
	}
	bar := env.newProgress("codes", work.Steps())
	found, err := work.Run(ctx, workers, bar.add)
	bar.stop()
	if err != nil {
		return bar.interrupted(err)
	}
	found.Provenance = env.provenance()
	return to.deliver(env, ranking(found, style))
}

// ranking is the answer to a question.
func ranking(found *forecast.Ranking, style plots.Style) result {
	return result{
		files: map[string]func(io.Writer) error{
			"json": asJSON(found),
			"csv":  func(w io.Writer) error { return table.WriteCSV(w, found.Results) },
		},
		figure: func() (*plots.Figure, error) { return plots.Forest(paper.RankingData(found, style)) },
		print:  func(w io.Writer) error { return found.Write(w) },
	}
}

// check refuses values without a meaning, and what says nothing of the networks or of the labels.
func (cmd *levelsCmd) check() error {
	if err := (perceivedFlags{LabelNoise: cmd.LabelNoise, Misfit: cmd.Misfit,
		Cutoff: cmd.Cutoff}).check("label units"); err != nil {
		return err
	}
	switch {
	case cmd.LabelNoise == 0 && cmd.MAE.Error == 0 && cmd.Model == "":
		return errors.New("want --mae, --label-noise or --model, for what the networks know of a label; " +
			"or --targets, to make levels")
	case cmd.Range.File() != "":
		return fmt.Errorf("%s: forecasts are for even levels: the perceived-label model has noise of one size in levels, "+
			"and uneven ones have another wherever they lie; want --range a:b", cmd.Range.File())
	case cmd.Range.IsZero() && cmd.Model == "":
		return errors.New("want --range a:b, the range of the labels")
	}
	return nil
}

// question is what the flags ask. What they say wins over the fit.
func (cmd *levelsCmd) question(env *environment) (*forecast.Question, error) {
	prior, err := scenario.ReadPrior(cmd.Prior)
	if err != nil {
		return nil, err
	}
	q := &forecast.Question{
		Labels: forecast.Labels{Lo: cmd.Range.Lo,
			Hi: cmd.Range.Hi}, Levels: cmd.Levels, Codes: namedOrAll(cmd.Codes), Names: cmd.Decoder, Trainings: []perceived.Training{perceived.BCE},
		Noise: cmd.LabelNoise, Unary: cmd.MAE, Direct: cmd.Baseline, Decoders: env.decoders, Temperature: 1,
	}
	if q.Misfit = q.Labels.DefaultMisfit(); cmd.Model != "" {
		fit, err := assess.Read(cmd.Model)
		if err != nil {
			return nil, err
		}
		if err := fit.Ask(q); err != nil {
			return nil, err
		}
	}
	if prior.Histogram != nil {
		q.Labels.Histogram, q.Labels.Shares = prior.Histogram, nil
	}
	q.Misfit, q.Cutoff = or(cmd.Misfit, q.Misfit), cmp.Or(cmd.Cutoff, q.Cutoff)
	if len(cmd.Training) > 0 {
		q.Trainings = cmd.Training
	}
	return q, nil
}
