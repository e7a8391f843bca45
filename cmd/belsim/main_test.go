package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"belsim/montecarlo/compare"
	"belsim/montecarlo/search"
	"belsim/montecarlo/verify"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/expect"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// noDevice starts the note that a CUDA device which fails is given up. bench gives it where there
// is none, too.
const noDevice = "belsim: note: sampling on the CPU: "

// words are the arguments of a command line. One text is a command line with spaces between them.
func words(args []string) []string {
	if len(args) == 1 {
		return strings.Fields(args[0])
	}
	return args
}

// run runs a command line. The note that a device has failed is left out: how it
// is is the machine's affair, and TestBackends'.
func run(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	return watched(t, func(*progress) {}, args...)
}

// watched runs a command line, and shows every progress that begins.
func watched(t *testing.T, watch func(*progress), args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	env := newEnvironment(words(args), &out, &err)
	env.moment = time.Millisecond
	env.watch, env.grace = watch, time.Minute // a command that ends the process would end the tests
	status = env.belsim()
	for line := range strings.Lines(err.String()) {
		if !strings.HasPrefix(line, noDevice) {
			stderr += line
		}
	}
	return status, out.String(), stderr
}

// signalled runs a command line, and sends this process a signal once the command has told its
// first progress: a fixed time would be too early on some machines and too late on others.
func signalled(t *testing.T, signal os.Signal, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	ended := make(chan struct{})
	defer close(ended)
	var once sync.Once
	return watched(t, func(p *progress) {
		if p.total == 0 {
			return // it counts nothing
		}
		go once.Do(func() {
			for p.finished.Load() == 0 && p.said() == "" {
				select {
				case <-ended:
					return
				case <-time.After(time.Millisecond):
				}
			}
			signalSelf(t, signal)
		})
	}, args...)
}

// signalSelf sends this process a signal.
func signalSelf(t *testing.T, signal os.Signal) {
	self, err := os.FindProcess(os.Getpid())
	must.Succeed(t, errors.Join(err, self.Signal(signal)))
}

// mustRun runs a command line that succeeds without a word on standard error.
func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	status, stdout, stderr := run(t, args...)
	if status != 0 || stderr != "" {
		t.Fatalf("belsim %s: exit %d, standard error %q", strings.Join(args, " "), status, stderr)
	}
	return stdout
}

// prints expects a text in what a command line that succeeds prints.
func prints(t *testing.T, want string, args ...string) {
	t.Helper()
	if got := mustRun(t, args...); !strings.Contains(got, want) {
		t.Errorf("belsim %q prints\n%s\nwant %q in it", args, got, want)
	}
}

// sourceDir is the folder of this package: tests change to others. root is that of the repository.
var (
	sourceDir, _ = os.Getwd()
	root         = filepath.Join(sourceDir, "../..")
)

// runJSON runs a command line that prints JSON, and reads it into v, which has all fields.
func runJSON(t *testing.T, v any, args ...string) (text string) {
	t.Helper()
	text = mustRun(t, append(words(args), "--format=json")...)
	if err := table.ReadJSON([]byte(text), v); err != nil {
		t.Fatalf("belsim %s: %v in %s", strings.Join(args, " "), err, text)
	}
	return text
}

// content is what is in a file.
func content(t *testing.T, path string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(path))(t))
}

// readJSON reads a file of JSON into v.
func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	if err := table.ReadJSON([]byte(content(t, path)), v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join(sourceDir, "testdata", name)
	if *update {
		write(t, path, got)
		return
	}
	must.Equal(t, name+" (go test ./cmd/belsim -update accepts it)", content(t, path), got)
}

var commands = []string{"codes", "compare", "heatmap", "verify", "fit", "decode", "optimize", "explore",
	"figures", "bench", "sweep", "merge"}

func TestHelp(t *testing.T) {
	golden(t, "help.txt", mustRun(t, "--help"))
	if got := mustRun(t); got != mustRun(t, "--help") {
		t.Error("no arguments give another help than --help")
	}
	for _, c := range commands {
		golden(t, "help-"+c+".txt", mustRun(t, c, "--help"))
	}
	if got := mustRun(t, "--version"); !strings.HasPrefix(got, "belsim ") {
		t.Errorf("version %q", got)
	}
	defer func() { release = "" }()
	release = "1.2.0"
	if got := mustRun(t, "--version"); !strings.HasPrefix(got, "belsim 1.2.0") {
		t.Errorf("version %q", got)
	}
}

