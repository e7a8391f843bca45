package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"belsim/theory/base/must"
	"belsim/theory/base/parallel"
)

// patient is belsim that ends by itself or not at all: it shows what does not look at its context.
func patient(t *testing.T, script string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, t.TempDir(), afterShell(script), args...)
	cmd.Env = append(cmd.Env, "BELSIM_TEST_PATIENT=1")
	return cmd
}

// deadline is generous for slow machines: what it looks for took minutes, or did not end.
const deadline = 10 * time.Second

// TestInterrupted: every command ends after a signal, by itself, whatever it was in. With
// BELSIM_LONG=1 the commands are all that took seconds once, otherwise three.
func TestInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals to send")
	}
	t.Parallel()
	dir := t.TempDir()
	plan := filepath.Join(dir, "plan.json")
	write(t, plan, `{"codes": ["unary", "johnson", "hadamard"], "levels": [8192], "r": "0.1:0.5:5",
		"sigma": "1:4:5", "methods": ["bound", "exact", "mc"], "samples": 100}`)
	all := []string{
		"codes unary --levels 65536",
		"compare unary --levels 4096 --samples 2 --decoder gen-ex",
		"heatmap unary johnson --levels 4096 --decoder gen",
		// The others with BELSIM_LONG=1.
		"codes hadamard --levels 65536 -o code.npy",
		"compare hadamard --levels 16384",
		"compare b1jdj hexj --levels 16384 --decoder gen,gen-ex",
		"verify --code hadamard --levels 8192",
		"heatmap hadamard unary --levels 16384",
		"optimize --levels 4096 --bits 20",
		"optimize --levels 2048 --bits 64",
		"sweep " + plan + " --out results",
	}
	if !long {
		t.Logf("left out: %q", all[3:])
		all = all[:3]
	}
	for _, args := range all {
		t.Log(args)
		interrupted(t, patient(t, "", strings.Fields(args)...), 1, soon) // standard output is thrown away
	}
}

// TestBlocked: what waits for somebody else ends as well.
func TestBlocked(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no pipes with names")
	}
	t.Parallel()
	t.Run("a pipe without a reader", func(t *testing.T) {
		t.Parallel()
		r, w, err := os.Pipe()
		must.Succeed(t, err)
		defer r.Close() // nobody reads
		cmd := command(t, "", nil, "codes", "unary", "--levels", "4096")
		cmd.Stdout = w
		interrupted(t, cmd, 1, soon)
	})
	t.Run("a pipe without a writer", func(t *testing.T) {
		t.Parallel()
		interrupted(t, command(t, t.TempDir(), afterShell("mkfifo prior.csv;"), "compare", "unary", "--prior",
			"prior.csv"), 1, soon)
	})
	t.Run("a second signal", func(t *testing.T) {
		t.Parallel()
		interrupted(t, patient(t, "mkfifo prior.csv;", "compare", "unary", "--prior", "prior.csv"), 2, soon)
	})
}

// soon is how long after its start a process has begun to work.
const soon = 800 * time.Millisecond

// interrupted starts a process, sends it some signals, one after each pause, and expects its end.
func interrupted(t *testing.T, cmd *exec.Cmd, signals int, pause time.Duration) {
	t.Helper()
	must.Succeed(t, cmd.Start())
	for range signals {
		time.Sleep(pause)
		must.Succeed(t, cmd.Process.Signal(syscall.SIGTERM))
	}
	late := time.AfterFunc(deadline, func() { cmd.Process.Kill() })
	err := cmd.Wait()
	if !late.Stop() {
		t.Errorf("runs on %v after %d signals", deadline, signals)
	} else if cmd.ProcessState.ExitCode() != exitSignal+int(syscall.SIGTERM) {
		t.Errorf("after %d signals: %v", signals, err)
	}
}

// npyHead is the beginning of an .npy file.
func npyHead(descr, shape string) []byte {
	dict := fmt.Sprintf("%-117s\n", fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr,
		shape))
	return append(binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(dict))), dict...)
}

