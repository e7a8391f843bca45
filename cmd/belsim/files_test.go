package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"belsim/montecarlo/sweep"
	"belsim/theory/base/must"
)

const smallPlan = `{"codes": ["unary"], "levels": [8], "r": "1:2:3", "sigma": "1:2:2", "methods": ["exact"]}`

// inFolderWithInputs changes to a new folder with a file of each kind that a command reads.
func inFolderWithInputs(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	mustRun(t, "codes gray --levels 16 -o code.csv -o code.npy")
	write(t, "errors.csv", strings.Repeat("0.1,0.1,0.1,0.1\n", 16))
	prior := "label,count\n"
	for i := range 16 {
		prior += fmt.Sprintf("%d,%d\n", i+1, 1+i%3)
	}
	write(t, "prior.csv", prior)
	var y, z strings.Builder
	for n := range 320 {
		level := n % 16
		fmt.Fprintln(&y, level+1)
		word := level ^ level>>1
		if n%7 == 0 {
			word ^= 1 << (n % 4)
		}
		fmt.Fprintf(&z, "%d,%d,%d,%d\n", word>>3&1, word>>2&1, word>>1&1, word&1)
	}
	write(t, "y.csv", y.String())
	write(t, "z.csv", z.String())
	mustRun(t, "fit -q --code code.csv --targets y.csv --outputs bits:z.csv -o fit.json")
	write(t, "plan.json", smallPlan)
	mustRun(t, "sweep -q plan.json --out results")
}

// TestFullStandardOutput: a command whose output is lost has failed, whatever prints it.
func TestFullStandardOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("no /dev/full here: %v", err)
	}
	defer full.Close()
	inFolderWithInputs(t)
	commands := []string{
		"", "--help", "--version", "compare --help", "completion bash", "completion -c bash", "codes",
		"codes --format json", "codes unary --levels 8", "compare unary --levels 8 --samples 100",
		"verify --levels 8 --samples 100", "heatmap --levels 8 --r 1:2:2 --sigma 1:2:2",
		"fit --code code.csv --targets y.csv --outputs z.csv",
		"optimize --levels 8 --bits 4 --steps 10", "merge results",
		"merge results -o m.csv", "figures --only 2a -o figures", "sweep --print example",
		"sweep plan.json --out results", "sweep --print slurm",
	}
	for _, args := range commands {
		var stderr bytes.Buffer
		status := belsim(append(strings.Fields(args), quiet(args)...), full, &stderr)
		if status != 3 || stderr.String() != "belsim: writing to standard output: no space left on device\n" {
			t.Errorf("belsim %s > /dev/full: exit %d, %q; want exit 3", args, status, stderr.String())
		}
	}
}

// TestClosedStandardOutput: a closed standard output is the null device, which the runtime of Go puts
// in its place; supervisors open it in the same way, for reading, too.
func TestClosedStandardOutput(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no shell")
	}
	t.Parallel()
	for _, args := range []string{"codes >&-", "codes 1<>/dev/null", "codes --format json >&-",
		"codes unary --levels 8 -o a.csv >&-", "--version >&-", "figures --only 2a -q >&-", "codes >/dev/null",
		"codes >>/dev/null", "codes <&- >/dev/null", "codes unary --levels 8 1<>/dev/null 2>&1 <&1"} {
		var stderr bytes.Buffer
		cmd := command(t, t.TempDir(), []string{"sh", "-c", `exec "$0" ` + args})
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil || stderr.Len() > 0 {
			t.Errorf("belsim %s: %v, %q", args, err, stderr.String())
		}
	}
}

// quiet is the flag of commands that have notes.
func quiet(args string) []string {
	for _, command := range []string{"compare --help", "completion", "--", "merge", "sweep --print example"} {
		if args == "" || strings.HasPrefix(args, command) {
			return nil
		}
	}
	return []string{"-q"}
}

// TestClosedPipe: a reader that has seen enough ends the command by SIGPIPE, which a shell
// calls 141.
func TestClosedPipe(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	must.Succeed(t, err)
	r.Close()
	defer w.Close()
	cmd := command(t, "", nil, "codes", "unary", "--levels", "64")
	cmd.Stdout = w
	cmd.Run()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() ||
		status.Signal() != syscall.SIGPIPE {
		t.Errorf("%v; want the signal SIGPIPE", cmd.ProcessState)
	}
}

