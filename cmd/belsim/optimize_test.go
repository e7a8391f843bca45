package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"belsim/montecarlo/compare"
	"belsim/montecarlo/search"
	"belsim/theory/base/must"
)

// TestOptimize: the code that is written is the code that is reported: compare finds the
// same error for it, to the last digit, with the same flags. The number of workers changes nothing.
func TestOptimize(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "hist.csv", "label,count\n1,5\n3,1\n20,2\n24,2\n")
	for flags, steps := range map[string]int{ // few where logits are sampled
		"--r 0.6 --sigma 1.5 --decoder gen":                    1500,
		"--r 0.6 --sigma 1.5 --decoder gen-ex --temperature 2": 15,
		"--r 0.8 --sigma 2 --prior hist.csv --decoder gen":     300,
	} {
		var found, other search.Optimized
		args := fmt.Sprintf("optimize --levels 24 --bits 9 --samples 400 --seed 5 -o best.csv -o best.npy -o best.json --steps %d %s", steps, flags)
		text := runJSON(t, &found, args)
		want := found
		want.CodeFile, want.Bits, want.Levels = new("best.csv"), 9, 24
		must.Equal(t, flags, want, found, cmpopts.IgnoreUnexported(search.Estimate{}))
		if content(t, "best.json") != text {
			t.Error("best.json is not what was printed")
		}
		var c compare.Ranking
		runJSON(t, &c, "compare best.csv --samples 400 --seed 5 "+flags)
		if r := c.Results[0]; r.Mean != found.Mean || r.StdErr != found.StdErr ||
			fmt.Sprint(r.Exact) != fmt.Sprint(found.Exact) {
			t.Errorf("%s: compare says %v ± %v, optimize %v ± %v", flags, r.Mean, r.StdErr, found.Mean, found.StdErr)
		}
		if mustRun(t, "codes best.npy") != content(t, "best.csv") {
			t.Errorf("%s: best.npy is another code than best.csv", flags)
		}
		runJSON(t, &other, append(strings.Fields(args), "--workers", "3")...)
		if strings.Join(other.Words, "") != strings.Join(found.Words, "") || other.Mean != found.Mean {
			t.Errorf("%s: another code with 3 workers", flags)
		}
	}
}

// TestOptimizeInterrupt: a signal ends the search, and what was found until then is
// written and reported.
func TestOptimizeInterrupt(t *testing.T) {
	t.Chdir(t.TempDir())
	status, stdout, stderr := signalled(t, syscall.SIGINT, "optimize --levels 24 --bits 14 --r 0.6 --sigma 1.5 --steps 100000000 -o best.csv")
	if status != 130 || !strings.Contains(stderr, "the best code so far was written") ||
		strings.Count(stderr, "\n") != 1 || !strings.Contains(stdout, "written to best.csv") {
		t.Errorf("exit %d, %q, %q", status, stdout, stderr)
	}
	mustRun(t, "compare best.csv gray --levels 24 --samples 1000")
}
