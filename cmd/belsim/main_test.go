package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"flag"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"belsim/montecarlo"
	"belsim/montecarlo/compare"
	"belsim/montecarlo/scenario"
	"belsim/montecarlo/verify"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/code"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// noDevice starts the note that a CUDA device which fails is given up. bench gives it where there
// is none, too.
const noDevice = "belsim: note: sampling on the CPU: "

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
	env := newEnvironment(args, &out, &err)
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
	text = mustRun(t, append(args, "--format=json")...)
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
	if diff := cmp.Diff(content(t, path), got); diff != "" {
		t.Errorf("%s (go test ./cmd/belsim -update accepts it): -want +got\n%s", name, diff)
	}
}

var commands = []string{"codes", "compare", "levels", "heatmap", "verify", "fit", "decode", "optimize", "explore",
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

func TestCodes(t *testing.T) {
	t.Chdir(t.TempDir())
	golden(t, "codes.stdout", mustRun(t, "codes"))
	csvOut := mustRun(t, "codes", "hexj", "--levels", "40")
	for _, file := range []string{"c.csv", "c.npy"} {
		mustRun(t, "codes", "hexj", "--levels", "40", "-o", file)
		if got := mustRun(t, "codes", file); got != csvOut {
			t.Errorf("%s: read back as another matrix", file)
		}
	}
	if content(t, "c.csv") != csvOut {
		t.Error("c.csv differs from standard output")
	}
	mustRun(t, "codes", "johnson", "--levels", "16", "-o", "c.png", "-o", "c.svg", "-o", "c.pdf", "-o", "c.json")
	var listed codeMatrix
	if runJSON(t, &listed, "codes", "johnson", "--levels", "8"); listed.Words[1] != "0001" {
		t.Errorf("JSON words %v", listed.Words)
	}
	var all codeList
	if runJSON(t, &all, "codes", "--levels", "64"); len(all.Codes) != len(code.Families()) || all.Codes[0].Bits != 63 {
		t.Errorf("JSON list %v", all)
	}
	prints(t, "c.npy", "codes", "c.npy", "--describe")
	if out := mustRun(t, "codes", "--describe"); !strings.Contains(out,
		"\n  onehot           bit k is one at level k\n") || strings.Count(out, "\n") != 1+len(code.Families()) {
		t.Errorf("descriptions:\n%s", out)
	}
}

// TestTransposed: codes notes a matrix that may be the wrong way round, and prints it as it is.
func TestTransposed(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "bits.csv", "0,0,1\n0,1,1\n")
	write(t, "levels.csv", "0,0\n0,1\n1,1\n")
	const want = "belsim: note: bits.csv has more bits (3 columns) than levels (2 rows): transpose it if its rows are the bits\n"
	for _, tt := range []struct{ args, stderr string }{
		{"codes bits.csv", want}, {"codes bits.csv --describe", want}, {"codes bits.csv --format json", want},
		{"codes bits.csv -q", ""}, {"codes levels.csv", ""}, {"codes hadamard --levels 2", ""},
	} {
		status, stdout, stderr := run(t, strings.Fields(tt.args)...)
		if status != 0 || stdout == "" || stderr != tt.stderr {
			t.Errorf("belsim %s: exit %d, %q on standard error, want %q", tt.args, status, stderr, tt.stderr)
		}
	}
	if got := mustRun(t, "codes", "bits.csv", "-q"); got != "0,0,1\n0,1,1\n" {
		t.Errorf("printed %q", got)
	}
}