// TestHelpExamples runs the examples of every command's help that no document shows word for word,
// where TestReadme runs them.
func TestHelpExamples(t *testing.T) {
	if !long {
		t.Skip("takes long; BELSIM_LONG=1 runs it")
	}
	shown := map[string]bool{}
	for _, d := range findDocuments(t) {
		for _, x := range findExamples(d.lines(t)) {
			shown[x.command] = true
		}
	}
	inFolderWithData(t)
	for _, c := range commands {
		examples := 0
		for line := range strings.Lines(mustRun(t, c, "--help")) {
			line = strings.TrimSpace(line)
			if !strings.HasPrefix(line, "belsim "+c+" ") {
				continue
			}
			if examples++; !shown[line] && c != "explore" { // which waits
				if status, _, stderr := run(t, strings.Fields(line)[1:]...); status != 0 {
					t.Errorf("%s: exit %d, %s", line, status, stderr)
				}
			}
		}
		if examples == 0 {
			t.Errorf("help of %s shows no example", c)
		}
	}
}

// folderWithData is an empty folder but for the repository's testdata.
func folderWithData(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must.Succeed(t, os.Symlink(filepath.Join(root, "testdata"), filepath.Join(dir, "testdata")))
	return dir
}

// inFolderWithData changes to an empty folder but for the repository's testdata.
func inFolderWithData(t *testing.T) {
	t.Helper()
	t.Chdir(folderWithData(t))
}

// TestVerify: the files have what is printed, where nothing is checked nothing passes, and the
// number of workers changes nothing. testdata/transcripts/verify.txt has what is printed.
func TestVerify(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, "verify --levels 31 --samples 99 -o v.svg -o v.pdf -o v.csv")
	if rows := readCSV(t, "v.csv"); len(rows) != 32 {
		t.Errorf("%d rows in the CSV", len(rows))
	}
	var v verify.Report
	one := runJSON(t, &v, "verify --levels 31 -o v.json --workers 1")
	if v.Pass == nil || !*v.Pass || len(v.Labels) != 31 || v.Labels[30].Level != 31 || !(v.Overall.StdErr > 0) ||
		v.Overall.Bound < v.Overall.Exact {
		t.Errorf("JSON %s", one)
	}
	if content(t, "v.json") != one {
		t.Error("v.json differs from standard output")
	}
	seven := runJSON(t, &v, "verify --levels 31 -o v.json --workers 7")
	if strings.Replace(seven, "--workers 7", "--workers 1", 1) != one {
		t.Error("seven workers print other numbers than one")
	}
	if runJSON(t, &v, "verify --levels 31 --seed 2"); v.Seed != 2 {
		t.Errorf("--seed 2 gives the seed %d", v.Seed)
	}
	mustRun(t, "verify --code unary --levels 8 --r 1e-8 --sigma 0.3 --samples 100") // whose law is one less small errors
	v.Pass = new(bool)
	if runJSON(t, &v, "verify --levels 15 --decoder gen-ex --samples 1000"); v.Pass != nil {
		t.Errorf("gen-ex: pass is %v; want null", v.Pass)
	}
}

