//go:build unix

package main

import (
	"math"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"belsim/theory/base/must"
)

// costs are the commands without flags that say how much to compute, and what they take of a
// processor as multiples of fixedWork. go test -v -run TestCost with BELSIM_LONG=1 prints the table
// anew.
var costs = []struct {
	args  string
	ratio float64
}{
	{"codes", 0.05},
	{"compare", 1},
	{"heatmap", 4},
	{"heatmap hexj b1jdj --levels 64 --r 0.1:3:30 --sigma 0.5:5:30 --method exact", 0.35},
	{"optimize --levels 16 --bits 8 --r 0.6 --sigma 1.5", 0.4},
	{"verify", 0.1},
	{"fit --code johnson --levels 64 --range 2.5:4.3 --targets TARGETS --outputs OUTPUTS", 0.5},
}

// fixedWork is a piece of work that never changes, some two seconds of a processor.
func fixedWork() (x float64) {
	for i := range 60_000_000 {
		x = math.Exp(-x) + float64(i&1)
	}
	return x
}

// TestCost: no command has become slow unseen. Machines differ in how fast they compute what, and
// in how busy they are: up to 2.5 times as much is no failure.
func TestCost(t *testing.T) { // not beside others, whose time would count
	if !long {
		t.Skip("takes a minute; BELSIM_LONG=1 runs it")
	}
	user := func() time.Duration {
		var r syscall.Rusage
		must.Succeed(t, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
		return time.Duration(r.Utime.Nano())
	}
	start := user()
	if x := fixedWork(); math.IsNaN(x) {
		t.Error(x)
	}
	unit := (user() - start).Seconds()
	network := filepath.Join(root, "testdata", "network")
	names := strings.NewReplacer("TARGETS", filepath.Join(network, "targets.npy"), "OUTPUTS",
		filepath.Join(network, "logits.npy"))
	for _, c := range costs {
		cmd := command(t, t.TempDir(), nil, strings.Fields(names.Replace(c.args)+" --quiet")...)
		must.Succeed(t, cmd.Run())
		took := cmd.ProcessState.UserTime().Seconds()
		t.Logf("%6.2f s, %5.2f times the fixed work (%5.2f): belsim %s", took, took/unit, c.ratio, c.args)
		if took > 2.5*c.ratio*unit {
			t.Errorf("belsim %s takes %.2f s of a processor, %.1f times as much as it did", c.args, took,
				took/unit/c.ratio)
		}
	}
}