// TestMemory: what does not fit is refused with exit code 3, and the message says what needs it.
func TestMemory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no shell")
	}
	t.Parallel()
	dir := t.TempDir()
	big := filepath.Join(dir, "big.npy")
	head := npyHead("|u1", "40000, 40000") // all zero, which takes no room on disk
	must.Succeed(t, errors.Join(os.WriteFile(big, head, 0o644), os.Truncate(big, int64(len(head))+40000*40000)))
	all := map[string]string{
		"codes " + big:                                   "big.npy needs 11.9 GiB of memory",
		"compare unary --errors " + big:                  "big.npy needs 11.9 GiB of memory",
		"codes unary --levels 65536 -o a.json":           "the JSON of unary needs",
		"compare hadamard --levels 65536":                "the bit transitions of hadamard needs 16.0 GiB of memory",
		"compare onehot --levels 65536 --decoder median": "the decoder median of onehot needs 32.0 GiB of memory",
		"heatmap hadamard unary --levels 65536":          "the bit transitions of hadamard needs 16.0 GiB of memory",
		"heatmap --r 1:9:10000 --sigma 1:9:10000":        "a map of 10000 × 10000 cells needs",
		"verify --code unary --levels 65536 --random":    "a random table of error probabilities needs 32.0 GiB",
		"optimize --levels 65536 --bits 64":              "a search for 65536 levels and 64 bits needs",
	}
	if !long { // one file, one computation and one file of results
		few := []string{"codes " + big, "compare hadamard --levels 65536", "codes unary --levels 65536 -o a.json"}
		maps.DeleteFunc(all, func(args, _ string) bool { return !slices.Contains(few, args) })
		t.Log("the other commands are left out")
	}
	for args, want := range all {
		cmd := command(t, t.TempDir(), afterShell("export GOMEMLIMIT=4GiB &&"), strings.Fields(args)...)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != exitEnvironment || !strings.Contains(string(out), want) ||
			strings.Contains(string(out), "goroutine") {
			t.Errorf("%s: %v: %.300s; want exit code %d and %q", args, err, out, exitEnvironment, want)
		}
	}
}

// TestCaller: the folder that a caller made is removed, and no other one.
func TestCaller(t *testing.T) {
	for inside, gone := range map[string]bool{"caller=123": true, "caller=1234": false, "caller=123\n": false,
		"caller=": false, "a=123": false, "caller/a=123": false} {
		folder := filepath.Join(t.TempDir(), "belsim-results")
		name, text, _ := strings.Cut(inside, "=")
		file := filepath.Join(folder, name)
		must.Succeed(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o644)))
		removeFolder("123", folder)
		if _, err := os.Stat(file); os.IsNotExist(err) != gone {
			t.Errorf("%q: %v; want it gone: %v", inside, err, gone)
		}
	}
}

// TestTooManyWorkers: more workers than parallel.Most are refused before anything is computed.
func TestTooManyWorkers(t *testing.T) {
	many := fmt.Sprint(parallel.Most() + 1)
	for _, args := range []string{"compare unary", "heatmap", "fit --code unary --targets t.csv --outputs o.csv"} {
		refused(t, "--workers "+many, append(strings.Fields(args), "--workers", many)...)
	}
}

// TestExploreSecret: no command line has the address of the page, which everyone on the machine would
// read there. The browser gets it from a file that is the user's alone, and that is gone in the end.
func TestExploreSecret(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the starter of the browser has another name")
	}
	t.Parallel()
	dir, bin := t.TempDir(), t.TempDir()
	const starter = `#!/bin/sh
stat -c %a "$1" "${1%/*}" > got
cat "$1" >> got
echo "$@" > args.part
mv args.part args
`
	must.Succeed(t, os.WriteFile(filepath.Join(bin, "xdg-open"), []byte(starter), 0o755))
	cmd := command(t, dir, nil, "explore")
	cmd.Env = append(cmd.Env, "DISPLAY=:0", "PATH="+bin+":"+os.Getenv("PATH"), "TMPDIR="+dir)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Succeed(t, cmd.Start())
	line := must.Get(bufio.NewReader(out).ReadString('\n'))(t)
	url := strings.Fields(line)[4]
	args := filepath.Join(dir, "args")
	for end := time.Now().Add(deadline); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(args); err == nil {
			break
		}
	}
	must.Succeed(t, cmd.Process.Signal(syscall.SIGINT))
	cmd.Wait()
	path := strings.TrimSpace(content(t, args))
	if !strings.HasPrefix(path, dir) || strings.Contains(path, "http") {
		t.Errorf("the browser is started with %q", path)
	}
	got := content(t, filepath.Join(dir, "got"))
	if !strings.HasPrefix(got, "600\n700\n") || !strings.Contains(got, "url="+url+`"`) {
		t.Errorf("the file for %s, with the modes of it and of its folder:\n%s", url, got)
	}
	if left := must.Get(filepath.Glob(filepath.Join(dir, "belsim-explore*")))(t); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	if code := cmd.ProcessState.ExitCode(); code != exitSignal+int(syscall.SIGINT) {
		t.Errorf("exit code %d", code)
	}
}

