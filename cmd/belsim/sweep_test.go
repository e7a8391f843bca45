package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"belsim/montecarlo/sweep"
	"belsim/theory/base/must"
)

// testPlan takes a fraction of a second, and has cells of every kind: invalid ones, ones
// left out, two decoders, several numbers of levels.
const testPlan = `{
  "codes": ["unary", "johnson-nonzero", "hexj"],
  "decoders": ["auto", "gen-ex"],
  "levels": [15, 20],
  "r": "0.5:8:4:log",
  "sigma": [1, 2, 5],
  "methods": ["bound", "exact", "mc"],
  "samples": 3000,
  "seed": 3
}`

// mergedBytes are what merge makes of a folder: the same bytes however a sweep was cut.
func mergedBytes(t *testing.T, folder string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "m.csv")
	mustRun(t, "merge", folder, "-o", file)
	return content(t, file) + mustRun(t, "merge", folder, "--format=json")
}

// mustSweep computes a plan, or a shard of it.
func mustSweep(t *testing.T, args ...string) string {
	t.Helper()
	return mustRun(t, append([]string{"sweep", "--quiet", "--backend", "cpu"}, words(args)...)...)
}

// resultFile is the one file of results in a folder.
func resultFile(t *testing.T, folder string) string {
	t.Helper()
	paths, err := filepath.Glob(folder + "/*.jsonl")
	if err != nil || len(paths) != 1 {
		t.Fatal(folder, paths, err)
	}
	return paths[0]
}

// TestSweepShards: shards give the bytes of a whole sweep, and a complete one has no work. Package sweep tests
// more of them.
func TestSweepShards(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "plan.json", testPlan)
	if out := mustSweep(t, "plan.json --out whole"); !strings.Contains(out, "complete: whole/") {
		t.Errorf("printed %q", out)
	}
	want := mergedBytes(t, "whole")
	missing := func(args, want string) {
		t.Helper()
		must.Equal(t, args+": missing", want, mustRun(t, "sweep plan.json --print missing --out "+args))
	}
	mustSweep(t, "plan.json --out parts --shard 3/3 --workers 2")
	mustSweep(t, "plan.json --out parts --shard 1/3 --workers 1")
	missing("parts", "2\n")
	refused(t, "cells are missing", "merge", "parts", "-o", "no.csv")
	mustSweep(t, "plan.json --out parts --shard 2/3")
	must.Equal(t, "three shards", want, mergedBytes(t, "parts"))
	missing("parts", "")
	missing("parts --shards 5", "")
	// Complete: no work, and no file is touched.
	then := time.Date(1970, 1, 2, 3, 4, 5, 0, time.UTC)
	file := resultFile(t, "whole")
	must.Succeed(t, os.Chtimes(file, then, then))
	if out := mustSweep(t, "plan.json --out whole"); !strings.Contains(out, "complete") ||
		!must.Get(os.Stat(file))(t).ModTime().Equal(then) {
		t.Errorf("again: %q", out)
	}
}

// TestSweepMergePictures: a sweep of two codes is drawn, and the same cells are heatmap's, also
// where numbers are not evenly spaced.
func TestSweepMergePictures(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "plan.json", `{"codes": ["unary", "johnson"], "decoders": ["gen"], "levels": [8],
		"r": [0.1, 0.2, 0.5], "sigma": "1,2,3,5", "methods": ["exact"]}`)
	mustSweep(t, "plan.json --out uneven")
	mustRun(t, "merge uneven -o uneven.svg -o uneven.png")
	mustRun(t, "heatmap unary johnson --decoder gen --levels 8 --r 0.1,0.2,0.5 --sigma 1,2,3,5 --method exact -o h.svg")
	image := regexp.MustCompile("base64,[^\"]*")
	if merged := image.FindString(content(t, "uneven.svg")); merged == "" ||
		image.FindString(content(t, "h.svg")) != merged {
		t.Error("the cells of an uneven sweep are others than those of heatmap")
	}
}

// TestSweepKilled: SIGKILL at any moment loses nothing that was finished, and what is merged
// in the end is what one run gives. Eight rounds with BELSIM_LONG=1, otherwise two.
func TestSweepKilled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGKILL")
	}
	rounds := 2
	if long {
		rounds = 8
	}
	t.Chdir(t.TempDir())
	write(t, "plan.json", strings.Replace(testPlan, "3000", "2000", 1))
	began := time.Now()
	mustSweep(t, "plan.json --out whole")
	took, want, random := time.Since(began), mergedBytes(t, "whole"), rand.New(rand.NewPCG(1, 2))
	for round := range rounds {
		folder, have := fmt.Sprint("r", round), 0
		for ended := false; !ended; {
			cmd := command(t, "", nil, "sweep", "plan.json", "--out", folder, "--backend", "cpu", "-q")
			must.Succeed(t, cmd.Start())
			kill := time.AfterFunc(time.Duration(random.Float64()*float64(took)), func() { cmd.Process.Kill() })
			ended = cmd.Wait() == nil
			kill.Stop()
			now := 0
			if paths, _ := filepath.Glob(folder + "/*.jsonl"); len(paths) == 1 {
				now = strings.Count(content(t, paths[0]), "\n") - 2
			}
			if now < have || !ended && cmd.ProcessState.Exited() {
				t.Fatalf("%v; %d results where there were %d", cmd.ProcessState, now, have)
			}
			have = now
		}
		must.Equal(t, "merged", want, mergedBytes(t, folder))
	}
}

// TestSweepInterrupted: signals end a sweep within a second or so, with what was finished
// in the file.
func TestSweepInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "plan.json", strings.Replace(testPlan, "3000", "3000000", 1))
	for signal, want := range map[os.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143,
		interruptions[len(interruptions)-1]: 143} {
		folder := strings.ReplaceAll(signal.String(), " ", "-")
		status, _, stderr := signalled(t, signal, "sweep", "plan.json", "--out", folder, "--backend", "cpu", "--quiet")
		if status != want || !strings.Contains(stderr, "belsim: interrupted: ") ||
			!strings.Contains(stderr, " cells are safe in "+folder) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit %d, %q", signal, status, stderr)
		}
		if files := must.Get(os.ReadDir(folder))(t); len(files) != 1 {
			t.Fatalf("%v: left %v", signal, files)
		}
		if n := strings.Count(content(t, resultFile(t, folder)), "\n") - 2; n < 1 ||
			!strings.Contains(stderr, fmt.Sprintf(": %d of ", n)) {
			t.Errorf("%v: %d results in the file, and %q", signal, n, stderr)
		}
	}
}

// TestJobs: what the engines are given.
func TestJobs(t *testing.T) {
	inFolderWithData(t)
	for name, args := range map[string]string{
		"slurm":     "--print slurm",
		"slurm-gpu": "--backend cuda --workers 4 --print slurm",
	} {
		golden(t, "job-"+name+".txt", mustRun(t,
			append([]string{"sweep", "testdata/sweep/plan.json", "--out", "my results", "--shards", "8"},
				strings.Fields(args)...)...))
	}
	if content(t, "testdata/sweep/plan.json") != sweep.ExamplePlan {
		t.Error("testdata/sweep/plan.json is not what --print example prints")
	}
}