// TestVerifyFails: verify finds a theory that is wrong at one level, says where, and exits with
// 1; files are written all the same.
func TestVerifyFails(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, disturb := range map[string]func([]expect.Level){
		"exact value": func(th []expect.Level) { th[3].Mean *= 1.2 },
		"bound":       func(th []expect.Level) { th[3].Bound = 0.9 * th[3].Mean },
	} {
		var out, errs bytes.Buffer
		args := "verify --code johnson-nonzero --levels 15 --r 1.5 --sigma 2 --backend cpu -o v.json"
		env := newEnvironment(strings.Fields(args), &out, &errs)
		env.disturb = disturb
		if status := env.belsim(); status != exitFailed || errs.Len() > 0 {
			t.Errorf("a wrong %s: exit %d, %q; want 1", name, status, errs.String())
		}
		if text := out.String(); !strings.Contains(text, "FAIL level 4: sampled mean") ||
			!strings.Contains(text, name) || strings.Contains(text, "PASS") {
			t.Errorf("a wrong %s: printed %s", name, text)
		}
		var v verify.Report
		readJSON(t, "v.json", &v)
		must.Equal(t, "a wrong "+name+" passes", new(false), v.Pass)
		if len(v.Failures) == 0 {
			t.Errorf("a wrong %s: no failure in the JSON", name)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, "codes gray --levels 32 -o mine.npy")
	var c compare.Ranking
	out := runJSON(t, &c, "compare unary mine.npy hadamard hexj --r 0.6 --sigma 1.5 --samples 5000 "+
		"-o c.csv -o c.png -o c.svg -o c.pdf -o c.json")
	if c.Levels != 32 || *c.R != 0.6 || *c.Sigma != 1.5 || c.Seed != 1 || len(c.Results) != 4 || content(t, "c.json") != out {
		t.Errorf("JSON %s", out)
	}
	for _, r := range c.Results {
		if math.IsNaN(r.Exact) != (r.Code == "hadamard") || math.IsNaN(r.Mean) || r.Samples != 32*5000 {
			t.Errorf("%s: exact %v, sampled %v, %d samples; want %d", r.Code, r.Exact, r.Mean, r.Samples, 32*5000)
		}
	}
	if rows := readCSV(t, "c.csv"); len(rows) != 5 || rows[0][1] != "code" {
		t.Errorf("CSV %v", rows)
	}
	// A prior that has only level 5 gives that level's error.
	write(t, "prior.csv", "label,count\n1,0\n5,9\n32,0\n")
	runJSON(t, &c, "compare unary --decoder bel-u --prior prior.csv --samples 1000")
	var v verify.Report
	runJSON(t, &v, "verify --code unary --levels 32 --samples 1000")
	must.Equal(t, "prior on level 5", v.Labels[4].Exact, c.Results[0].Exact)
	runJSON(t, &c, "compare --levels 16 --samples 100")
	must.Equal(t, "rows of all codes", len(code.Families()), len(c.Results))
}

// TestHeatmap: files of maps. Which values are right, package heatmap tests.
func TestHeatmap(t *testing.T) {
	t.Chdir(t.TempDir())
	args := "heatmap --levels 31 --r 0.5:8:6 --sigma 0.5:4:5:log"
	prints(t, "6 × 5 cells", args+" -o h.csv")
	rows := readCSV(t, "h.csv")
	blank := 0
	for _, row := range rows[1:] {
		if row[2] == "" {
			blank++
			must.Equal(t, "a blank cell", slices.Repeat([]string{""}, 6), row[2:])
			continue
		}
		a, b, increase := parse(t, row[5]), parse(t, row[6]), parse(t, row[7])
		must.Within(t, "increase", increase, 100*(a-b)/b-1e-9, 100*(a-b)/b+1e-9)
	}
	if blank == 0 || blank == 30 || len(rows) != 31 {
		t.Errorf("%d blank cells of %d", blank, len(rows)-1)
	}
	mustRun(t, args+" --workers 5 -o h.csv -o h.png -o h.svg -o h.pdf -o h.json -o h.npy")
	must.Equal(t, "five workers", rows, readCSV(t, "h.csv"))
	mustRun(t, args+" --method mc,exact --samples 20 -o several.csv")
	const of = "r,sigma,bound_a,bound_b,bound_increase_percent,exact_a,exact_b,exact_increase_percent"
	must.Equal(t, "header", of, strings.Join(rows[0], ","))
	must.Equal(t, "header of two methods", "r,sigma,exact_a,exact_b,exact_increase_percent,mc_a,mc_b,mc_increase_percent,"+
		"mc_a_stderr,mc_b_stderr,mc_increase_stderr", strings.Join(readCSV(t, "several.csv")[0], ","))
}

// refusal runs a command line that is bad input: its end is one line on standard error, which is
// returned, exit code 2, and the files that were there before.
func refusal(t *testing.T, args ...string) string {
	t.Helper()
	before := listing(t)
	status, stdout, stderr := run(t, args...)
	if status != exitUsage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "\n") {
		t.Errorf("belsim %q: exit %d, standard output %q, standard error %q; want exit 2 and one line", args, status,
			stdout, stderr)
	}
	must.Equal(t, fmt.Sprintf("files after belsim %q", args), before, listing(t))
	return stderr
}