// soakCommands are all commands that write files, without the name of the program. They run in a
// folder of their own, beside the inputs.
var soakCommands = []string{
	"codes hexj --levels 16 -o a.csv -o a.npy -o a.json -o a.png -o a.svg -o a.pdf",
	"codes --format json -o list.json",
	"compare unary johnson --levels 16 --samples 300 --backend cpu -q -o c.csv -o c.json -o c.png -o c.svg -o c.pdf",
	"heatmap unary johnson --levels 16 --r 0.5:2:3 --sigma 1:3:3 -q -o h.csv -o h.npy -o h.json -o h.png -o h.svg -o h.pdf",
	"verify --code unary --levels 16 --samples 300 --backend cpu -q -o v.csv -o v.json -o v.png -o v.svg -o v.pdf",
	"fit --code ../code.csv --targets ../y.csv --outputs bits:../z.csv --fit-decoder -q -o f.csv -o f.json -o f.npy -o f.npz -o f.png -o f.svg -o f.pdf -o f.html",
	"fit --code unary --targets ../packed.npz:levels --outputs ../packed.npz:fortran -q -o n.json -o n.csv",
	"decode --decoder gen-ex --code ../code.csv --outputs ../z.csv -q -o d.npy",
	"optimize --levels 16 --bits 6 --steps 2000 --samples 200 --backend cpu -q --r 1 --sigma 2 -o o.csv -o o.json",
	"figures --only 7 --quick -q -o figs",
	"sweep ../soak.json --out results --backend cpu -q",
	"merge ../found -o m.csv -o m.json -o m.png -o m.svg -o m.pdf",
	"codes unary --levels 4096 -o big.json",
	"verify --code unary --levels 2048 --random --samples 10 --backend cpu -q -o random.json",
}

// soak attacks commands, and counts how they end.
type soak struct {
	*testing.T
	random *rand.Rand
	base   string                       // the folder of the inputs
	whole  map[string]map[string][]byte // the files that a command writes, by its arguments
	took   map[string]time.Duration     // how long it takes
	ends   map[string]map[int]int       // how many attacks of a kind gave each exit code
}

