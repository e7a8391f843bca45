package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"belsim/montecarlo/verdict"
	"belsim/plots/paper"

	"github.com/alecthomas/kong"
)

// flagRule says that flags have no effect, or contradict another one. It holds for those of
// its flags that are on the command line.
type flagRule struct {
	flags  []string // names
	beside string   // the flag that they contradict; "" for flags without an effect
	reason string
}

// noEffect is the rule that flags have no effect. It is nil unless that is so.
func noEffect(so bool, reason string, flags ...string) []flagRule {
	if !so {
		return nil
	}
	return []flagRule{{flags: flags, reason: reason}}
}

// contradicts is the rule that a flag and each of others do the same, so that only one of them
// can be meant.
func contradicts(flag, both string, others ...string) []flagRule {
	return []flagRule{{flags: others, beside: flag, reason: both}}
}

// ruled is implemented by the commands that have rules.
type ruled interface {
	flagRules(env *environment) []flagRule
}

// rules are the rules of the command that was chosen.
func (env *environment) rules(k *kong.Context) []flagRule {
	if cmd, ok := k.Selected().Target.Addr().Interface().(ruled); ok {
		return cmd.flagRules(env)
	}
	return nil
}

// checkGiven refuses a command line with empty values or with flags that contradict each other.
func (env *environment) checkGiven(k *kong.Context) error {
	for _, p := range k.Path {
		var err error
		switch {
		case p.Flag != nil:
			err = checkValue("--"+p.Flag.Name, p.Flag.Value)
		case p.Positional != nil:
			err = checkValue(p.Positional.Name, p.Positional)
		}
		if err != nil {
			return err
		}
	}
	refused := []error{env.checkStandardInput()}
	for _, r := range env.rules(k) {
		for _, name := range r.flags {
			if env.given[name] && env.given[r.beside] {
				refused = append(refused, fmt.Errorf("--%s and --%s both %s; want one of them", r.beside, name, r.reason))
			}
		}
	}
	return errors.Join(refused...)
}

// noteUnused notes the flags that had no effect, after the command ran: heatmap takes its
// method from a fit.
func (env *environment) noteUnused(k *kong.Context) {
	for _, r := range env.rules(k) {
		for _, name := range r.flags {
			if env.given[name] && r.beside == "" && !env.given["quiet"] {
				fmt.Fprintf(env.stderr, "belsim: note: --%s has no effect: %s\n", name, r.reason)
			}
		}
	}
}

// checkValue refuses a value that would be taken for none: an empty text, a list with one, and
// zero where it stands for a flag that is not there.
func checkValue(name string, value *kong.Value) error {
	v := value.Target
	switch v.Kind() {
	case reflect.String:
		if v.Len() == 0 {
			return fmt.Errorf(`%s "": want a value`, name)
		}
	case reflect.Slice:
		if v.Len() == 0 {
			return fmt.Errorf(`%s "": want a value`, name)
		}
		if list, ok := v.Interface().([]string); ok && slices.Contains(list, "") {
			return fmt.Errorf("%s %q: one of its values is empty", name, strings.Join(list, ","))
		}
	case reflect.Int, reflect.Uint64:
		if v.IsZero() && !value.HasDefault {
			return fmt.Errorf("%s 0: want 1 or more", name)
		}
	case reflect.Float64:
		if v.IsZero() && !value.HasDefault {
			return fmt.Errorf("%s 0: want more than zero", name)
		}
	}
	return nil
}

// flagRules of output files and of standard output. printsTable says that the command prints a
// table; others are further flags that name files.
func (f outputFlags) flagRules(printsTable bool, others ...string) []flagRule {
	return slices.Concat(
		contradicts("json", "say how results are printed", "format"),
		noEffect(!printsTable && !f.JSON, "no table is printed", "format"),
		noEffect(!f.writes("png", "svg", "pdf", "tex"), "no -o FILE is a picture", "size", "style"),
		noEffect(!f.writes("svg"), "no -o FILE is an .svg", "svg-text"),
		noEffect(len(f.Output) == 0 && strings.Join(others, "") == "", "there is no -o FILE", "if-exists"),
	)
}

