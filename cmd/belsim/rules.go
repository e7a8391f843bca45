package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"belsim/cmd/internal/rules"
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
		{"levels", "--mae --training --model --decoder --prior", "'belsim forecast'"},
		{"compare", "--within", "--cost beyond:θ"},
		{"compare verify optimize", "--rel-err", "--samples"},
		{"sweep", "--flush-every", "not needed: results are written every 10 seconds"},
		{"optimize", "--pareto --keep", "not there: call it once for each number of bits"},
		{"optimize", "--time", "--steps"},
		{"bench", "--time", "not needed: it measures each workload for a second"},
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

// writes reports whether some output file has one of the endings.
func (f outputFlags) writes(endings ...string) bool {
	return slices.ContainsFunc(f.Output, func(path string) bool { return slices.Contains(endings, format(path)) })
}