// TestSoak kills commands at random times, and takes memory, open files, room in files and standard
// output from them. No file under a final name may be lost or half-written, the exit code must be a
// documented one, and the next run must give what an undisturbed one gives. The attacks come from a
// seed, BELSIM_SOAK_SEED or 1; the moments of kills are as exact as the machine is. No check
// depends on when a kill comes. A hundred attacks, with BELSIM_LONG=1 alone.
func TestSoak(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals and no limits of processes")
	}
	if !long {
		t.Skip("takes minutes; BELSIM_LONG=1 runs it")
	}
	number := func(name string, byDefault int) int {
		if text := os.Getenv(name); text != "" {
			return must.Get(strconv.Atoi(text))(t)
		}
		return byDefault
	}
	seed, rounds := number("BELSIM_SOAK_SEED", 1), number("BELSIM_SOAK_ROUNDS", 4)
	t.Logf("seed %d, %d rounds", seed, rounds)
	inFolderWithInputs(t)
	s := &soak{
		T: t, random: rand.New(rand.NewPCG(uint64(seed), 0)), base: must.Get(os.Getwd())(t),
		whole: map[string]map[string][]byte{}, took: map[string]time.Duration{}, ends: map[string]map[int]int{},
	}
	write(t, "packed.npz", content(t, filepath.Join(root, "theory/base/arrayfile/testdata/arrays-compressed.npz")))
	write(t, "soak.json", `{"codes": ["unary", "johnson"], "levels": [8], "r": "1:2:3", "sigma": "1:2:3", "methods": ["exact", "mc"], "samples": 5000}`)
	mustRun(t, "sweep -q --backend cpu soak.json --out found")
	must.Succeed(t, os.Mkdir("work", 0o777))
	kinds := []string{"kill", "file size", "descriptors", "address space", "standard output"}
	for round := range rounds {
		for _, args := range soakCommands {
			s.attack(args, "kill")
			s.attack(args, kinds[s.random.IntN(len(kinds))])
		}
		if t.Failed() {
			t.Fatalf("seed %d, round %d", seed, round)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(s.ends)) {
		t.Logf("%-16s exit codes (code:attacks) %v", kind, s.ends[kind])
	}
	if n := s.ends["kill"]; 20*(n[exitSignal+9]+n[exitSignal+2]+n[exitSignal+15]) < len(soakCommands)*rounds {
		t.Errorf("nearly all commands had ended before they were killed: %v", n)
	}
}

// soakAttack is one attack.
type soakAttack struct {
	kind   string
	before string         // a shell runs it first
	signal syscall.Signal // what is sent to the process; 0 for nothing
	at     time.Duration  // when
	stdout *os.File
	codes  []int // the exit codes that may come of it
}

func (a soakAttack) String() string {
	return fmt.Sprintf("%s %q %v after %v", a.kind, a.before, a.signal, a.at)
}

// process runs a command to its end, and returns its exit code as a shell calls it.
func (s *soak) process(a soakAttack, args string) (status int, stderr string) {
	var before []string
	if a.before != "" {
		before = afterShell("ulimit -c 0; " + a.before)
	}
	cmd := command(s, filepath.Join(s.base, "work"), before, strings.Fields(args)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if a.stdout != nil {
		cmd.Stdout = a.stdout
	}
	must.Succeed(s, cmd.Start())
	if a.signal != 0 {
		defer time.AfterFunc(a.at, func() { cmd.Process.Signal(a.signal) }).Stop()
	}
	late := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	cmd.Wait()
	if !late.Stop() {
		s.Errorf("%v: belsim %s: does not end", a, args)
	}
	if state, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && state.Signaled() {
		return exitSignal + int(state.Signal()), errs.String()
	}
	return cmd.ProcessState.ExitCode(), errs.String()
}

// filesIn are the regular files below a folder.
func filesIn(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	must.Succeed(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			out[name], err = os.ReadFile(path)
		}
		return err
	}))
	return out
}

// wrote are the files of the command that ran last, and empty removes them. Temporary files of a
// process that was killed have no place among them.
func (s *soak) wrote() map[string][]byte {
	all := filesIn(s, filepath.Join(s.base, "work"))
	maps.DeleteFunc(all, func(name string, _ []byte) bool {
		base := filepath.Base(name)
		return strings.HasPrefix(base, ".") && strings.HasSuffix(base, ".tmp")
	})
	return all
}

func (s *soak) empty() {
	dir := filepath.Join(s.base, "work")
	must.Succeed(s, errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o777)))
}

// undisturbed runs a command for the first time, and keeps what it writes.
func (s *soak) undisturbed(args string) map[string][]byte {
	if want := s.whole[args]; want != nil {
		return want
	}
	s.empty()
	began := time.Now()
	if status, stderr := s.process(soakAttack{}, args); status != exitDone || stderr != "" {
		s.Fatalf("belsim %s: exit code %d: %s", args, status, stderr)
	}
	s.took[args], s.whole[args] = time.Since(began), s.wrote()
	return s.whole[args]
}