// refused expects a text in the line in which bad input ends.
func refused(t *testing.T, want string, args ...string) {
	t.Helper()
	if got := refusal(t, args...); !strings.Contains(got, want) {
		t.Errorf("belsim %q: %q; want %q in it", args, got, want)
	}
}

// TestBadInput: what is malformed, empty, contradictory or impossible is refused, as
// testdata/refusals.txt says. What packages refuse, their own tests have; here it is what a command
// adds, and that it hands on what it is told.
func TestBadInput(t *testing.T) {
	inFolderWithData(t)
	const head = "-- commands --\n"
	files, commands, _ := strings.Cut(content(t, filepath.Join(sourceDir, "testdata/refusals.txt")), head)
	for _, file := range strings.Split(files, "\n-- ")[1:] {
		name, text, _ := strings.Cut(file, " --\n")
		write(t, name, text+"\n")
	}
	write(t, "empty.csv", "")
	must.Succeed(t, os.Mkdir("folder.png", 0o755))
	decoder := content(t, "testdata/decoders/decoder.npz")
	write(t, "decoder.npz", decoder)
	write(t, "cut.npz", decoder[:len(decoder)/2])
	_, _, network := smallNetwork(t)
	for _, name := range []string{"again.npy", "third.npy"} {
		write(t, name, content(t, "z.npy"))
	}
	mustRun(t, append(network, "-o", "fit.json")...)
	write(t, "broken.json", strings.Replace(content(t, "fit.json"), `"levels": 16`, `"levels": 15`, 1))
	network[slices.Index(network, "--range")+1] = "v.csv"
	mustRun(t, append(network, "--fit-decoder", "-o", "uneven.json", "-o", "uneven.npz")...)
	got := files + head
	for line := range strings.Lines(commands) {
		if command, ok := strings.CutPrefix(line, "$ belsim "); ok {
			// an empty value is no way to leave a flag out
			words := strings.Split(strings.ReplaceAll(strings.TrimSuffix(command, "\n"), `""`, ""), " ")
			refused := refusal(t, words...)
			got += line + refused
			fromZero(t, refused, words)
		} else if !strings.HasPrefix(line, "belsim: ") {
			got += line
		}
	}
	golden(t, "refusals.txt", got)
}

// fromZero checks that a refusal counts rows, columns, levels, bits and outputs from 0 where a caller
// of the command does.
func fromZero(t *testing.T, refused string, words []string) {
	t.Helper()
	at := regexp.MustCompile(` (rows?|columns?|levels?|bits?|outputs?) [0-9]+(( to | and |, )[0-9]+)*\b`)
	if !at.MatchString(refused) || strings.Contains(refused, ": line ") { // lines of texts count from 1
		return
	}
	t.Setenv(callerVariable, "0")
	defer os.Unsetenv(callerVariable)
	got := refusal(t, words...)
	shifted := regexp.MustCompile(`[0-9]+`)
	for i, want := range at.FindAllString(refused, -1) {
		want = shifted.ReplaceAllStringFunc(want, func(n string) string {
			k, _ := strconv.Atoi(n)
			return strconv.Itoa(k - 1)
		})
		if all := at.FindAllString(got, -1); i >= len(all) || all[i] != want {
			t.Errorf("%v: %q from 0 is %q; want %q in it", words, refused, got, want)
		}
	}
}