func TestVerify(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{
		{"--code", "unary", "--levels", "64", "--random", "--samples", "5000"},
		{"--code", "johnson-nonzero", "--levels", "63", "--random", "--seed", "5", "--samples", "5000"},
		{"--code", "hexj", "--levels", "64", "--samples", "5000"},
		{"--code", "hadamard", "--levels", "32", "--r", "0.3", "--samples", "5000"},
	} {
		prints(t, "\nPASS ", append([]string{"verify"}, args...)...)
	}
	var v verify.Report
	jsonOut := runJSON(t, &v, "verify", "--levels", "31", "-o", "v.json", "--workers", "1")
	if v.Pass == nil || !*v.Pass || len(v.Labels) != 31 || v.Labels[30].Level != 31 || !(v.Overall.StdErr > 0) ||
		v.Overall.Bound < v.Overall.Exact {
		t.Errorf("JSON %s", jsonOut)
	}
	if content(t, "v.json") != jsonOut {
		t.Error("v.json differs from standard output")
	}
	// The same numbers on more workers; the command line differs.
	again := runJSON(t, &v, "verify", "--levels", "31", "-o", "v.json", "--workers", "7")
	if got := strings.Replace(again, "--workers 7", "--workers 1", 1); got != jsonOut {
		t.Error("seven workers print other numbers than one")
	}

	mustRun(t, "verify", "--levels", "31", "-o", "v.csv")
	rows := readCSV(t, "v.csv")
	if got := strings.Join(rows[0],
		","); got != "level,bound,exact,mean,stderr,samples,detectable,sum_abs,sum_square,sum_within" ||
		len(rows) != 32 {
		t.Errorf("CSV header %s, %d rows", got, len(rows))
	}
	if mean, sum := parse(t, rows[1][3]), parse(t, rows[1][7]); mean != sum/100000 {
		t.Errorf("mean %v is not the sum %v over 100000 samples", mean, sum)
	}
	mustRun(t, "verify", "--levels", "31", "--samples", "1000", "-o", "v.svg", "-o", "v.pdf")
	// Where nothing is checked, nothing passes.
	v.Pass = new(bool)
	if runJSON(t, &v, "verify", "--levels", "15", "--decoder", "gen-ex", "--samples", "1000"); v.Pass != nil {
		t.Errorf("gen-ex: pass is %v; want null", v.Pass)
	}
	// Hardly an error is seen, and the text says what that is worth.
	if out := mustRun(t, "verify", "--levels", "15", "--r", "1e-5", "--sigma", "2"); !strings.Contains(out, "PASS") ||
		!strings.Contains(out, ", 15 times the exact value, over all levels") {
		t.Error(out)
	}
	prints(t, "the bound is Eq. 26, one level lower, with terms for the all-zero word", "verify", "--code", "johnson",
		"--levels", "15", "--samples", "1000")
	status, _, stderr := run(t, "verify", "--levels", "15", "--rel-err", "0.0001", "--samples", "70000")
	if status != 0 || !strings.Contains(stderr, "--samples 70000 was reached") {
		t.Errorf("unreached --rel-err: exit %d, %q", status, stderr)
	}
	if status, _, stderr := run(t, "verify", "--levels", "15", "--rel-err", "0.0001", "--samples", "70000",
		"--quiet"); status != 0 || stderr != "" {
		t.Errorf("--quiet: exit %d, %q", status, stderr)
	}
}

// TestVerifyFails: verify finds a theory that is wrong at one level, says where, and exits with
// 1; files are written all the same.
func TestVerifyFails(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, disturb := range map[string]func([]montecarlo.Theory){
		"exact value": func(th []montecarlo.Theory) { th[3].Mean *= 1.2 },
		"bound":       func(th []montecarlo.Theory) { th[3].Bound = 0.9 * th[3].Mean },
	} {
		var out, errs bytes.Buffer
		env := newEnvironment(strings.Fields("verify --code johnson-nonzero --levels 15 --r 1.5 --sigma 2 --backend cpu -o v.json"), &out, &errs)
		env.disturb = disturb
		if status := env.belsim(); status != exitFailed || errs.Len() > 0 {
			t.Errorf("a wrong %s: exit %d, %q; want 1", name, status, errs.String())
		}
		if text := out.String(); !strings.Contains(text, "FAIL level 4: sampled mean") ||
			!strings.Contains(text, name) || strings.Contains(text, "PASS") {
			t.Errorf("a wrong %s: printed %s", name, text)
		}
		var v verify.Report
		if readJSON(t, "v.json", &v); v.Pass == nil || *v.Pass || len(v.Failures) == 0 {
			t.Errorf("a wrong %s: JSON %+v", name, v)
		}
	}
}

// TestExtremeLaws: the laws that verify writes have the error probabilities of --errors.
func TestExtremeLaws(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "e.csv", "0.25,0.5\n0.125,0.25\n0.5,0.75\n")
	mustRun(t, strings.Fields("verify --code unary --levels 3 --errors e.csv --samples 100 -o v.json")...)
	var v verify.Report
	readJSON(t, "v.json", &v)
	for i, want := range [][]float64{{0.25, 0.5}, {0.125, 0.25}, {0.5, 0.75}} {
		for _, law := range [][]verify.Together{v.Labels[i].Least, v.Labels[i].Most} {
			got := []float64{0, 0}
			for _, p := range law {
				for _, k := range p.Bits {
					got[k-1] += p.Probability
				}
			}
			for k := range want {
				if math.Abs(got[k]-want[k]) > 1e-8 {
					t.Errorf("level %d: a law has the probabilities %v, want %v", i+1, got, want)
				}
			}
		}
	}
}

