package main

import (
	"context"
	"fmt"
	"io"

	"belsim/errmodel/assess"
)

type decodeCmd struct {
	Decoder     string            `required:"" placeholder:"NAME|FILE" reads:"" help:"A FILE.npz of fit, or one of ${uninformed}, also behind probabilities: or quantiles:0.1,0.9:."`
	Outputs     string            `required:"" placeholder:"[KIND:]FILE" reads:"" help:"${outputs}"`
	Code        string            `placeholder:"CODE" reads:"" help:"Code of the outputs, or softmax, hl-gauss, corn."`
	Levels      int               `placeholder:"L" help:"${bitlevels}"`
	Range       assess.LabelRange `placeholder:"a:b|FILE" reads:"" help:"${range}"`
	Temperature float64           `default:"1" placeholder:"τ" help:"Temperature τ of gen-ex (default: 1)."`
	Confidence  *float64          `placeholder:"C" help:"Write intervals as well, such as of 0.9: label, lower, upper."`
	Output      []string          `short:"o" required:"" placeholder:"FILE" sep:"none" help:"Write the labels to FILE, .npy or .csv."`
	circularFlag
	workersFlag
}

// Run implements the command.
func (cmd *decodeCmd) Run(ctx context.Context, env *environment) error {
	out := outputFlags{Output: cmd.Output}
	if len(cmd.Output) > 1 {
		return fmt.Errorf("-o is given %d times; decode writes one file", len(cmd.Output))
	}
	if assess.IsDecoderFile(cmd.Decoder) && (cmd.Code != "" || cmd.Levels != 0 || cmd.Temperature != 1) {
		return fmt.Errorf("%s has its code, levels and temperature: want no --code, --levels or --temperature", cmd.Decoder)
	}
	if err := out.checkFiles(env, "npy", "csv"); err != nil {
		return err
	}
	o := assess.Options{Code: cmd.Code, Levels: cmd.Levels, Circular: cmd.Circular, Outputs: cmd.Outputs,
		Temperature: cmd.Temperature, Confidence: cmd.Confidence, Decoders: env.decoders}
	var err error
	if o.Range, err = cmd.Range.Read(ctx); err != nil {
		return err
	}
	return out.write(env, func(w io.Writer, path string) error {
		return assess.Decode(ctx, o, cmd.Decoder, cmd.Workers, w, format(path), env.follow,
			func(text string) { env.note("%s", text) })
	})
}