// TestInputsKeptEverywhere: no command writes over what any of its flags reads, under whatever
// name: a path, standard input, or a part of a text. Nor does it print into it.
func TestInputsKeptEverywhere(t *testing.T) {
	inFolderWithInputs(t)
	const table = "a table that no command comes to read\n"
	write(t, "in.csv", table)
	must.Succeed(t, errors.Join(os.Link("in.csv", "hard.csv"), os.Symlink("in.csv", "soft.csv")))
	input := must.Get(os.OpenFile("in.csv", os.O_RDWR, 0))(t)
	defer input.Close()
	stdin := os.Stdin
	os.Stdin = input
	defer func() { os.Stdin = stdin }()
	required := map[string]string{"decode": "--decoder gen --outputs z.csv",
		"fit": "--code gray --targets y.csv --outputs z.csv", "optimize": "--bits 4"}
	refused := func(stdout io.Writer, args ...string) bool {
		t.Helper()
		var stderr bytes.Buffer
		if status := belsim(args, stdout, &stderr); status != exitUsage || content(t, "in.csv") != table {
			t.Fatalf("%q: exit %d, %q; want exit 2, and the input as it was", args, status, stderr.String())
		}
		return strings.Contains(stderr.String(), "reads this file")
	}
	k := must.Get(newEnvironment(nil, io.Discard, io.Discard).parse(t.Context(), []string{"codes"}, func(int) {}))(t)
	tried := 0
	for _, cmd := range k.Model.Leaves(false) {
		values, writes := slices.Clone(cmd.Positional), false
		for _, f := range cmd.Flags {
			values, writes = append(values, f.Value), writes || f.Name == "output"
		}
		for _, v := range values {
			if !v.Tag.Has("reads") {
				continue
			}
			kept := 0
			for i, text := range []string{"-", "./hard.csv", "gray:logits:soft.csv", "in.csv:y.csv"} {
				args := []string{cmd.Name}
				for words := strings.Fields(required[cmd.Name]); len(words) > 0; words = words[2:] {
					if words[0] != "--"+v.Name {
						args = append(args, words[:2]...)
					}
				}
				if v.Flag != nil {
					text = "--" + v.Name + "=" + text
				}
				args = append(args, text)
				if writes && refused(io.Discard, append(args, "-o", "in.csv")...) {
					kept++
				}
				if i > 0 {
					continue
				}
				if tried++; writes {
					args = append(args, "-o", "new.csv")
				}
				if !refused(input, args...) {
					t.Errorf("%q prints into its input", args)
				}
			}
			if writes && kept < 2 {
				t.Errorf("%s %s: %d of 4 names of an input were known", cmd.Name, v.Summary(), kept)
			}
		}
	}
	if tried < 30 {
		t.Errorf("%d flags that read were found", tried)
	}
}

// TestTerminal: no command prints what a terminal obeys in the names of files; results have them as
// they are.
func TestTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	const name = "\x1b[2J\u202eσ\u0085\x7f.csv"
	mustRun(t, "codes", "unary", "--levels", "4", "-o", name)
	write(t, "e"+name, strings.Repeat("0.1,0.1,0.1\n", 4))
	for _, args := range []string{
		"verify --samples 200 --code FILE",
		"heatmap FILE unary --levels 4 --r 1:2:2 --sigma 1:2:2 -o map.csv", "compare FILE unary --samples 200",
		"compare unary --levels 4 --samples 200 --errors eFILE", "compare FILE --samples 200 --model eFILE",
		"codes no-FILE", "fit --code FILE --targets eFILE --outputs eFILE --range 0:1",
	} {
		list := strings.Fields(args)
		for i := range list {
			list[i] = strings.Replace(list[i], "FILE", name, 1)
		}
		status, stdout, stderr := run(t, list...)
		text := stdout + stderr
		if text == "" || !strings.Contains(text, `\u202eσ`) && !strings.HasPrefix(args, "heatmap") ||
			strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' || r == '\u202e' }) {
			t.Errorf("%s: exit %d, %q", args, status, text)
		}
	}
	prints(t, `"\u001b[2J`+name[4:len(name)-5], "compare", name, "--samples", "200", "--format", "json")
	refused(t, "no such names", "codes", "a\nb.csv")
}

// TestInterruptSays: after a signal the command says which files it has written.
func TestInterruptSays(t *testing.T) {
	t.Chdir(t.TempDir())
	go func() {
		for range 60_000 { // a slow machine takes seconds
			if _, err := os.Stat("figs/figure-2a.png"); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		signalSelf(t, syscall.SIGINT)
	}()
	status, _, stderr := run(t, "figures --only 2a,3c-exact,10 -o figs -q")
	const want = "1 of 3 (33 %) figures were finished, " +
		"written: figs/figure-2a.csv, figs/figure-2a.pdf, figs/figure-2a.svg, figs/figure-2a.png\n"
	if status != 130 || !strings.HasSuffix(stderr, want) {
		t.Errorf("exit %d, %q; want %q", status, stderr, want)
	}
}

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

// TestPrinted: what sweep prints is what files have, and bash reads its script.
func TestPrinted(t *testing.T) {
	inFolderWithData(t)
	check := exec.Command("bash", "-n")
	check.Stdin = strings.NewReader(mustRun(t, "sweep", "--print", "slurm"))
	if out, err := check.CombinedOutput(); err != nil && !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("bash: %v: %s", err, out)
	}
	if content(t, "testdata/sweep/plan.json") != sweep.ExamplePlan {
		t.Error("testdata/sweep/plan.json is not what --print example prints")
	}
}