// make is a new attack of a kind.
func (s *soak) make(args, kind string) soakAttack {
	a := soakAttack{kind: kind, codes: []int{exitDone, exitEnvironment}}
	r, largest := s.random, 0
	for _, content := range s.whole[args] {
		largest = max(largest, len(content))
	}
	switch kind {
	case "kill":
		a.at = time.Duration(1.2 * r.Float64() * float64(s.took[args]))
		a.signal = []syscall.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT}[r.IntN(4)]
		a.codes = []int{exitDone, exitSignal + int(a.signal)}
	case "file size":
		a.before = fmt.Sprintf("ulimit -f %d &&", r.IntN(largest/512+2))
	case "descriptors":
		a.before = fmt.Sprintf("ulimit -n %d &&", 4+r.IntN(12))
	case "address space": // the runtime takes 1.6 GiB where it uses two processors, and crashes where it has less
		a.before = fmt.Sprintf("export GOMAXPROCS=2 && ulimit -v %d &&", (1800+r.IntN(512))<<10)
		a.codes = append(a.codes, exitSignal+int(syscall.SIGABRT))
	case "standard output": // nobody reads it
		reader, writer, err := os.Pipe()
		must.Succeed(s, errors.Join(err, reader.Close()))
		a.stdout, a.codes = writer, []int{exitDone, exitSignal + int(syscall.SIGPIPE)}
	}
	return a
}

// attack runs a command under an attack, checks what is there, and runs it again without one.
func (s *soak) attack(args, kind string) {
	want := s.undisturbed(args)
	s.empty()
	old := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if strings.HasSuffix(name, ".jsonl") || s.random.IntN(2) == 0 {
			continue // a sweep would go on from what it finds
		}
		old[name] = []byte("old " + name + "\n")
		path := filepath.Join(s.base, "work", name)
		must.Succeed(s, errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, old[name], 0o666)))
	}
	a := s.make(args, kind)
	if a.stdout != nil {
		defer a.stdout.Close()
	}
	status, stderr := s.process(a, args)
	if s.ends[kind] == nil {
		s.ends[kind] = map[int]int{}
	}
	s.ends[kind][status]++
	bad := func(format string, more ...any) {
		s.Errorf("%v: belsim %s: exit code %d, standard error %.500q: %s", a, args, status, stderr,
			fmt.Sprintf(format, more...))
	}
	if !slices.Contains(a.codes, status) {
		bad("want one of the exit codes %v", a.codes)
	}
	crashed := status == exitSignal+int(syscall.SIGABRT) // only where there is no address space
	if lines := strings.Count(stderr, "\n"); !crashed &&
		(lines > 1 || lines == 1 && !strings.HasPrefix(stderr, "belsim: ") || lines == 0 && status == exitEnvironment) {
		bad("want one line that says what is wrong")
	}
	got := s.wrote()
	for name, content := range got {
		switch before, there := old[name]; {
		case want[name] == nil:
			bad("the file %s is nobody's", name)
		case bytes.Equal(content, want[name]):
		case there && bytes.Equal(content, before):
		case !s.partial(args, content):
			bad("%s is neither the old file nor a new one", name)
		}
	}
	for name := range old {
		if got[name] == nil {
			bad("%s is missing", name)
		}
	}
	if next, stderr := s.process(soakAttack{}, args); next != exitDone || stderr != "" {
		bad("the next run: exit code %d, standard error %q", next, stderr)
	}
	got = s.wrote()
	for name, content := range want {
		if !bytes.Equal(got[name], content) && !strings.HasPrefix(args, "sweep ") { // whose lines have times
			bad("the next run writes another %s", name)
		}
	}
	if len(got) != len(want) {
		bad("%d files after the next run; want %d", len(got), len(want))
	}
}

// partial reports whether a file is what a command has found until it was interrupted, and whole:
// lines of a table, or JSON.
func (s *soak) partial(args string, content []byte) bool {
	if !strings.HasPrefix(args, "sweep ") && !strings.HasPrefix(args, "optimize ") ||
		!bytes.HasSuffix(content, []byte("\n")) {
		return false
	}
	for line := range bytes.Lines(content) {
		if strings.HasPrefix(args, "sweep ") && !json.Valid(line) {
			return false
		}
	}
	return content[0] != '{' || strings.HasPrefix(args, "sweep ") || json.Valid(content)
}
