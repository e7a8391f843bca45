package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/assess"
	"belsim/errmodel/forecast"
	"belsim/errmodel/perceived"
	"belsim/montecarlo/scenario"
	"belsim/plots"
	"belsim/plots/paper"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/table"
)

type levelsCmd struct {
	Codes      []string             `arg:"" optional:"" name:"code" reads:"" help:"Codes, NAMEs and FILEs (default: all)."`
	Levels     []int                `placeholder:"L" help:"Numbers of levels (default: 32,64,128,256)."`
	Range      assess.LabelRange    `xor:"range" placeholder:"a:b" reads:"" help:"Labels of the end levels."`
	Targets    string               `xor:"noise" placeholder:"FILE" reads:"" help:"Make levels for these targets."`
	LabelNoise float64              `xor:"noise" group:"model" placeholder:"s" help:"Noise of what networks know of a label."`
	MAE        forecast.UnaryError  `xor:"noise" group:"model" name:"mae" placeholder:"X[@L]" help:"The same, by unary's mean |error|."`
	Model      string               `xor:"noise,range" group:"model" placeholder:"FILE" reads:"" help:"The same, by a .json of fit."`
	Misfit     *float64             `group:"model" placeholder:"η" help:"Misfit η, in label units."`
	Cutoff     float64              `group:"model" placeholder:"κ" help:"Cutoff κ of what they learn (default: by s)."`
	Training   []perceived.Training `enum:"bce,ce,l1,l2" placeholder:"WHAT" group:"model" help:"${training}"`
	Decoder    []string             `enum:"${decoders}" default:"auto" help:"Decoders, with commas between them: ${enum}."`
	Prior      string               `group:"model" placeholder:"FILE" reads:"" help:"${histogram}"`
	Baseline   float64              `group:"codes" placeholder:"X" help:"Mean |error| of direct regression."`
	workersFlag
	pictureFlags `set:"endings=.csv .npy .json .png .svg .pdf"`
}

// Run implements the command.
func (cmd *levelsCmd) Run(ctx context.Context, env *environment) error {
	if cmd.Targets != "" {
		return cmd.space(ctx, env)
	}
	if err := cmp.Or(cmd.checkOutput(env, ranking(nil, cmd.style())), cmd.check()); err != nil {
		return err
	}
	q, err := cmd.question(env)
	if err != nil {
		return err
	}
	return answer(ctx, env, q, cmd.Workers, cmd.outputFlags, cmd.style())
}

// space makes levels for targets.
func (cmd *levelsCmd) space(ctx context.Context, env *environment) error {
	if err := cmd.checkOutput(env, levelSpaces(ctx, nil, cmd.style())); err != nil {
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
	return cmd.deliver(env, levelSpaces(ctx, found, cmd.style()))
}

// levelSpaces is the answer to --targets.
func levelSpaces(ctx context.Context, found *assess.Spacings, style plots.Style) result {
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
			return plots.Spacing(plots.SpacingData{Title: title, Targets: found.Sorted(), Levels: r.Values, Style: style})
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

// check refuses what says nothing of the networks or of the labels.
func (cmd *levelsCmd) check() error {
	switch {
	case cmd.LabelNoise == 0 && cmd.MAE.Error == 0 && cmd.Model == "":
		return errors.New("want --mae, --label-noise or --model, for what the networks know of a label; " +
			"or --targets, to make levels")
	case cmd.Range.File() != "":
		return fmt.Errorf("%s: forecasts are for even levels, in which noise has one size; want --range a:b",
			cmd.Range.File())
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
		Labels: forecast.Labels{Lo: cmd.Range.Lo, Hi: cmd.Range.Hi}, Levels: cmd.Levels, Codes: namedOrAll(cmd.Codes),
		Names: cmd.Decoder, Trainings: []perceived.Training{perceived.BCE},
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