// writes reports whether some output file has one of the endings.
func (f outputFlags) writes(endings ...string) bool {
	return slices.ContainsFunc(f.Output, func(path string) bool { return slices.Contains(endings, format(path)) })
}

// flagRules of what the error model is.
func (f mixtureFlags) flagRules() []flagRule {
	const both = "give error probabilities"
	return slices.Concat(
		f.perceivedFlags.flagRules("r", "sigma", "errors", "model", "transitions"),
		contradicts("model", both, "r", "sigma", "errors", "transitions"),
		contradicts("errors", both, "r", "sigma", "transitions"),
		noEffect(!f.perceived() && f.Model == "", "it is for --label-noise, --mae and --model", "misfit", "cutoff", "training"),
		noEffect(f.Model == "", "it is for --model", "error-model"),
	)
}

// flagRules of the networks that know a perceived label. others also say what the error model is.
func (f perceivedFlags) flagRules(others ...string) []flagRule {
	const both = "say what the networks know"
	var rules []flagRule
	for _, name := range []string{"label-noise", "mae"} {
		rules = slices.Concat(rules,
			contradicts(name, "give the error model", others...),
			contradicts(name, "make the bits err together", "shared-noise"))
	}
	return slices.Concat(rules, contradicts("label-noise", both, "mae"))
}

// flagRules of what decoders read.
func (f outputsFlags) flagRules(env *environment, decoders ...string) []flagRule {
	return noEffect(!env.decoders.Tempered(decoders...), "no decoder here has a temperature", "temperature")
}

// flagRules of how much is sampled. within is the place that shows how many errors are within
// θ, where it is missing.
func (f samplingFlags) flagRules(within string) []flagRule {
	return slices.Concat(
		contradicts("rel-err", "say how much to sample", "samples"),
		noEffect(f.RelErr == 0, "it limits --rel-err, which is missing", "max-samples"),
		noEffect(within != "", within, "within"),
	)
}

func (cmd *codesCmd) flagRules(*environment) []flagRule {
	list := cmd.Code == ""
	return slices.Concat(
		cmd.outputFlags.flagRules(list || cmd.Properties),
		noEffect(list, "the table of all codes has them", "properties"),
		noEffect(!list && cmd.JSON, "JSON has them", "properties"),
		noEffect(!list, "it is for the table of all codes", "descriptions"),
		noEffect(list && cmd.JSON, "JSON has them", "descriptions"),
	)
}

func (cmd *compareCmd) flagRules(env *environment) []flagRule {
	within := ""
	if len(cmd.Decoder) > 1 && !cmd.JSON && !cmd.writes("csv", "json") {
		within = "a table of several decoders does not show it; --json and -o FILE.csv do"
	}
	return slices.Concat(
		cmd.mixtureFlags.flagRules(), cmd.outputsFlags.flagRules(env, cmd.Decoder...),
		cmd.samplingFlags.flagRules(within), cmd.outputFlags.flagRules(true),
		noEffect(cmd.inUnits(), "forecasts with --range are integrals", "samples", "rel-err", "max-samples", "within", "seed", "backend", "least"),
		noEffect(cmd.inUnits(), "labels are real with --range", "labels"),
	)
}

func (cmd *verifyCmd) flagRules(env *environment) []flagRule {
	within := ""
	if !cmd.writes("csv") {
		within = "only -o FILE.csv shows it"
	}
	return slices.Concat(
		contradicts("random", "give error probabilities", "errors", "model", "r", "sigma", "transitions", "label-noise", "mae"),
		cmd.mixtureFlags.flagRules(), cmd.outputsFlags.flagRules(env, cmd.Decoder),
		cmd.samplingFlags.flagRules(within), cmd.outputFlags.flagRules(true),
		noEffect(cmd.JSON, "JSON has all levels", "full"),
	)
}

