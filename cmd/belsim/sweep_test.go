package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
  "within": 2,
  "seed": 3
}`

// outputs of merge, which are the same bytes however a sweep was cut.
var mergedFormats = []string{"csv", "json"}

// mergedBytes are what merge makes of a folder, in all formats.
func mergedBytes(t *testing.T, folder string) string {
	t.Helper()
	dir := t.TempDir()
	args := []string{"merge", folder}
	for _, f := range mergedFormats {
		args = append(args, "-o", filepath.Join(dir, "m."+f))
	}
	mustRun(t, args...)
	var all strings.Builder
	for _, f := range mergedFormats {
		all.WriteString(content(t, filepath.Join(dir, "m."+f)))
	}
	return all.String()
}

// mustSweep computes a plan, or a shard of it.
func mustSweep(t *testing.T, args ...string) string {
	t.Helper()
	return mustRun(t, append([]string{"sweep", "--quiet", "--backend", "cpu"}, args...)...)
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
	if out := mustSweep(t, "plan.json", "--out", "whole"); !strings.Contains(out, "complete: whole/") {
		t.Errorf("printed %q", out)
	}
	want := mergedBytes(t, "whole")
	for _, n := range []int{2, 5} {
		folder := fmt.Sprint("of", n)
		for i := n; i >= 1; i-- {
			if i == n/2 {
				continue
			}
			mustSweep(t, "plan.json", "--out", folder, "--shard", fmt.Sprintf("%d/%d", i, n), "--workers",
				fmt.Sprint(1+i%3))
		}
		if got, want := mustRun(t, "sweep", "plan.json", "--out", folder, "--print",
			"missing"), fmt.Sprintln(n/2); got != want {
			t.Errorf("%d shards: missing are %q, want %q", n, got, want)
		}
		refused(t, "cells are missing", "merge", folder, "-o", "no.csv")
		mustSweep(t, "plan.json", "--out", folder, "--shard", fmt.Sprintf("%d/%d", n/2, n))
		if mergedBytes(t, folder) != want {
			t.Errorf("%d shards give other bytes than one", n)
		}
		if got := mustRun(t, "sweep", "plan.json", "--out", folder, "--print", "missing"); got != "" {
			t.Errorf("%d shards: missing are %q", n, got)
		}
	}
	if got := mustRun(t, "sweep", "plan.json", "--out", "of2", "--shards", "5", "--print", "missing"); got != "" {
		t.Errorf("missing of 5: %q", got)
	}
	must.Succeed(t, os.Mkdir("none", 0o777))
	if got := mustRun(t, "sweep", "plan.json", "--out", "none", "--shards", "5", "--print", "missing"); got != "1-5\n" {
		t.Errorf("missing of 5 where there is nothing: %q", got)
	}
	// Complete: no work, and no file is touched, whatever the clock says.
	file := resultFile(t, "whole")
	for _, year := range []int{1970, 2100} {
		then := time.Date(year, 1, 2, 3, 4, 5, 0, time.UTC)
		must.Succeed(t, os.Chtimes(file, then, then))
		if out := mustSweep(t, "plan.json", "--out", "whole"); !strings.Contains(out, "complete") {
			t.Errorf("again: %q", out)
		}
		if info, err := os.Stat(file); err != nil || !info.ModTime().Equal(then) {
			t.Errorf("a complete file of %d was written again: %v", year, err)
		}
	}
	// A file of a partly done shard from another time goes on as well.
	mustSweep(t, "plan.json", "--out", "whole", "--shard", "1/2", "--backend", "cpu")
	if mergedBytes(t, "whole") != want {
		t.Error("cells that are there twice change the result")
	}
}

// TestSweepAgrees: the cells of a sweep are what compare says of them.
func TestSweepAgrees(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "plan.json", strings.NewReplacer("0.5:8:4:log", "0.5:8:2:log", "[15, 20]", "[15]").Replace(testPlan))
	mustSweep(t, "plan.json", "--out", "r")
	var m struct {
		Cells []struct {
			Code, Decoder, Method     string
			Levels                    int
			R, Sigma                  float64
			Valid                     bool
			Mean, StdErr, RMS, Within *float64
			Samples                   uint64
		}
	}
	must.Succeed(t, json.Unmarshal([]byte(mustRun(t, "merge", "r", "--format=json")), &m))
	answers := map[string]*compare.Ranking{} // which answer for all methods at once; nil is a refusal
	invalid, checked := 0, 0
	for _, c := range m.Cells {
		args := fmt.Sprint("compare ", c.Code, " --decoder ", c.Decoder, " --levels ", c.Levels, " --r ", c.R,
			" --sigma ", c.Sigma, " --samples 3000 --within 2 --seed 3 --format=json --backend cpu")
		want, known := answers[args]
		if !known {
			if status, stdout, _ := run(t, strings.Fields(args)...); status == exitDone {
				want = new(compare.Ranking)
				must.Succeed(t, table.ReadJSON([]byte(stdout), want))
			}
			answers[args] = want
		}
		if c.Valid != (want != nil) || c.Valid != (c.Mean != nil) {
			t.Fatalf("%+v, and compare says %+v", c, want)
		}
		if !c.Valid {
			invalid++
			continue
		}
		w := want.Results[0]
		checked++
		switch c.Method {
		case "mc":
			if *c.Mean != w.Mean || *c.StdErr != w.StdErr || *c.RMS != w.RMS || *c.Within != w.Within ||
				c.Samples != 3000*uint64(c.Levels) {
				t.Errorf("%s %s %v %v: %v ± %v, compare has %v ± %v", c.Code, c.Decoder, c.R, c.Sigma, *c.Mean,
					*c.StdErr, w.Mean, w.StdErr)
			}
		case "exact":
			if diff := *c.Mean - w.Exact; diff > 1e-12 || diff < -1e-12 {
				t.Errorf("%s %s: exact %v, compare has %v", c.Code, c.Decoder, *c.Mean, w.Exact)
			}
		case "bound":
			want, least := *c.Mean, 1-1e-12
			if w.AnyLaw != nil && c.Decoder == "gen" { // compare has the smaller one at each level
				want, least = min(want, w.AnyLaw[1]), 0
			}
			if part := w.Bound / want; !(part >= least && part <= 1+1e-12) {
				t.Errorf("%s %s: bound %v, compare has %v", c.Code, c.Decoder, *c.Mean, w.Bound)
			}
		}
	}
	if invalid == 0 || checked < 20 {
		t.Errorf("%d invalid cells, %d valid ones", invalid, checked)
	}
}

// TestSweepModels: relative errors, logits, priors
// and files of codes go through shards like the rest.
func TestSweepModels(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, "codes", "gray", "--levels", "16", "-o", "mine.csv")
	mustRun(t, "codes", "mine.csv", "-o", "same.npy")
	write(t, "prior.csv", "label,count\n1,3\n2,1\n9,4\n")
	for name, plan := range map[string]string{
		"rel_err": `{"codes": ["unary", "hexj"], "levels": [16], "r": [0.5, 1], "sigma": [2], "methods": ["mc"], "rel_err": 0.01, "max_samples": 200000}`,
		"gen-ex":  `{"codes": ["unary"], "decoders": ["gen", "gen-ex"], "levels": [16], "r": [0.5, 40], "sigma": [2], "methods": ["mc"], "samples": 2000, "temperature": 3}`,
		"prior":   `{"codes": ["mine.csv"], "levels": [16], "r": [0.5, 1], "sigma": [2], "methods": ["exact", "mc"], "samples": 2000, "prior": "prior.csv"}`,
	} {
		write(t, name+".json", plan)
		mustSweep(t, name+".json", "--out", name)
		for i := 1; i <= 3; i++ {
			mustSweep(t, name+".json", "--out", name+"3", "--shard", fmt.Sprintf("%d/3", i))
		}
		if got, want := mergedBytes(t, name+"3"), mergedBytes(t, name); got != want {
			t.Errorf("%s: shards give other bytes", name)
		}
	}
	mustRun(t, "merge", "rel_err", "-o", "rel.csv")
	rows := readCSV(t, "rel.csv")
	for _, r := range rows[1:] {
		if mean, stderr := parse(t, r[11]), parse(t, r[12]); (stderr <= 1.1*0.01*mean) != (r[18] == "true") {
			t.Errorf("%v ± %v is said to have reached 1 %%: %s", mean, stderr, r[18])
		}
	}
	// A code is its matrix, whatever the file.
	write(t, "same.json", strings.Replace(`{"codes": ["mine.csv"], "levels": [16], "r": [0.5, 1], "sigma": [2], "methods": ["exact", "mc"], "samples": 2000, "prior": "prior.csv"}`, "mine.csv", "same.npy", 1))
	if out := mustSweep(t, "same.json", "--out", "prior"); !strings.Contains(out, "4 finished before") {
		t.Errorf("one matrix in two files: %s", out)
	}
}

// TestSweepMergePictures: a sweep of two codes is drawn, and the same cells are heatmap's.
func TestSweepMergePictures(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "plan.json", strings.Replace(sweep.ExamplePlan, "10000", "1000", 1))
	mustSweep(t, "plan.json", "--out", "r")
	mustRun(t, "merge", "r", "-o", "r.svg", "-o", "r.png")
	mustRun(t, "heatmap", "--levels", "31", "--r", "0.5:8:6:log", "--sigma", "1:8:6:log", "--method", "exact", "-o",
		"h.csv")
	mustRun(t, "merge", "r", "-o", "m.csv")
	want := readCSV(t, "h.csv")[1:]
	exact := map[string][]string{}
	for _, r := range readCSV(t, "m.csv")[1:] {
		if r[9] == "exact" {
			exact[r[1]] = append(exact[r[1]], r[11])
		}
	}
	for i, r := range want {
		for k, code := range []string{"unary", "johnson-nonzero"} {
			if r[2] != "" && exact[code][i] != r[2+k] {
				t.Errorf("r = %s, σ = %s: %s is %s, heatmap has %s", r[0], r[1], code, exact[code][i], r[2+k])
			}
		}
	}
	write(t, "plan.json", testPlan)
	mustSweep(t, "plan.json", "--out", "many")
	refused(t, "a figure compares two codes", "merge", "many", "-o", "no.png")
	// Numbers that are not evenly spaced, on the axes that heatmap has.
	write(t, "plan.json", `{"codes": ["unary", "johnson"], "decoders": ["gen"], "levels": [8], "r": [0.1, 0.2, 0.5], "sigma": "1,2,3,5", "methods": ["exact"]}`)
	mustSweep(t, "plan.json", "--out", "uneven")
	mustRun(t, "merge", "uneven", "-o", "uneven.svg")
	mustRun(t, "heatmap", "unary", "johnson", "--decoder", "gen", "--levels", "8", "--r", "0.1,0.2,0.5", "--sigma",
		"1,2,3,5", "--method", "exact", "-o", "direct.svg")
	image := regexp.MustCompile("base64,[^\"]*")
	if merged := image.FindString(content(t, "uneven.svg")); merged == "" ||
		image.FindString(content(t, "direct.svg")) != merged {
		t.Error("the cells of an uneven sweep are others than those of heatmap")
	}
}

// TestSweepRefused: a plan or a flag that means nothing ends the command in one line, with exit
// code 2 and no file. What plans are refused for is tested with sweep.ReadPlan.
func TestSweepRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	const good = `{"codes": ["unary"], "levels": [16], "r": [1], "sigma": [2], "methods": ["bound"]}`
	for old, now := range map[string]string{`codes`: `cods`, `unary`: `unarie`} {
		write(t, "plan.json", strings.Replace(good, old, now, 1))
		refused(t, now, "sweep", "plan.json", "--out", "results")
	}
	write(t, "plan.json", good)
	for args, want := range map[string]string{
		"sweep":                                    "want a plan",
		"sweep none.json --out r":                  "none.json",
		"sweep plan.json":                          "want --out",
		"sweep plan.json --out plan.json":          "plan.json",
		"sweep plan.json --out r --shard 3":        "want i/N",
		"sweep plan.json --out r --print slurm":    "want --shards",
		"sweep plan.json --shards 2 --print slurm": "want --out",
		"sweep plan.json --out r --shards 2 --shard 1/2 --print slurm": "want no --shard",
		"sweep plan.json --print example":                              "--print example reads no plan",
		"sweep plan.json --out r --flush-every 0s":                     "--flush-every",
		"sweep plan.json --out r --shards 3":                           "want --shard i/N",
		"merge none":                                                   "none",
		"merge .":                                                      "no result file",
		"sweep plan.json --out . --print missing":                      "want --shards",
		"sweep plan.json --print missing":                              "want --out",
		"sweep plan.json --out r --shards -1 --print missing":          "--shards -1: want 1 or more",
		"sweep plan.json --out . --shard 1/2 --print missing":          "no --shard",
		"merge . -o m.txt":                                             "want a name ending in",
	} {
		refused(t, want, strings.Fields(args)...)
	}
}

// TestSweepLeftOut: what does not fit is left out and said, unless quiet.
func TestSweepLeftOut(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "plan.json", `{"codes": ["unary", "hexj"], "decoders": ["bel-u", "gen-ex"], "levels": [16], "r": [1], "sigma": [2], "methods": ["bound"]}`)
	_, stdout, stderr := run(t, "sweep", "plan.json", "--out", "results", "--backend", "cpu")
	if !strings.Contains(stdout, ": 1 cell;") || !strings.Contains(stderr, "left out: ") ||
		!strings.Contains(stderr, "hexj of 16 levels, which bel-u does not fit") ||
		!strings.Contains(stderr, "unary of 16 levels with gen-ex has no bound value") ||
		strings.Count(stderr, "\n") != 1 {
		t.Errorf("printed %q, said %q", stdout, stderr)
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

// TestSweepFullDisk: a disk that fills up ends a sweep with one line and exit code 3; what
// was written stays whole, and with room again the sweep goes on.
func TestSweepFullDisk(t *testing.T) {
	dir := t.TempDir()
	plan := filepath.Join(dir, "plan.json")
	write(t, plan, testPlan)
	whole := filepath.Join(dir, "whole")
	mustSweep(t, plan, "--out", whole)
	info := must.Get(os.Stat(resultFile(t, whole)))(t)
	// Less than the file takes, however often it is written on the way.
	folder := filepath.Join(dir, "small")
	mount(t, folder, fmt.Sprintf("size=%dk", info.Size()*2/3>>10))
	status, _, stderr := run(t, "sweep", plan, "--out", folder, "--flush-every", "1ms", "--backend", "cpu", "--quiet")
	if status != exitEnvironment || !strings.Contains(stderr, "no space left") || !strings.Contains(stderr, folder) ||
		strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit %d, %q", status, stderr)
	}
	if left, _ := filepath.Glob(folder + "/.*"); len(left) != 0 {
		t.Errorf("left %v", left)
	}
	if before := must.Get(filepath.Glob(folder + "/*.jsonl"))(t); len(before) > 0 {
		mustRun(t, "sweep", plan, "--out", folder, "--print", "missing")
	}
	remount(t, folder, "size=10m")
	mustSweep(t, plan, "--out", folder)
	if mergedBytes(t, folder) != mergedBytes(t, whole) {
		t.Error("other bytes after the disk was full")
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

// TestSweepDamaged: a file that was cut off is refused by both commands in one
// line, and is as it was.
func TestSweepDamaged(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "plan.json", testPlan)
	mustSweep(t, "plan.json", "--out", "r")
	file := resultFile(t, "r")
	good := content(t, file)
	bad := good[:len(good)/2]
	write(t, file, bad)
	for _, args := range [][]string{{"sweep", "plan.json", "--out", "r", "--quiet"}, {"merge", "r", "-o", "m.csv"}} {
		refused(t, file+": is truncated", args...)
	}
	if content(t, file) != bad {
		t.Error("the file was changed")
	}
	write(t, file, good)
	write(t, "other.json", strings.Replace(testPlan, `"seed": 3`, `"seed": 4`, 1))
	for _, args := range [][]string{{"sweep", "other.json", "--out", "r", "--quiet"},
		{"sweep", "other.json", "--out", "r", "--print", "missing"}} {
		refused(t, "is of another plan", args...)
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