// TestInterrupt: a signal ends a long computation within a second, with its exit
// code, a line about what was finished, and no file.
func TestInterrupt(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, tt := range []struct {
		signal syscall.Signal
		args   string
		want   string
		status int
	}{
		{syscall.SIGINT, "verify --samples 1000000000 --levels 255 -o v.png",
			"samples were finished, nothing was written", 130},
		{syscall.SIGTERM, "compare unary hadamard --levels 32 --samples 1000000000", "samples were finished, nothing was written",
			143},
		{syscall.SIGINT, "heatmap --r 1:150:400 --sigma 1:100:400 --method exact -o h.png",
			"cells were finished, nothing was written", 130},
		{syscall.SIGTERM, "heatmap --method mc --samples 10000 -o h.png", "cells were finished, nothing was written",
			143},
	} {
		status, stdout, stderr := signalled(t, tt.signal, tt.args)
		if status != tt.status || stdout != "" || !strings.Contains(stderr, tt.want) ||
			strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, %q, %q; want exit %d and %q", tt.args, status, stdout, stderr, tt.status, tt.want)
		}
		if files := listing(t); len(files) != 0 {
			t.Errorf("%s left %v", tt.args, files)
		}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	must.Succeed(t, os.WriteFile(name, []byte(text), 0o644))
}

func readCSV(t *testing.T, name string) [][]string {
	t.Helper()
	f := must.Get(os.Open(name))(t)
	defer f.Close()
	return must.Get(csv.NewReader(f).ReadAll())(t)
}

func parse(t *testing.T, s string) float64 {
	t.Helper()
	return must.Get(strconv.ParseFloat(s, 64))(t)
}

// listing names the files of the current folder, hidden ones too.
func listing(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, e := range must.Get(os.ReadDir("."))(t) {
		names = append(names, e.Name())
	}
	return names
}

// TestHeatmapTyped: the same question has the same answer, whether the names of the default are
// typed or left out: of codes, the number of levels, the method, the decoder and the axes. What else
// stands beside them does not matter.
func TestHeatmapTyped(t *testing.T) {
	const paper = "B has the smaller error in 34.7 % of the grid's valid cells by bounds, in 0.0 % by exact values"
	for _, axes := range []string{"--r 1:150:30 --sigma 1:100:30", "--r 1,75 --sigma 30,90", "--r 2 --sigma 3:9:2"} {
		want := ""
		for _, typed := range []string{"", "unary johnson-nonzero", "--method auto", "--levels 255 --method bound,exact",
			"unary johnson-nonzero --decoder auto --levels 255"} {
			out := mustRun(t, "heatmap "+typed+" "+axes)
			if want == "" {
				want = out
			}
			must.Equal(t, typed+" "+axes, want, out)
			must.Equal(t, "as the paper's map", axes[:9] == "--r 1:150", strings.Contains(out, paper))
		}
	}
	// Of the axes, which are the paper's here, one range is enough to tell.
	for _, typed := range []string{"", "unary johnson-nonzero"} {
		out := mustRun(t, "heatmap "+typed+" --r 3")
		if !strings.Contains(out, "grid: 1 × 100 cells, r = 3, σ from 1 to 100; 99 valid") {
			t.Errorf("%q: %s", typed, out)
		}
	}
}

// TestOptimize: the code that is written is the code that is reported: compare finds the
// same error for it, to the last digit, with the same flags.
func TestOptimize(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, flags := range []string{"--r 0.6 --sigma 1.5", "--r 0.8 --sigma 2 --cost squared --circular"} {
		var found search.Optimized
		args := "optimize --levels 24 --bits 9 --seed 5 -o best.csv -o best.npy -o best.json --steps 600 " + flags
		text := runJSON(t, &found, args)
		want := found
		want.CodeFile, want.Bits, want.Levels = new("best.csv"), 9, 24
		must.Equal(t, flags, want, found, cmpopts.IgnoreUnexported(search.Estimate{}))
		if content(t, "best.json") != text {
			t.Error("best.json is not what was printed")
		}
		var c compare.Ranking
		runJSON(t, &c, "compare best.csv --decoder gen --outputs bits --seed 5 "+flags)
		if r := c.Results[0]; r.Mean != found.Mean || r.StdErr != found.StdErr ||
			fmt.Sprint(r.Exact) != fmt.Sprint(found.Exact) {
			t.Errorf("%s: compare says %v ± %v, optimize %v ± %v", flags, r.Mean, r.StdErr, found.Mean, found.StdErr)
		}
		if mustRun(t, "codes best.npy -q") != content(t, "best.csv") {
			t.Errorf("%s: best.npy is another code than best.csv", flags)
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