// TestJointLaw: under the law that verify wrote, the exact error is the end of any_law, samples
// agree with exact values of every decoder of bits, and any number of workers draws the same.
func TestJointLaw(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "prior.csv", "label,count\n1,2\n2,0\n8,5\n")
	for _, tt := range []struct{ code, decoder, others string }{
		{"unary", "bel-u", ""}, {"johnson", "bel-j", "gen"}, {"hexj", "gen", "gen-ex"}, {"gray", "gen", "gen-ex"},
	} {
		for _, prior := range []string{"", " --prior prior.csv"} {
			common := "verify --code " + tt.code + " --levels 8 --samples 20000 -o %s.json" + prior + " --decoder "
			mustRun(t, strings.Fields(strings.Replace(common, "%s", "v", 1)+tt.decoder+" --r 0.9 --sigma 1.5")...)
			var of, judged verify.Report
			readJSON(t, "v.json", &of)
			args := strings.Fields(strings.Replace(common, "%s", "w", 1) + tt.decoder + " --errors v.json --workers")
			mustRun(t, append(args, "1")...)
			readJSON(t, "w.json", &judged)
			for i, l := range append(judged.Labels, judged.Overall) {
				want := append(of.Labels, of.Overall)[i].AnyLaw
				if want == nil {
					if !math.IsNaN(l.Exact) {
						t.Errorf("%v%s, level %d: exact %v without a law", tt, prior, i+1, l.Exact)
					}
				} else if math.Abs(l.Exact-want[1]) > 1e-7 || l.AnyLaw == nil || math.Abs(l.AnyLaw[1]-want[1]) > 1e-7 {
					t.Errorf("%v%s, level %d: exact %v, any law %v; want %v", tt, prior, i+1, l.Exact, l.AnyLaw, want)
				}
			}
			if bound := judged.Overall.Bound; math.IsNaN(bound) != (tt.decoder != "bel-u") {
				t.Errorf("%v: bound %v; only Eq. 2 needs no independence", tt, bound)
			}
			mean := judged.Overall.Mean
			mustRun(t, append(args, "2")...)
			if readJSON(t, "w.json", &judged); judged.Overall.Mean != mean {
				t.Errorf("%v: means %v and %v with 1 and 2 workers", tt, mean, judged.Overall.Mean)
			}
			if tt.others != "" {
				mustRun(t, strings.Fields("verify --code "+tt.code+
					" --errors v.json --samples 20000 --outputs bits --decoder "+tt.others+prior)...)
			}
			prints(t, "bits err together", strings.Fields("compare "+tt.code+" --errors v.json --samples 9 --decoder "+
				tt.decoder+prior)...)
		}
	}
}

// TestTableWidth: the table of all codes fits a terminal of 100 columns, and that of the codes with
// the longest names and the most bits at 256 levels.
func TestTableWidth(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"--levels 64", "johnson-nonzero hexj-nr hadamard --levels 256 --decoder gen-ex"} {
		for line := range strings.Lines(mustRun(t, strings.Fields("compare --r 0.5 --sigma 3 --samples 2 "+args)...)) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 100 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}

func TestCompare(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, "codes", "gray", "--levels", "64", "-o", "mine.npy")
	args := []string{"compare", "unary", "mine.npy", "hadamard", "hexj", "--r", "0.4", "--sigma", "2", "--samples",
		"5000"}
	var c compare.Ranking

	for _, ending := range []string{"csv", "png", "svg", "pdf", "json"} {
		args = append(args, "-o", "c."+ending)
	}
	out := runJSON(t, &c, args...)
	if c.Levels != 64 || *c.R != 0.4 || *c.Sigma != 2 || c.Seed != 1 || len(c.Results) != 4 {
		t.Errorf("JSON %s", out)
	}
	for i, r := range c.Results {
		if math.IsNaN(r.Exact) != (r.Code == "hadamard") || math.IsNaN(r.Mean) || r.Samples != 64*5000 {
			t.Errorf("result %+v", r)
		}
		// Codes that networks cannot learn stand below the others.
		if i > 0 && code.HardToLearn(c.Results[i-1].Transitions) == code.HardToLearn(r.Transitions) &&
			r.Mean < c.Results[i-1].Mean {
			t.Errorf("%s after %s: not sorted by error", r.Code, c.Results[i-1].Code)
		}
	}
	if rows := readCSV(t, "c.csv"); len(rows) != 5 || rows[0][1] != "code" || len(rows[1]) != len(rows[0]) {
		t.Errorf("CSV %v", rows)
	}
	// A prior that has only level 5 gives that level's error.
	write(t, "prior.csv", "label,count\n1,0\n5,9\n64,0\n")
	runJSON(t, &c, "compare", "unary", "--decoder", "bel-u", "--prior", "prior.csv")
	var v verify.Report
	runJSON(t, &v, "verify", "--code", "unary", "--levels", "64", "--samples", "1000")
	if c.Levels != 64 || c.Results[0].Exact != v.Labels[4].Exact {
		t.Errorf("prior on level 5: %v, want %v", c.Results[0].Exact, v.Labels[4].Exact)
	}
	if out := mustRun(t, "compare", "--levels", "16", "--samples", "100"); strings.Count(out,
		" gen ") != len(code.Families()) {
		t.Errorf("compare without codes prints\n%s", out)
	}
}

