package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"belsim/montecarlo/assess"
	"belsim/montecarlo/scenario"
)

type decodeCmd struct {
	Decoder     string            `required:"" placeholder:"NAME|FILE" reads:"" help:"Decoder: a FILE.npz that 'belsim fit --fit-decoder -o FILE.npz' wrote, or one of ${uninformed}."`
	Outputs     string            `required:"" placeholder:"[KIND:]FILE" reads:"" help:"Outputs of the classifiers, samples × bits, .csv, .npy or FILE.npz:NAME: logits, probabilities or bits (0 and 1, or ±1), whichever they are; logits:FILE, probabilities:FILE or bits:FILE says so."`
	Code        string            `placeholder:"CODE" reads:"" help:"Code of the outputs, a NAME or a FILE, or softmax, hl-gauss or corn, for a named decoder."`
	Levels      int               `placeholder:"L" help:"Number of quantization levels of a named code (default: the only one that needs as many bits as there are outputs)."`
	Range       assess.LabelRange `placeholder:"a:b|FILE" reads:"" help:"Range of real labels: a is level 1, b the last one; or a FILE with the label of each level (default: that of a fitted decoder, or levels from 1)."`
	Temperature float64           `default:"1" placeholder:"τ" help:"Temperature τ of gen-ex, by which logits are multiplied (default: 1)."`
	Confidence  *float64          `placeholder:"C" help:"Write the interval as well that holds the label with this confidence, such as 0.9, with a FILE.npz as the decoder: the columns label, lower and upper. It holds what it says for samples like those of the fit, which the network was not trained on; after a shift of the data, or with targets of training samples, it does not."`
	Output      []string          `short:"o" required:"" placeholder:"FILE" sep:"none" help:"Write the labels to FILE: .npy (float64, one for each sample; samples × 3 with --confidence) or .csv."`
	workersFlag
	quietFlag
}

// Run implements the command.
func (cmd *decodeCmd) Run(ctx context.Context, env *environment) error {
	out := outputFlags{Output: cmd.Output}
	if len(cmd.Output) > 1 {
		return fmt.Errorf("-o is given %d times; decode writes one file", len(cmd.Output))
	}
	if err := cmp.Or(out.checkFiles(env, "npy", "csv"),
		checkFlags(scenario.CheckTemperature(cmd.Temperature))); err != nil {
		return err
	}
	labels, err := cmd.Range.Read(ctx)
	if err != nil {
		return err
	}
	var bar progressBar
	o := assess.Options{Code: cmd.Code, Levels: cmd.Levels, Outputs: cmd.Outputs, Range: labels,
		Temperature: cmd.Temperature, Confidence: cmd.Confidence, Decoders: env.decoders}
	return bar.interrupted(out.write(env, func(w io.Writer, path string) error {
		return assess.Decode(ctx, o, cmd.Decoder, cmd.Workers, w, format(path), bar.of(env),
			func(text string) { env.note("%s", text) })
	}))
}
