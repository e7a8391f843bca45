package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"belsim/errmodel/assess"
	"belsim/errmodel/forecast"
	"belsim/errmodel/perceived"
	"belsim/plots"
	"belsim/plots/paper"
	"belsim/theory"
	"belsim/theory/base/position"
	"belsim/theory/base/table"
)

type forecastCmd struct {
	Codes    []string             `arg:"" optional:"" name:"code" reads:"" help:"Codes, NAMEs and FILEs, direct and corn (default: all codes)."`
	Levels   []int                `placeholder:"L" help:"Numbers of levels (default: with --range 32,64,128,256, else 256, or as a file, --prior or --model has)."`
	MAE      forecast.UnaryError  `xor:"noise" name:"mae" placeholder:"X[@L]" help:"Networks whose mean |error| with unary, of L levels, is X."`
	Model    string               `xor:"noise,range" placeholder:"FILE" reads:"" help:"The same, by a .json of fit."`
	Range    assess.LabelRange    `xor:"range" placeholder:"a:b" reads:"" help:"Labels of the end levels (default: labels are levels)."`
	Training []perceived.Training `enum:"bce,ce,l1,l2" placeholder:"WHAT" group:"model" help:"${training}"`
	Decoder  []string             `enum:"${decoders}" default:"auto" help:"Decoders, with commas between them: ${uninformed}."`
	Prior    string               `group:"model" placeholder:"FILE" reads:"" help:"${histogram}"`
	Baseline float64              `group:"codes" placeholder:"X" help:"Mean |error| of direct regression."`
	workersFlag
	pictureFlags `set:"endings=.csv .json .png .svg .pdf"`
}

// Run implements the command.
func (cmd *forecastCmd) Run(ctx context.Context, env *environment) error {
	if err := cmp.Or(cmd.checkOutput(env, ranking(nil, cmd.style())), cmd.check()); err != nil {
		return err
	}
	q, err := cmd.question(env)
	if err != nil {
		return err
	}
	work, err := q.Open()
	if err != nil {
		return err
	}
	bar := env.newProgress("codes", work.Steps())
	found, err := work.Run(ctx, cmd.Workers, bar.add)
	bar.stop()
	if err != nil {
		return err
	}
	found.Provenance = env.provenance()
	return cmd.deliver(env, ranking(found, cmd.style()))
}

// check refuses what says nothing of the networks or of the labels.
func (cmd *forecastCmd) check() error {
	switch {
	case cmd.MAE.Error == 0 && cmd.Model == "":
		return errors.New("want --mae or --model, for what the networks know of a label")
	case cmd.Range.File() != "":
		return fmt.Errorf("--range %s: forecasts are for even levels, in which noise has one size; want %s",
			cmd.Range.File(), position.Flag("range", "a:b"))
	}
	return nil
}

// question is what the flags ask. What they say wins over the fit.
func (cmd *forecastCmd) question(env *environment) (*forecast.Question, error) {
	prior, err := theory.ReadPrior(cmd.Prior)
	if err != nil {
		return nil, err
	}
	q := &forecast.Question{
		Labels:   forecast.Labels{Lo: cmd.Range.Lo, Hi: cmd.Range.Hi, Histogram: prior.Histogram},
		InLevels: cmd.Range.IsZero(), Prior: prior, Levels: cmd.Levels, Codes: namedOrAll(cmd.Codes),
		Names: cmd.Decoder, Trainings: []perceived.Training{perceived.BCE}, Unary: cmd.MAE,
		Direct: cmd.Baseline, Decoders: env.decoders, Temperature: 1,
	}
	if cmd.Model != "" {
		fit, err := assess.Read(cmd.Model)
		if err != nil {
			return nil, err
		}
		if err := fit.Ask(q); err != nil {
			return nil, err
		}
	}
	if len(cmd.Training) > 0 {
		q.Trainings = cmd.Training
	}
	return q, nil
}

// ranking is the answer to a question.
func ranking(found *forecast.Ranking, style plots.Style) result {
	return result{
		files: map[string]func(io.Writer) error{
			"json": asJSON(found),
			"csv":  func(w io.Writer) error { return table.WriteCSV(w, found.Results) },
		},
		figure: func() (*plots.Figure, error) { return plots.Forest(paper.RankingData(found, style)) },
		print:  func(w io.Writer) error { return found.Section().Write(w) },
	}
}