func TestHeatmap(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"heatmap", "--levels", "31", "--r", "0.5:8:6", "--sigma", "0.5:4:5:log"}
	prints(t, "6 × 5 cells", append(args, "-o", "h.csv")...)
	for codes, levels := range map[string]string{"": ", 255 levels", "unary johnson-nonzero": ", 255 levels",
		"unary johnson": ", 256 levels", "johnson-nonzero unary": ", 256 levels"} {
		prints(t, levels, append([]string{"heatmap", "--r", "1:2:2", "--sigma", "20:30:2"},
			strings.Fields(codes)...)...)
	}
	// Without codes it is the paper's figure; else the best method that both codes have, up to the
	// largest valid r.
	write(t, "own.csv", "0,0,1\n0,1,1\n1,1,1\n1,1,0\n1,0,0\n")
	for args, want := range map[string]string{
		"": "method bound\n100 × 100 cells, 6649 valid", "unary johnson --levels 16": "method exact", "own.csv unary": "method exact",
		"hadamard johnson --levels 64 --samples 10 --sigma 1:9:3":         "method mc, seed 1",
		"hadamard unary --levels 16 --method bound --sigma 1:2:2":         "the bounds are of two kinds, A's union bound and B's Eq. 2:",
		"hadamard johnson --levels 64 --method exact --sigma 9 --r 0.5,1": "no formula gives these exact values",
		"unary johnson --levels 16 --sigma 1 --r 50,60":                   "largest valid r is 2.84, for σ = 1",
	} {
		prints(t, want, append([]string{"heatmap"}, strings.Fields(args)...)...)
	}
	rows := readCSV(t, "h.csv")
	if strings.Join(rows[0], ",") != "r,sigma,a,b,increase_percent" || len(rows) != 31 {
		t.Fatalf("CSV header %v, %d rows", rows[0], len(rows))
	}
	blank := 0
	for _, row := range rows[1:] {
		if row[2] == "" {
			blank++
			if row[3] != "" || row[4] != "" {
				t.Errorf("half a blank row: %v", row)
			}
			continue
		}
		a, b, increase := parse(t, row[2]), parse(t, row[3]), parse(t, row[4])
		if math.Abs(increase-100*(a-b)/b) > 1e-9 {
			t.Errorf("increase %v of %v over %v", increase, a, b)
		}
	}
	if blank == 0 || blank == 30 {
		t.Errorf("%d blank cells of 30", blank)
	}
	five := append(args, "--workers", "5")
	for _, ending := range []string{"csv", "png", "svg", "pdf", "json", "npy"} {
		five = append(five, "-o", "h."+ending)
	}
	mustRun(t, five...)
	if diff := cmp.Diff(rows, readCSV(t, "h.csv")); diff != "" {
		t.Errorf("five workers: %s", diff)
	}
	f := must.Get(os.Open("h.png"))(t)
	defer f.Close()
	if _, err := png.Decode(f); err != nil {
		t.Error(err)
	}

	// which values are right, package scenario tests
	mustRun(t, append(args, "--method", "mc", "--samples", "20", "-o", "mc.csv")...)
	if sampled := readCSV(t, "mc.csv"); len(sampled[0]) != 8 {
		t.Errorf("CSV header of mc: %v", sampled[0])
	}
	// Custom codes and gen on both sides.
	mustRun(t, "codes", "gray", "--levels", "16", "-o", "gray.npy")
	mustRun(t, "heatmap", "gray.npy", "unary", "--decoder", "gen", "--r", "0.1:0.5:3", "--sigma", "1:2:2", "--method",
		"exact", "-o", "g.png")
	prints(t, "no valid cell", "heatmap", "--r", "50:60:2", "--sigma", "0.5:0.6:2", "-o", "none.png")
}

