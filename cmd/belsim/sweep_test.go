package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"belsim/montecarlo/compare"
	"belsim/montecarlo/sweep"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
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

func TestSweepShards(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "plan.json", testPlan)
	if out := mustSweep(t, "plan.json --out whole"); !strings.Contains(out, "complete: whole/") {
		t.Errorf("printed %q", out)
	}
	want := mergedBytes(t, "whole")
	missing := func(args, want string) {
		t.Helper()
		if got := mustRun(t, "sweep plan.json --print missing --out "+args); got != want {
			t.Errorf("%s: missing are %q, want %q", args, got, want)
		}
	}
	for _, n := range []int{2, 5} {
		folder := fmt.Sprint("of", n)
		shard := func(i int) {
			mustSweep(t, fmt.Sprintf("plan.json --out %s --shard %d/%d --workers %d", folder, i, n, 1+i%3))
		}
		for i := n; i >= 1; i-- {
			if i != n/2 {
				shard(i)
			}
		}
		missing(folder, fmt.Sprintln(n/2))
		refused(t, "cells are missing", "merge", folder, "-o", "no.csv")
		shard(n / 2)
		if mergedBytes(t, folder) != want {
			t.Errorf("%d shards give other bytes than one", n)
		}
		missing(folder, "")
	}
	missing("of2 --shards 5", "")
	must.Succeed(t, os.Mkdir("none", 0o777))
	missing("none --shards 5", "1-5\n")
	// Complete: no work, and no file is touched, whatever the clock says.
	file := resultFile(t, "whole")
	for _, year := range []int{1970, 2100} {
		then := time.Date(year, 1, 2, 3, 4, 5, 0, time.UTC)
		must.Succeed(t, os.Chtimes(file, then, then))
		if out := mustSweep(t, "plan.json --out whole"); !strings.Contains(out, "complete") {
			t.Errorf("again: %q", out)
		}
		if info, err := os.Stat(file); err != nil || !info.ModTime().Equal(then) {
			t.Errorf("a complete file of %d was written again: %v", year, err)
		}
	}
	mustSweep(t, "plan.json --out whole --shard 1/2")
	if mergedBytes(t, "whole") != want {
		t.Error("cells that are there twice change the result")
	}
}

// TestSweepAgrees: the cells of a sweep are what compare says of them.
func TestSweepAgrees(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "plan.json", strings.NewReplacer("0.5:8:4:log", "0.5:8:2:log", "[15, 20]", "[15]").Replace(testPlan))
	mustSweep(t, "plan.json --out r")
	var m struct {
		Cells []struct {
			Code, Decoder, Method string
			Levels                int
			R, Sigma              float64
			Valid                 bool
			Mean, StdErr, RMS     float64
			Samples               uint64
		}
	}
	must.Succeed(t, json.Unmarshal([]byte(mustRun(t, "merge r --format=json")), &m))
	answers := map[string]*compare.Result{} // which are of all methods; nil is a refusal
	invalid, checked := 0, 0
	for _, c := range m.Cells {
		args := fmt.Sprintf("compare %s --decoder %s --levels %d --r %v --sigma %v --samples 3000 --seed 3 "+
			"--format=json --backend cpu", c.Code, c.Decoder, c.Levels, c.R, c.Sigma)
		if _, known := answers[args]; !known {
			answers[args] = nil
			if status, stdout, _ := run(t, args); status == exitDone {
				var found compare.Ranking
				must.Succeed(t, table.ReadJSON([]byte(stdout), &found))
				answers[args] = &found.Results[0]
			}
		}
		w := answers[args]
		if c.Valid != (w != nil) {
			t.Fatalf("%+v, and compare says %+v", c, w)
		}
		if !c.Valid {
			invalid++
			continue
		}
		checked++
		want, slack := w.Mean, 0.0
		switch c.Method {
		case "mc":
			sampled := c
			sampled.StdErr = w.StdErr
			if table.Missing(w.Exact) {
				sampled.RMS = w.RMS // compare's is exact elsewhere
			}
			sampled.Samples = 3000 * uint64(c.Levels)
			must.Equal(t, args, sampled, c)
		case "exact":
			want, slack = w.Exact, 1e-12
		case "bound":
			want, slack = w.Bound, 1e-12
		}
		if !(math.Abs(c.Mean-want) <= slack*want) {
			t.Errorf("%+v, and compare says %+v", c, w)
		}
	}
	if invalid == 0 || checked < 20 {
		t.Errorf("%d invalid cells, %d valid ones", invalid, checked)
	}
}

