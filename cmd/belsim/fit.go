package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"belsim/errmodel/assess"
	"belsim/errmodel/head"
	"belsim/plots"
	"belsim/plots/paper"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/position"
)

type fitCmd struct {
	Code        []string    `required:"" placeholder:"CODE" reads:"" sep:"none" help:"Code of the network: a NAME, a FILE, softmax, hl-gauss, corn or direct."`
	Levels      int         `placeholder:"L" help:"${bitlevels}"`
	Targets     string      `required:"" placeholder:"FILE" reads:"" help:"Targets: levels from 1, or labels."`
	Outputs     string      `required:"" placeholder:"[KIND:]FILE" reads:"" help:"${outputs}"`
	Range       labelRanges `placeholder:"a:b|FILE" reads:"" sep:"none" help:"${range}"`
	Training    string      `group:"model" enum:"auto,bce,ce,soft,l1,l2" default:"auto" help:"How the network was trained: ${enum}."`
	Temperature float64     `group:"model" default:"1" placeholder:"τ" help:"Temperature τ of gen-ex (default: 1)."`
	Bits        []int       `group:"output" placeholder:"k" help:"Bits to draw, from 1 (default: two with errors)."`
	FitDecoder  bool        `help:"Fit a decoder as well; -o FILE.npz holds it."`
	Baseline    string      `placeholder:"FILE|X" reads:"" help:"Direct regression: a FILE of predictions, or its mean |error|."`
	circularFlag
	workersFlag
	pictureFlags `set:"endings=.csv .npy .npz .json .html .png .svg .pdf"`
}

// labelRanges are the values of --range.
type labelRanges []assess.LabelRange

// Decode implements kong.MapperValue. kong takes a value of a list that begins with a minus for a
// flag.
func (r *labelRanges) Decode(ctx *kong.DecodeContext) error {
	var text string
	if err := ctx.Scan.PopValueInto("range", &text); err != nil {
		return err
	}
	var one assess.LabelRange
	err := one.UnmarshalText([]byte(text))
	*r = append(*r, one)
	return err
}

// Run implements the command.
func (cmd *fitCmd) Run(ctx context.Context, env *environment) error {
	if strings.HasPrefix(cmd.Targets, "points:") {
		return fmt.Errorf("--targets %s: fit measures no points: their distances are those of the labels that decode writes",
			cmd.Targets)
	}
	baseline, err := assess.ParseBaseline(cmd.Baseline)
	if err := cmp.Or(checkFlags(err), cmd.checkOutput(env, cmd.result(ctx, &assess.Report{}))); err != nil {
		return err
	}
	o := assess.Options{
		Levels: cmd.Levels, Circular: cmd.Circular, Targets: cmd.Targets, Outputs: cmd.Outputs, Training: cmd.training(),
		Temperature: cmd.Temperature, FitDecoder: cmd.FitDecoder, Baseline: baseline, Bits: cmd.Bits,
		Decoders: env.decoders,
	}
	if err := checkFlags(o.Check()); err != nil {
		return err
	}
	if cmd.writes("npz") && !cmd.FitDecoder {
		return errors.New("-o FILE.npz holds a fitted decoder: want --fit-decoder")
	}
	o.Code = cmd.Code[0]
	outputs, err := assess.CountOutputs(o)
	if err != nil {
		return err
	}
	for i, times := range []int{len(cmd.Code), len(cmd.Range)} {
		if times > 1 && times != outputs {
			return fmt.Errorf("%s is given %d times, and the network has outputs for %d targets",
				[]string{"--code", "--range"}[i], times, outputs)
		}
	}
	if outputs > 1 {
		return cmd.several(ctx, env, o, outputs)
	}
	r, err := cmd.one(ctx, env, o, 0, env.follow)
	if err != nil {
		return err
	}
	return cmd.deliver(env, cmd.result(ctx, r))
}

// result is the judgement of a network of one output.
func (cmd *fitCmd) result(ctx context.Context, r *assess.Report) result {
	return result{
		files: map[string]func(io.Writer) error{
			"json": asJSON(r.Fit),
			"csv":  r.WriteRates,
			"npy":  func(w io.Writer) error { return arrayfile.WriteNPY(ctx, w, r.Rates()) },
			"npz":  func(w io.Writer) error { return r.Decoder.Write(w) },
			"html": func(w io.Writer) error { return paper.WritePage(w, nil, r) },
		},
		figure: func() (*plots.Figure, error) { return paper.NetworkFigure(r, cmd.style()) },
		print:  func(w io.Writer) error { return r.Section().Write(w) },
	}
}

// one judges one output of a network, from 0, of which the code and the range may be its own.
func (cmd *fitCmd) one(ctx context.Context, env *environment, o assess.Options, k int,
	follow assess.Progress) (*assess.Report, error) {
	o.Code = cmd.Code[min(k, len(cmd.Code)-1)]
	if len(cmd.Range) > 0 {
		var err error
		if o.Range, err = cmd.Range[min(k, len(cmd.Range)-1)].Read(ctx); err != nil {
			return nil, err
		}
	}
	r, err := assess.Run(ctx, o, cmd.Workers, follow)
	if err != nil {
		return nil, checkFlags(err)
	}
	r.Fit.Provenance = env.provenance()
	return r, nil
}

// several judges all outputs of a network.
func (cmd *fitCmd) several(ctx context.Context, env *environment, o assess.Options, outputs int) error {
	if o.Baseline.Error > 0 {
		return errors.New("--baseline X is for a network of one output: want a file of predictions")
	}
	var reports []*assess.Report
	var all *assess.Several
	out := result{
		files: map[string]func(io.Writer) error{"json": asJSON(&all),
			"html": func(w io.Writer) error { return paper.WritePage(w, all, reports...) }},
		print: func(w io.Writer) error { return all.Section().Write(w) },
	}
	for _, path := range cmd.Output {
		if out.files[format(path)] == nil {
			return fmt.Errorf("cannot write %s: a network of several outputs is written as .json or .html", path)
		}
	}
	done, end := env.follow("outputs judged", uint64(outputs))
	defer end()
	for k := range outputs {
		o.Output = k + 1
		r, err := cmd.one(ctx, env, o, k, nil)
		if err != nil {
			return fmt.Errorf("output %s: %w", position.At(k+1), err)
		}
		reports = append(reports, r)
		done(1)
	}
	end()
	all = assess.NewSeveral(reports)
	return cmd.deliver(env, out)
}

// training is what the network was trained for, as far as it is said.
func (cmd *fitCmd) training() head.Training {
	if cmd.Training == "auto" {
		return ""
	}
	return head.Training(cmd.Training)
}