// TestDecoders: several decoders make a table of codes and decoders, and each of
// its figures is that of the decoder alone.
func TestDecoders(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "real.csv", "0.9,0,-1\n0.6,0.2,-0.9\n0.1,0.9,-0.2\n-0.4,0.6,0.3\n-0.7,0.1,0.8\n-0.9,-0.6,0.9\n")
	const common = " --levels 6 --r 0.3 --sigma 1 --samples 20000 "

	read := func(args string) map[string]compare.Result {
		var got compare.Ranking
		runJSON(t, &got, strings.Fields("compare "+common+args)...)
		out := map[string]compare.Result{}
		for _, r := range got.Results {
			out[r.Code+" "+r.Decoder] = r
		}
		return out
	}
	all := read("unary johnson --decoder bel-u,bel-j,gen,gen-ex")
	for pair, want := range map[string]scenario.Outputs{
		"unary bel-u": "bits", "johnson bel-j": "bits", "unary gen": "bits", "johnson gen": "bits", "unary gen-ex": "logits", "johnson gen-ex": "logits",
	} {
		r, ok := all[pair]
		if !ok || r.Outputs != want {
			t.Errorf("%s: %+v, want outputs %s", pair, r, want)
			continue
		}
		if alone := read(r.Code + " --decoder " + r.Decoder)[pair]; alone.Mean != r.Mean {
			t.Errorf("%s: %v among others, %v alone", pair, r.Mean, alone.Mean)
		}
	}
	if len(all) != 6 {
		t.Errorf("%d results, want 6", len(all))
	}
	out := mustRun(t, strings.Fields("compare unary johnson --decoder bel-u,bel-j,gen,gen-ex"+common)...)
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 8 ||
		!strings.Contains(lines[3], "bel-u  ") ||
		!strings.HasSuffix(lines[3], "gen-ex (logits)") || strings.Count(out, "–") != 2 {
		t.Errorf("table:\n%s", out)
	}

	if r := read("real.csv --decoder gen")["real.csv gen"]; r.Outputs != "logits" || !(r.Mean <= r.Bound) ||
		r.Mean == 0 {
		t.Errorf("a code of real numbers: %+v", r)
	}
	for _, args := range []string{
		"verify --code real.csv --decoder gen --r 0.3 --sigma 1 --samples 5000",
		"verify --code unary --decoder gen-ex --outputs bits --levels 9 --samples 5000",
		"verify --code johnson --levels 20 --outputs logits --decoder gen --samples 5000",
	} {
		prints(t, "\nPASS ", strings.Fields(args)...)
	}
	prints(t, "\nUNCHECKED ", strings.Fields("verify --code unary --decoder gen-ex --levels 9 --samples 100")...)
	mustRun(t, strings.Fields("heatmap unary johnson --levels 15 --decoder gen-ex --method mc --samples 50 --r 0.3:3:3 --sigma 1:3:3 -o ex.png")...)
	mustRun(t, strings.Fields("heatmap unary johnson --levels 15 --decoder gen --outputs logits --r 0.3:3:3 --sigma 1:3:3 -o soft.png")...)
}

// refused runs a command line that is bad input: its end is one line on standard error that names
// what is wrong, exit code 2, and the files that were there before.
func refused(t *testing.T, want string, args ...string) {
	t.Helper()
	before := listing(t)
	status, stdout, stderr := run(t, args...)
	if status != exitUsage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "\n") ||
		!strings.Contains(stderr, want) {
		t.Errorf("belsim %q: exit %d, standard output %q, standard error %q; want exit 2 and one line with %q", args,
			status, stdout, stderr, want)
	}
	if diff := cmp.Diff(before, listing(t)); diff != "" {
		t.Fatalf("belsim %q left files: %s", args, diff)
	}
}

