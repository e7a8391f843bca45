package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"belsim/theory/base/must"
)

// TestNoEffect: flags without an effect are noted, and change nothing. All of them with
// BELSIM_LONG=1, otherwise every third.
func TestNoEffect(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "fit.json", `{"format": 3, "levels": 4, "level_width": 1, "r": 0.3, "sigma": 1, "r_interval": [0.2, 0.4], "sigma_interval": [0.5, 2], "temperature": 1, "prior": [0.25, 0.25, 0.25, 0.25]}`)
	write(t, "plan.json", `{"codes": ["unary"], "levels": [4], "r": [0.3], "sigma": [1], "methods": ["bound"]}`)
	mustRun(t, "sweep plan.json --out results")
	const compare, heatmap = "compare unary --levels 4 --backend cpu --samples 20", "heatmap unary johnson --levels 4 --r 0.1:0.3:2 --sigma 1:2:2"
	const optimize = "optimize --levels 4 --bits 3 --steps 5 --samples 20 --backend cpu"
	for i, tt := range []struct{ args, flags, want string }{
		{compare, "--temperature 2", "no decoder here has a temperature"},
		{compare + " --decoder gen", "--temperature 2", "no decoder here has a temperature"},
		{compare + " --decoder gen,gen-ex", "--temperature 2", ""},
		{compare, "--style column", "no -o FILE is a picture"},
		{compare + " -o a.csv", "--style column", "no -o FILE is a picture"},
		{compare + " -o a.png", "--style column", ""},
		{heatmap, "--samples 10 --seed 2 --backend cpu", "--method bound,exact samples nothing"},
		{heatmap + " --method bound", "--samples 10", "--method bound samples nothing"},
		{heatmap + " --method exact", "--samples 10", "--method exact samples nothing"},
		{heatmap + " --method mc --backend cpu", "--samples 10 --seed 2", ""},
		{heatmap + " --model fit.json", "--samples 10", "--method bound,exact samples nothing"},
		{optimize, "--temperature 3", "no decoder here has a temperature"},
		{"sweep --print example", "--out x --shards 3", "--print example needs nothing"},
		{"merge results -o m.csv", "--style column", "no -o FILE is a picture"},
		{"sweep plan.json --out results --print missing", "--workers 1", "--print missing computes nothing"},
	} {
		if i%3 != 0 && !long {
			continue
		}
		before := strings.Fields(tt.args)
		all := append(before, strings.Fields(tt.flags)...)
		status, stdout, stderr := run(t, all...)
		var want string
		for _, f := range strings.Fields(tt.flags) {
			if strings.HasPrefix(f, "--") && tt.want != "" {
				want += "belsim: note: " + f + " has no effect: .*" + regexp.QuoteMeta(tt.want) + ".*\n"
			}
		}
		if status != exitDone || !regexp.MustCompile("^"+want+"$").MatchString(stderr) {
			t.Errorf("belsim %s %s: exit %d, standard error %q; want %q", tt.args, tt.flags, status, stderr, want)
		}
		if tt.want == "" {
			continue
		}
		// Results say their command line, and the temperature.
		said := strings.NewReplacer(strings.Join(all, " "), tt.args, ", τ = 2", "", ", τ = 3", "")
		if _, without, _ := run(t, before...); without != said.Replace(stdout) {
			t.Errorf("belsim %s: %s changed what is printed from %q to %q", tt.args, tt.flags, without, stdout)
		}
		if _, _, quiet := run(t, append(all, "--quiet")...); quiet != "" {
			t.Errorf("belsim %s %s --quiet: standard error %q", tt.args, tt.flags, quiet)
		}
	}
}

// TestNegativeValues: a value that begins with a minus and a digit is a value of every flag, as
// behind an equals sign.
func TestNegativeValues(t *testing.T) {
	parse := func(args ...string) string {
		_, err := newEnvironment(nil, io.Discard, io.Discard).parse(t.Context(), args, func(int) {})
		return fmt.Sprint(err)
	}
	k := must.Get(newEnvironment(nil, io.Discard, io.Discard).parse(t.Context(), []string{"codes"}, func(int) {}))(t)
	types := map[string]bool{}
	for _, cmd := range k.Model.Leaves(false) {
		for _, f := range cmd.Flags {
			kind := f.Target.Type().String()
			if types[kind] || f.IsBool() || kind == "[]int" { // no level, bit or column is negative
				continue
			}
			types[kind] = true
			for _, value := range []string{"-60:60", "-.5", "-1,2", "-1s"} {
				apart, together := parse(cmd.Name, "--"+f.Name, value), parse(cmd.Name, "--"+f.Name+"="+value)
				if apart != together || strings.Contains(apart, "short flag") {
					t.Errorf("%s --%s %s: %s; with an equals sign: %s", cmd.Name, f.Name, value, apart, together)
				}
			}
		}
	}
	if len(types) < 10 {
		t.Errorf("flags of the types %v were found", types)
	}
}