func (cmd *heatmapCmd) flagRules(env *environment) []flagRule {
	return slices.Concat(
		contradicts("label-noise", "give the error model", "r", "sigma", "transitions"),
		contradicts("label-noise", "make the bits err together", "shared-noise"),
		noEffect(!cmd.perceived(), "it is for --label-noise, and a perceived label of --model", "misfit", "cutoff", "training"),
		noEffect(cmd.Model == "", "it is for --model", "error-model"),
		cmd.outputsFlags.flagRules(env, cmd.Decoder), cmd.outputFlags.flagRules(false),
		noEffect(cmd.Method != "mc", fmt.Sprintf("--method %s samples nothing", cmd.Method), "samples", "seed", "backend"),
	)
}

func (cmd *fitCmd) flagRules(*environment) []flagRule {
	return slices.Concat(
		cmd.outputFlags.flagRules(true),
		noEffect(!cmd.writes("png", "svg", "pdf", "tex"), "no -o FILE is a picture", "bits"),
	)
}

func (cmd *decodeCmd) flagRules(env *environment) []flagRule {
	return slices.Concat(
		noEffect(verdict.IsDecoderFile(cmd.Decoder), "the file of a fitted decoder has all of it", "code", "levels", "temperature", "signs"),
		noEffect(!verdict.IsDecoderFile(cmd.Decoder) && !env.decoders.Tempered(cmd.Decoder), "the decoder has no temperature", "temperature"),
	)
}

func (cmd *optimizeCmd) flagRules(env *environment) []flagRule {
	return slices.Concat(
		contradicts("time", "say how long to search", "steps"),
		cmd.mixtureFlags.flagRules(), cmd.outputsFlags.flagRules(env, cmd.Decoder),
		cmd.samplingFlags.flagRules("no result of optimize shows it"), cmd.outputFlags.flagRules(true, cmd.Keep),
	)
}

func (cmd *benchCmd) flagRules(*environment) []flagRule { return cmd.outputFlags.flagRules(true) }

func (cmd *figuresCmd) flagRules(*environment) []flagRule {
	chosen, err := cmd.chosen()
	if err != nil {
		return nil // Run refuses it
	}
	drawsRates := func(f paper.Figure) bool { return slices.Contains([]string{"3a", "3b", "11"}, f.Name) }
	return noEffect(!slices.ContainsFunc(chosen, drawsRates), "--only has none of 3a, 3b and 11", "rates")
}

func (cmd *sweepCmd) flagRules(*environment) []flagRule {
	work := []string{"flush-every", "backend", "workers"} // of the computation, or of the job for it
	switch {
	case cmd.Init:
		return noEffect(true, "--init prints an example of a plan, and ends",
			append(work, "out", "shard", "shards", "list", "print", "gpu", "image")...)
	case cmd.Print != "":
		return noEffect(cmd.Print != "kubernetes", "it is for --print kubernetes", "image")
	}
	return slices.Concat(
		noEffect(cmd.List, "--list prints the cells, and ends", append(work, "out")...),
		noEffect(true, "it is for --print; --backend cuda samples on a GPU", "gpu"),
		noEffect(true, "it is for --print kubernetes", "image"),
	)
}

func (cmd *mergeCmd) flagRules(*environment) []flagRule {
	if cmd.ListMissing {
		return slices.Concat(
			contradicts("list-missing", "say what the result is", "output", "json"),
			noEffect(true, "--list-missing prints shards, and ends", "method", "pair", "size", "style", "svg-text", "if-exists", "format"),
		)
	}
	return slices.Concat(
		cmd.outputFlags.flagRules(false),
		noEffect(!cmd.writes("png", "svg", "pdf"), "no -o FILE is a picture", "method", "pair"),
	)
}
