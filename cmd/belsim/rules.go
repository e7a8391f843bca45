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
		{"compare", "--baseline", "'belsim forecast --baseline'"},
		{"compare verify heatmap", "--mae --training", "'belsim forecast'"},
		{"fit", "--samples --seed --backend", "not needed: fit samples nothing"},
		{"fit", "--runs", "--also CODE:OUTPUTS, once for each network"},
		{"levels", "--mae --training --model --decoder --prior", "'belsim forecast'"},
		{"compare", "--within", "--cost beyond:θ"},
		{"compare verify optimize", "--rel-err", "--samples"},
		{"sweep", "--flush-every", "not needed: results are written every 10 seconds"},
		{"optimize", "--pareto --keep", "not there: call it once for each number of bits"},
		{"optimize", "--time", "--steps"},
		{"optimize", "--start --fix", "not there: it begins from the named codes and random ones"},
		{"optimize", "--mae --training", "--model FILE, with the .json of a fit"},
		{"compare verify heatmap levels forecast optimize", "--label-noise --misfit --cutoff",
			"not there: forecast takes --mae, and misfit and cutoff are constants of the model"},
		{"forecast levels", "--circular", "not there: forecasts and spacings are for levels on a line"},
	} {
		if slices.Contains(strings.Fields(m.commands), command) && slices.Contains(strings.Fields(m.flags), flag) {
			return fmt.Sprintf("%s %s is %s", command, flag, m.place)
		}
	}
	return ""
}

// noteUnused notes the flags that had no effect, after the command ran: heatmap takes its method from a
// fit.
func (env *environment) noteUnused(k *kong.Context) {
	for _, note := range rules.Unused(rules.Given(k), env.idle(k.Selected().Target.Addr().Interface())) {
		env.note("%s", note)
	}
}

// idle are the flags that have no effect beside the others.
func (env *environment) idle(cmd any) []rules.Rule {
	untempered := func(decoders ...string) []rules.Rule {
		return rules.NoEffect(!env.decoders.Tempered(decoders...), "no decoder here has a temperature", "temperature")
	}
	var out []rules.Rule
	if c, ok := cmd.(interface{ writes(endings ...string) bool }); ok {
		out = rules.NoEffect(!c.writes(plots.Formats()...), "no -o FILE is a picture", "style")
	}
	switch c := cmd.(type) {
	case *compareCmd:
		return append(out, untempered(c.Decoder...)...)
	case *verifyCmd:
		return append(out, untempered(c.Decoder)...)
	case *heatmapCmd:
		return slices.Concat(out, untempered(c.Decoder), rules.NoEffect(!slices.Contains(c.Method, "mc"),
			fmt.Sprintf("--method %s samples nothing", strings.Join(c.Method, ",")), "samples", "seed", "backend"))
	case *fitCmd:
		return append(out, rules.NoEffect(!c.writes(append(plots.Formats(), "json")...) && c.Format != "json",
			"no -o FILE is a picture or JSON", "bits")...)
	case *decodeCmd:
		if assess.IsDecoderFile(c.Decoder) {
			return rules.NoEffect(true, "the file of a fitted decoder has all of it", "code", "levels", "temperature")
		}
		return untempered(assess.DecoderOf(c.Decoder))
	case *optimizeCmd:
		return slices.Concat(out, untempered(c.Decoder),
			rules.NoEffect(c.networks, "networks are forecast, and nothing is sampled", "samples", "backend"))
	case *sweepCmd:
		work := []string{"backend", "workers"} // of the computation, or of the job for it
		return slices.Concat(
			rules.NoEffect(c.Print == "example", "--print example needs nothing", append(work, "out", "shard", "shards")...),
			rules.NoEffect(c.Print == "missing", "--print missing computes nothing", work...))
	}
	return out
}

// writes reports whether some output file has one of the endings.
func (f outputFlags) writes(endings ...string) bool {
	return slices.ContainsFunc(f.Output, func(path string) bool { return slices.Contains(endings, format(path)) })
}