// TestSweepModels: relative errors, logits, priors and files of codes go through shards like the
// rest, and a code is its matrix, whatever the file.
func TestSweepModels(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, "codes gray --levels 16 -o mine.csv -o same.npy")
	write(t, "prior.csv", "label,count\n1,3\n2,1\n9,4\n")
	prior := `{"codes": ["mine.csv"], "levels": [16], "r": [0.5, 1], "sigma": [2], "methods": ["exact", "mc"],
		"samples": 2000, "prior": "prior.csv"}`
	for name, plan := range map[string]string{
		"rel_err": `{"codes": ["unary", "hexj"], "levels": [16], "r": [0.5, 1], "sigma": [2], "methods": ["mc"],
			"rel_err": 0.01, "max_samples": 200000}`,
		"gen-ex": `{"codes": ["unary"], "decoders": ["gen", "gen-ex"], "levels": [16], "r": [0.5, 40], "sigma": [2],
			"methods": ["mc"], "samples": 2000, "temperature": 3}`,
		"prior": prior,
	} {
		write(t, name+".json", plan)
		mustSweep(t, name+".json --out "+name)
		for i := 1; i <= 3; i++ {
			mustSweep(t, fmt.Sprintf("%s.json --out %s3 --shard %d/3", name, name, i))
		}
		if got, want := mergedBytes(t, name+"3"), mergedBytes(t, name); got != want {
			t.Errorf("%s: shards give other bytes", name)
		}
	}
	mustRun(t, "merge rel_err -o rel.csv")
	for _, r := range readCSV(t, "rel.csv")[1:] {
		if mean, stderr := parse(t, r[11]), parse(t, r[12]); (stderr <= 1.1*0.01*mean) != (r[18] == "true") {
			t.Errorf("%v ± %v is said to have reached 1 %%: %s", mean, stderr, r[18])
		}
	}
	write(t, "same.json", strings.Replace(prior, "mine.csv", "same.npy", 1))
	if out := mustSweep(t, "same.json --out prior"); !strings.Contains(out, "4 finished before") {
		t.Errorf("one matrix in two files: %s", out)
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

// TestMergeKinds: a map of bounds of two kinds says that they are not to be compared.
func TestMergeKinds(t *testing.T) {
	t.Chdir(t.TempDir())
	for codes, warned := range map[string]bool{`"unary", "gray"`: true, `"unary", "johnson"`: false} {
		write(t, "plan.json", `{"codes": [`+codes+`], "levels": [8], "r": [0.1, 0.3], "sigma": [1, 2], "methods": ["bound"]}`)
		mustSweep(t, "plan.json --out "+fmt.Sprint(warned))
		if out := mustRun(t, "merge "+fmt.Sprint(warned)+" -o m.svg"); strings.Contains(out, "do not compare") != warned {
			t.Errorf("%s: %s", codes, out)
		}
	}
}

// start starts belsim in a process of its own, in the folder where the test is.
func start(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := command(t, "", nil, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	must.Succeed(t, cmd.Start())
	return cmd, &errs
}

// TestSweepKilled: SIGKILL at any moment loses nothing that was finished, and what is merged
// in the end is what one run gives. Fifty kills with BELSIM_LONG=1, otherwise six.
func TestSweepKilled(t *testing.T) {
	most := 6
	if long {
		most = 50
	}
	if runtime.GOOS == "windows" {
		t.Skip("no SIGKILL")
	}
	t.Chdir(t.TempDir())
	write(t, "plan.json", strings.Replace(testPlan, "3000", "2000", 1))
	args := func(folder string) []string {
		return []string{"sweep", "plan.json", "--out", folder, "--flush-every", "1ms", "--backend", "cpu", "--quiet"}
	}
	began := time.Now()
	mustRun(t, args("whole")...)
	took := time.Since(began)
	want := mergedBytes(t, "whole")
	random := rand.New(rand.NewPCG(1, 2))
	kills, resumed := 0, 0
	for round := 0; kills < most || resumed == 0; round++ {
		if round > 500 {
			t.Fatalf("%d processes could be killed before they ended, and %d went on from what another had finished",
				kills, resumed)
		}
		folder := fmt.Sprint("r", round)
		have := 0
		for {
			cmd, stderr := start(t, args(folder)...)
			kill := time.AfterFunc(time.Duration(random.Float64()*float64(took)), func() { cmd.Process.Kill() })
			err := cmd.Wait()
			kill.Stop()
			var exit *exec.ExitError
			if err != nil && (!errors.As(err, &exit) || exit.Exited()) {
				t.Fatalf("%v: %s", err, stderr)
			}
			paths, _ := filepath.Glob(folder + "/*.jsonl")
			now := 0
			if len(paths) == 1 {
				text := content(t, paths[0])
				now = strings.Count(text, "\n") - 2
				if status, _, stderr := run(t, "sweep", "plan.json", "--out", folder, "--print",
					"missing"); status != 0 {
					t.Fatalf("after a kill: %s", stderr)
				}
			}
			if now < have {
				t.Fatalf("%d results where there were %d", now, have)
			}
			if have > 0 && now > have {
				resumed++
			}
			have = now
			if err == nil {
				break
			}
			kills++
		}
		if mergedBytes(t, folder) != want {
			t.Fatalf("round %d: other bytes than without a kill", round)
		}
	}
	t.Logf("%d kills, %d of them in files that were partly done", kills, resumed)
}

// TestSweepInterrupted: signals end a sweep within a second or so, with what was finished
// in the file.
func TestSweepInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "plan.json", strings.Replace(testPlan, "3000", "3000000", 1))
	for signal, want := range map[os.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143,
		interruptions[len(interruptions)-1]: 143} {
		folder := strings.ReplaceAll(signal.String(), " ", "-")
		status, _, stderr := signalled(t, signal, "sweep", "plan.json", "--out", folder, "--backend", "cpu",
			"--flush-every", "1h", "--quiet")
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

// mount mounts a small file system of memory on a folder, or skips the test where that cannot be.
func mount(t *testing.T, folder, options string) {
	t.Helper()
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("a file system of one's own needs Linux and root")
	}
	must.Succeed(t, os.Mkdir(folder, 0o777))
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "belsim-test",
		folder).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a file system: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", folder).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
}