// TestBadInput: what is malformed, empty, contradictory or impossible is refused. What packages
// refuse, their own tests have; here it is what a command adds, and that it hands on what it is
// told.
func TestBadInput(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "ragged.csv", "0,1\n1\n")
	write(t, "two.csv", "0,1\n1,2\n")
	write(t, "real.csv", "0.5,1\n-1,2\n0,0\n")
	write(t, "empty.csv", "")
	write(t, "good.csv", "0,1\n1,0\n1,1\n")
	write(t, "four.csv", "0,0\n0,1\n1,0\n1,1\n")
	write(t, "e.csv", "0.1,0.2\n0.1,1.5\n0,0\n")
	write(t, "small.csv", "0.1,0.2\n")
	write(t, "law.json", `{"levels": 2, "bits": 1, "labels": [{"level": 1, "most_law": [{"bits": [1], "probability": 1}]}, {"level": 2}]}`)
	write(t, "two.json", `{"levels": 2, "bits": 1, "labels": [{"level": 1, "most_law": [{"bits": [2], "probability": 1}]}, {"level": 1}]}`)
	write(t, "prior.csv", "label,count\n1,2\n2,-3\n")
	write(t, "long.csv", "label,count\n1,2\n900,3\n")
	must.Succeed(t, os.Mkdir("folder.png", 0o755))
	decoder := content(t, filepath.Join(root, "testdata/decoders/decoder.npz"))
	write(t, "decoder.npz", decoder)
	write(t, "cut.npz", decoder[:len(decoder)/2])
	write(t, "nan10.csv", "0,1,1,1,1,1,1,1,1,0\n0,1,1,1,NaN,1,1,1,1,1\n")
	for _, tt := range []struct{ args, want string }{
		{"decode --decoder decoder.npz --outputs good.csv -o labels.npy",
			"belsim: good.csv: 2 columns, but the decoder decoder.npz reads 10 bits"},
		{"decode --decoder decoder.npz --outputs nan10.csv -o labels.npy",
			`nan10.csv: line 2, column 5: "NaN" is not a finite number`},
		{"decode --decoder decoder.npz --outputs empty.csv -o labels.npy", "empty.csv: empty file"},
		{"decode --decoder decoder.npz --outputs good.csv -o good.csv",
			"cannot write good.csv: the command reads this file"},
		{"decode --decoder decoder.npz --outputs good.csv -o decoder.npz",
			"decoder.npz: want a name ending in .npy .csv"},
		{"decode --decoder cut.npz --outputs good.csv -o labels.npy", "reading a decoder: cut.npz: not an .npz file"},
		{"decode --decoder missing.npz --outputs good.csv -o labels.npy", "missing.npz"},
		{"decode --decoder decoder.npz --outputs nan10.csv --confidence 0 -o labels.npy",
			"decoder.npz: confidence 0: want a number between 0 and 1"},
		{"decode --decoder decoder.npz --outputs nan10.csv --confidence 0.9999 -o labels.npy",
			"confidence 0.9999 needs 19999 calibration samples, and the decoder has 2500: want at most 0.9992"},
		{"decode --decoder gen --code good.csv --outputs good.csv --confidence 0.9 -o labels.npy",
			"the decoder gen has no calibration, which intervals need"},
		{"decode --decoder gen --outputs good.csv -o labels.npy",
			"the decoder gen needs the code of the outputs: want the code"},
		{"decode --decoder median --code good.csv --outputs good.csv -o labels.npy",
			"the decoder median needs a model of the classifiers"},
		{"decode --decoder bel-u --code good.csv --outputs good.csv -o labels.npy", "bel-u"},
		{"decode --decoder gen --code four.csv --outputs ragged.csv -o labels.npy",
			"ragged.csv: line 2 has 1 columns, but the first has 2"},
		{"decode --decoder gen --code unary --levels 9 --outputs good.csv -o labels.npy",
			"good.csv: 2 columns, but unary of 9 levels has 8 bits"},
		{"decode --decoder gen --code good.csv --outputs bits:two.csv -o labels.npy",
			"two.csv: row 2, column 2: 2 is neither 0 nor 1"},
		{"decode --decoder gen-ex --temperature -1 --code good.csv --outputs good.csv -o labels.npy",
			"--temperature -1: want"},
		{"decode --decoder gen --code good.csv --outputs good.csv -o labels.npy -o labels.csv",
			"-o is given 2 times; decode writes one file"},
		{"decode --decoder gem --code good.csv --outputs good.csv -o labels.npy",
			"want bel-u, bel-j, gen, gen-ex or auto"},
		{"compare - - --levels 4", "code - and code - both read standard input"},
		{"heatmap unary --levels 4", "codes given: 1; want two"},
		{"decode --decoder gen --code good.csv --outputs good.csv -o labels.txt", "labels.txt: want a name"},
		{"fit --code good.csv --targets prior.csv --outputs good.csv -o d.npz",
			"-o FILE.npz holds a fitted decoder: want --fit-decoder"},
		{"verify --code ragged.csv", "ragged.csv: line 2 has 1 columns, but the first has 2"},
		{"verify --code missing.csv", "missing.csv: no such file"},
		{"verify --code good.csv --levels 4", "good.csv: 3 rows, but 4 levels were asked for"},
		{"verify --levels 0.5", `--levels: want a whole number, but got "0.5"`},
		{"verify --code good.csv --errors e.csv", "e.csv: row 2, column 2: 1.5 is no probability"},
		{"verify --code good.csv --errors small.csv",
			"small.csv: table of 1 × 2 error probabilities, but the code has 3 levels and 2 bits"},
		{"verify --code good.csv --errors law.json", "law.json: laws of 2 levels and 1 bits, but good.csv has 3 and 2"},
		{"verify --code unary --errors law.json", "law.json: there is no most_law at level 2"},
		{"compare unary --errors two.json", "two.json: level 1 stands at the place of level 2"},
		{"compare unary --levels 3 --errors two.json", "laws of 2 levels"},
		{"compare unary --errors prior.csv.json", "prior.csv.json: no such file"},
		{"optimize --errors law.json --bits 1", "law.json: a joint law is of one code"},
		{"verify --code unary --decoder bel-j", "bel-j reads johnson and johnson-nonzero, and unary is neither"},
		{"verify --code good.csv --decoder bel-u", "bel-u reads the unary code, and good.csv is not unary"},
		{"verify --decoder argmax", `--decoder must be one of "auto","bel-u","bel-j","gen","gen-ex","median" but got "argmax"`},
		{"verify --r 0", "r = 0: want a positive finite number"},
		{"verify --sigma NaN", "σ = NaN: want a positive finite number"},
		{"verify --r 9 --sigma 1", "r = 9 with σ = 1 is invalid: e[n,k] ="},
		{"verify --prior prior.csv", "prior.csv: row 3, column 2: count -3"},
		{"verify --prior long.csv --levels 256", "long.csv: labels 1 to 900 need 900 levels, but the code has 256"},
		{"verify --backend gpu", "--backend"},
		{"verify --temperature -1", "--temperature -1: want a positive finite number"},
		{"verify --decoder bel-j --outputs logits",
			"decoder bel-j reads bits; outputs that are logits want gen or gen-ex"},
		{"verify --code real.csv", "real.csv: row 1, column 1: 0.5 is neither 0 nor 1"},
		{"compare unary real.csv --decoder gen,bel-u", "real.csv: row 1, column 1: 0.5 is neither 0 nor 1"},
		{"compare unary --decoder bel-u,bel-u", "decoder bel-u is given twice"},
		{"compare unary --decoder gen,bel-j --levels 8", "decoder bel-j fits none of the codes"},
		{"compare hexj --decoder bel-u,bel-j --levels 64", "hexj is neither"},
		{"heatmap --method exact --outputs logits --decoder gen", "exact values are for bits that err independently"},
		{"heatmap --decoder gen-ex", "no bound for decoder gen-ex on logits; method mc samples instead"},
		{"bench --time 0s", "--time 0s: want more than zero"},
		{"bench --time fast", "--time"},
		{"bench -o b.png", "b.png: want a name"},
		{"bench --workers -3", "--workers -3"},
		{"verify --samples 1", "--samples 1: a standard error needs at least 2"},
		{"verify --samples 99999999999999999", "keep the sums of squares"},
		{"verify --rel-err -2", "--rel-err -2: want a positive number"},
		{"verify --rel-err 0.1 --samples 10", "--samples 10"},
		{"compare --within -1", "--within -1"},
		{"verify --workers -1", "--workers -1: want 1 or more"},
		{"compare --prior -o x.png", `--prior: want a value, but got "-o"`},
		{"compare --prior", "--prior: want a value"},
		{"optimize --keep --pareto", `--keep: want a value, but got "--pareto"`},
		{"verify -o v.gif", "v.gif: want a name ending in .csv .json .png .svg .pdf"},
		{"verify -o nowhere/v.png", "writing nowhere/v.png: no such file"},
		{"verify -o good.csv/v.png", "writing good.csv/v.png: not a directory"},
		{"verify -o folder.png", "folder.png: not a regular file: it is a folder"},
		{"verify mine.csv", "unexpected argument mine.csv: want --code mine.csv"},
		{"verify --bogus", "unknown flag --bogus"},
		{"compare good.csv unary four.csv", "four.csv has 4 levels, but good.csv has 3; want as many in all codes"},
		{"compare unary gray --r 3 --sigma 1", "is invalid"},
		{"compare johnson unary --decoder bel-u", "johnson is not unary"},
		{"heatmap --r 1:2", "want lo:hi:count"},
		{"heatmap --r 1:2:1000000", "count 1000000"},
		{"heatmap --method exact unary b1jdj --decoder gen-ex --outputs bits", "method mc samples instead"},
		{"heatmap --method mc --samples 0", "--samples 0"},
		{"optimize --levels 9", "--bits is missing"},
		{"optimize --levels 9 --bits 3", "--bits 3: impossible: 3 bits have 8 words; 9 levels need at least 4 bits"},
		{"optimize --levels 9 --bits some", `range "some": want lo:hi:count`},
		{"optimize --levels 9 --bits 4:8:3", "a range of bits is for --pareto"},
		{"optimize --levels 9 --bits 8 --r 3 --sigma 0.5", "no code of 9 levels and 8 bits was found"},
		{"optimize --levels 9 --bits 8 --fix 1", "--fix names columns of --start, which is missing"},
		{"optimize --start unary --levels 9 --fix 9", "column 9 of unary cannot stay as it is: it has 8"},
		{"optimize --start real.csv", "real.csv: row 1, column 1: 0.5 is neither 0 nor 1"},
		{"optimize --levels 9 --bits 8 --time 0s", "--time 0s: want more than zero"},
		{"optimize --levels 9 --bits 8 --time 1000000h",
			"--time 1000000h0m0s: want more than zero, and at most 10000h"},
		{"optimize --levels 9 --bits 8 --steps 0", "--steps 0: want 1 or more"},
		{"optimize --levels 9 --pareto --bits 4:1e12:5", "bits: want at most 65536"},
		{"optimize --levels 9 --bits 8 --time 1s --steps 5",
			"--steps and --time can't be used together: want one of them"},
		{"optimize --levels 9 --pareto --start unary", "--pareto changes the number of bits"},
		{"optimize --levels 9 --pareto -o p.npy", "p.npy: want a name"},
		{"optimize --levels 9 --bits 8 --decoder bel-u", `--decoder must be one of "gen","gen-ex"`},
		{"optimize --levels 9 --pareto --keep prior.csv", "--keep prior.csv: not a folder"},
		{"optimize --levels 9 --bits 8 --keep .", "--keep is for --pareto"},
		{"codes unary --levels 2 -o u.txt", "u.txt: want a name"},
		{"codes -o list.csv", "want a name ending in .json"},
		{"codes a.pkl/b", "reading code: stat a.pkl/b: no such file or directory"},
		{"frobnicate", "unexpected argument frobnicate"},
		{`compare unary --levels 0`, "--levels 0: want 1 or more"},
		{`fit --levels 0 --code unary --targets t.csv --outputs o.csv`, "--levels 0: want 1 or more"},
		{`compare unary --rel-err 0`, "--rel-err 0: want more than zero"},
		{`compare unary --decoder ""`, `--decoder "": want a value`},
		{`compare unary ""`, `code "unary,": one of its values is empty`},
		{`codes ""`, `code "": want a value`},
		{`codes -o ""`, `--output "": one of its values is empty`},
		{`compare unary --model ""`, `--model "": want a value`},
		{`compare unary --prior ""`, `--prior "": want a value`},
		{`compare unary --errors ""`, `--errors "": want a value`},
		{`optimize --levels 8 --bits 4 --start ""`, `--start "": want a value`},
		{`optimize --levels 8 --pareto --keep ""`, `--keep "": want a value`},
		{`optimize --levels 8 --bits 4 --max-transitions 0`, "--max-transitions 0: want 1 or more"},
		{`figures --only ""`, `--only "": want a value`},
		{`figures -o ""`, `--output "": want a value`},
		{`sweep ""`, `plan "": want a value`},
		{`sweep plan.json --print ""`, `--print "": want a value`},
		{`sweep plan.json --out r --shards 0`, "--shards 0: want 1 or more"},
		{"explore none.json", "none.json"},
		{"explore .", ".: want a code"},
		{"explore none.json --port 65536", "--port 65536: want 1 to 65535"},
		{"explore --port -1", "--port -1: want 1 to 65535"},
		{"compare unary --mae -1", "--mae -1: want more than zero levels"},
		{"levels --range 1:2 --mae 1 --levels -3,4", "-3 levels: want 2 to 2048"},
		{"heatmap --r -1:2:3 --sigma 1:2:2", `range "-1:2:3": want positive finite numbers`},
		{"verify --random --r 1", "--r and --random can't be used together: want one of them"},
		{"compare --errors e.csv --sigma 2", "--sigma and --errors can't be used together: want one of them"},
		{"fit --code unary --targets - --outputs logits:-",
			"--targets - and --outputs - both read standard input; want - once"},
		{"compare --label-noise 1 --r 1", "--r and --label-noise can't be used together: want one of them"},
		{"optimize --levels 8 --bits 4 --mae 1 --model f.json",
			"--model and --mae can't be used together: want one of them"},
		{"verify --random --label-noise 1", "--label-noise and --random can't be used together: want one of them"},
		{"compare --label-noise 1 --mae 1", "--label-noise and --mae can't be used together: want one of them"},
		{"heatmap --label-noise 1:2:2 --sigma 1:2:2",
			"--sigma and --label-noise can't be used together: want one of them"},
		{"compare --label-noise=-1", "--label-noise -1: want more than zero levels"},
		{"compare --label-noise 1 --misfit=-1", "--misfit -1: want zero levels or more"},
		{"compare unary --levels 8 --mae 7", "no label noise gives unary of 8 levels an error of 7"},
		{"compare unary --levels 8 --label-noise 1 --training ce --decoder bel-u",
			"decoder bel-u fits none of the codes and trainings"},
		{"compare unary --levels 8 --label-noise 1 --training bce,bce", "training bce is given twice"},
		{"compare unary --levels 8 --mae=-1", "--mae -1: want more than zero levels"},
		{"levels unary --levels 8,16 --range 0:1", "want --mae, --label-noise or --model"},
		{"levels unary --levels 8,16 --mae 1", "want --range a:b"},
		{"levels unary --range 0:1 --model f.json", "--range and --model can't be used together: want one of them"},
		{"levels unary --levels 8,8 --range 0:1 --mae 0.1", "8 levels are given twice"},
		{"levels unary --levels 8,0 --range 0:1 --mae 0.1", "0 levels: want 2 to 2048"},
		{"levels unary --range 0:1 --label-noise=-1", "--label-noise -1: want more than zero label units"},
		{"levels unary --range 0:1 --label-noise 1 --misfit=-1", "--misfit -1: want zero label units or more"},
		{"levels unary --range 0:1 --mae 0.1 -o x.npy", "x.npy: want a name ending in .csv"},
	} {
		// an empty value is no way to leave a flag out
		args := strings.Split(strings.ReplaceAll(tt.args, `""`, ""), " ")
		if !strings.Contains(tt.args, "-o ") && slices.Contains([]string{"verify", "compare", "heatmap"}, args[0]) {
			args = append(args, "-o", "out.png")
		}
		refused(t, tt.want, args...)
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
		{syscall.SIGTERM, "compare unary hadamard --samples 1000000000", "samples were finished, nothing was written",
			143},
		{syscall.SIGINT, "heatmap --r 1:150:400 --sigma 1:100:400 --method exact -o h.png",
			"cells were finished, nothing was written", 130},
		{syscall.SIGTERM, "heatmap --method mc --samples 1000000 -o h.png", "cells were finished, nothing was written",
			143},
	} {
		status, stdout, stderr := signalled(t, tt.signal, strings.Fields(tt.args)...)
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
