package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"belsim/cmd/internal/rules"
	"belsim/errmodel/assess"
	"belsim/plots"
)

// checkGiven refuses a command line with empty values, with two uses of standard input or output,
// or with a number of workers that makes no sense.
func (env *environment) checkGiven(k *kong.Context) error {
	err := cmp.Or(rules.CheckValues(k), env.files.CheckStandard())
	if c, ok := k.Selected().Target.Addr().Interface().(interface{ checkWorkers() error }); ok && err == nil {
		err = c.checkWorkers()
	}
	return err
}

// movedFlag says where what a flag did is now, for the flags that commands had and have no more; "" for
// all others.
func movedFlag(command, flag string) string {
	for _, m := range []struct{ commands, flags, place string }{
		{"codes", "--describe", "'belsim codes CODE --format json'"},
		{"codes", "--workers", "not needed: it takes all processors"},
		{"compare verify heatmap", "--mae --label-noise --misfit --cutoff --training", "'belsim forecast'"},
		{"fit", "--samples --seed --backend", "not needed: fit samples nothing"},
		{"levels", "--mae --label-noise --misfit --cutoff --training --model --decoder --prior", "'belsim forecast'"},
		{"optimize", "--rel-err", "--samples"},
		{"optimize", "--mae --label-noise --misfit --cutoff --training", "--model FILE, with the .json of a fit"},
	} {
		if slices.Contains(strings.Fields(m.commands), command) && slices.Contains(strings.Fields(m.flags), flag) {
			return fmt.Sprintf("%s %s is %s", command, flag, m.place)
		}
	}
	return ""
}

// noteUnused notes the flags that had no effect, by the rules of the command, after it ran: heatmap
// takes its method from a fit.
func (env *environment) noteUnused(k *kong.Context) {
	cmd, ok := k.Selected().Target.Addr().Interface().(interface {
		flagRules(env *environment) []rules.Rule
	})
	if !ok {
		return
	}
	for _, note := range rules.Unused(rules.Given(k), cmd.flagRules(env)) {
		env.note("%s", note)
	}
}

// flagRules of output files.
func (f pictureFlags) flagRules() []rules.Rule {
	return rules.NoEffect(!f.draws(), "no -o FILE is a picture", "style")
}

// draws reports whether some output file is a picture.
func (f outputFlags) draws() bool { return f.writes(plots.Formats()...) }

// writes reports whether some output file has one of the endings.
func (f outputFlags) writes(endings ...string) bool {
	return slices.ContainsFunc(f.Output, func(path string) bool { return slices.Contains(endings, format(path)) })
}

// flagRules of what decoders read.
func (f outputsFlags) flagRules(env *environment, decoders ...string) []rules.Rule {
	return rules.NoEffect(!env.decoders.Tempered(decoders...), "no decoder here has a temperature", "temperature")
}

func (cmd *codesCmd) flagRules(*environment) []rules.Rule {
	return cmd.pictureFlags.flagRules()
}

func (cmd *compareCmd) flagRules(env *environment) []rules.Rule {
	return slices.Concat(
		cmd.outputsFlags.flagRules(env, cmd.Decoder...),
		cmd.pictureFlags.flagRules(),
	)
}

func (cmd *verifyCmd) flagRules(env *environment) []rules.Rule {
	return slices.Concat(cmd.outputsFlags.flagRules(env, cmd.Decoder), cmd.pictureFlags.flagRules())
}

func (cmd *heatmapCmd) flagRules(env *environment) []rules.Rule {
	return slices.Concat(
		cmd.outputsFlags.flagRules(env, cmd.Decoder), cmd.pictureFlags.flagRules(),
		rules.NoEffect(!slices.Contains(cmd.Method, "mc"), fmt.Sprintf("--method %s samples nothing",
			strings.Join(cmd.Method, ",")), "samples", "seed",
			"backend"),
	)
}

func (cmd *fitCmd) flagRules(*environment) []rules.Rule {
	return slices.Concat(
		cmd.pictureFlags.flagRules(),
		rules.NoEffect(!cmd.draws() && !cmd.writes("json") && cmd.Format != "json", "no -o FILE is a picture or JSON",
			"bits"),
	)
}

func (cmd *decodeCmd) flagRules(env *environment) []rules.Rule {
	return slices.Concat(
		rules.NoEffect(assess.IsDecoderFile(cmd.Decoder), "the file of a fitted decoder has all of it", "code",
			"levels", "temperature"),
		rules.NoEffect(!assess.IsDecoderFile(cmd.Decoder) && !env.decoders.Tempered(cmd.Decoder),
			"the decoder has no temperature", "temperature"),
	)
}

func (cmd *optimizeCmd) flagRules(env *environment) []rules.Rule {
	return slices.Concat(
		cmd.outputsFlags.flagRules(env, cmd.Decoder), cmd.pictureFlags.flagRules(),
		rules.NoEffect(cmd.networks, "networks are forecast, and nothing is sampled", "samples", "backend"),
	)
}

func (cmd *sweepCmd) flagRules(*environment) []rules.Rule {
	work := []string{"flush-every", "backend", "workers"} // of the computation, or of the job for it
	return slices.Concat(
		rules.NoEffect(cmd.Print == "example", "--print example needs nothing",
			append(work, "out", "shard", "shards")...),
		rules.NoEffect(cmd.Print == "missing", "--print missing computes nothing", work...),
	)
}

func (cmd *mergeCmd) flagRules(*environment) []rules.Rule {
	return cmd.pictureFlags.flagRules()
}