// remount changes the options of a file system that mount has mounted.
func remount(t testing.TB, folder, options string) {
	t.Helper()
	if out, err := exec.Command("mount", "-o", "remount,"+options, folder).CombinedOutput(); err != nil {
		t.Fatalf("remount: %v: %s", err, out)
	}
}

// TestSweepReadOnly: a folder that cannot be written to is refused before any work, unless
// there is none to do.
func TestSweepReadOnly(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "fixed")
	mount(t, folder, "size=10m")
	plan := filepath.Join(dir, "plan.json")
	write(t, plan, strings.Replace(testPlan, "3000", "1000000000", 1)) // a day's work
	remount(t, folder, "ro")
	status, _, stderr := run(t, "sweep", plan, "--out", folder, "--backend", "cpu", "--quiet")
	if status != exitEnvironment || !strings.Contains(stderr, "read-only file system") ||
		strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit %d, %q", status, stderr)
	}
	remount(t, folder, "rw")
	write(t, plan, testPlan)
	mustSweep(t, plan, "--out", folder)
	remount(t, folder, "ro")
	if out := mustSweep(t, plan, "--out", folder); !strings.Contains(out, "complete") {
		t.Errorf("a complete sweep in a read-only folder: %q", out)
	}
}

// TestJobs: what the engines are given.
func TestJobs(t *testing.T) {
	inFolderWithData(t)
	for name, args := range map[string]string{
		"slurm":     "--print slurm",
		"slurm-gpu": "--backend cuda --workers 4 --flush-every 1m --print slurm",
	} {
		golden(t, "job-"+name+".txt", mustRun(t,
			append([]string{"sweep", "testdata/sweep/plan.json", "--out", "my results", "--shards", "8"},
				strings.Fields(args)...)...))
	}
	if content(t, "testdata/sweep/plan.json") != sweep.ExamplePlan {
		t.Error("testdata/sweep/plan.json is not what --print example prints")
	}
}
