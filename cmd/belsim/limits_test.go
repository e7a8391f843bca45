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
	"sync"
	"syscall"
	"testing"
	"time"

	"belsim/montecarlo/bench"
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
		"codes " + big:                                 "big.npy needs 11.9 GiB of memory",
		"compare unary --errors " + big:                "big.npy needs 11.9 GiB of memory",
		"compare hadamard --levels 65536":              "the bit transitions of hadamard needs 16.0 GiB of memory",
		"compare onehot --levels 65536 --decoder best": "the decoder best of onehot needs 32.0 GiB of memory",
		"heatmap hadamard unary --levels 65536":        "the bit transitions of hadamard needs 16.0 GiB of memory",
		"heatmap --r 1:9:10000 --sigma 1:9:10000":      "a map of 10000 × 10000 cells needs",
		"verify --code unary --levels 65536 --random":  "a random table of error probabilities needs 32.0 GiB",
		"optimize --levels 65536 --bits 64":            "a search for 65536 levels and 64 bits needs",
	}
	if !long { // one file and one computation
		few := []string{"codes " + big, "compare hadamard --levels 65536"}
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
	"optimize --levels 16 --bits 6 --steps 2000 -q --r 1 --sigma 2 -o o.csv -o o.json",
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
		a.before = fmt.Sprintf("ulimit -n %d &&", 8+r.IntN(8))
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

// TestMain makes the test binary a belsim when it is told so: the tests of
// devices need a process of its own, whose loader finds another driver.
func TestMain(m *testing.M) {
	if os.Getenv("BELSIM_TEST_MAIN") != "" { // as main does
		if err := prepare(); err != nil {
			fmt.Fprintln(os.Stderr, "belsim:", err)
			os.Exit(exitEnvironment)
		}
		env := newEnvironment(os.Args[1:], os.Stdout, os.Stderr)
		env.moment = time.Millisecond
		if os.Getenv("BELSIM_TEST_PATIENT") != "" {
			env.grace = time.Hour
		}
		os.Exit(env.belsim())
	}
	// A machine that is busy takes half a minute for some commands, whose standard error is compared.
	if err := os.Setenv("BELSIM_PROGRESS", "1h"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitEnvironment)
	}
	os.Exit(m.Run())
}

// command is belsim as a process of its own, in a folder. What is in before runs it: a program,
// with arguments to which belsim and its own are added. A test whose commands are all processes can
// run beside others.
func command(t testing.TB, dir string, before []string, args ...string) *exec.Cmd {
	t.Helper()
	exe := must.Get(os.Executable())(t)
	all := append(append(before[:len(before):len(before)], exe), args...)
	cmd := exec.Command(all[0], all[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "BELSIM_TEST_MAIN=1")
	return cmd
}

// afterShell is what runs belsim in the place of a shell that has run a script.
func afterShell(script string) []string {
	return []string{"sh", "-c", script + ` exec "$0" "$@"`}
}

// process runs belsim in a process of its own to its end, in an empty folder.
func process(t *testing.T, env []string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	cmd := command(t, t.TempDir(), nil, words(args)...)
	cmd.Env = append(cmd.Env, env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// long says that the tests leave nothing out, as in CI: see CONTRIBUTING.md.
var long = os.Getenv("BELSIM_LONG") != ""

// errNoCompiler says that there is no C++ compiler that works.
var errNoCompiler = errors.New("no C++ compiler works here (the variable CXX names one, c++ is looked for without it)")

// driverLibrary compiles the library of emulatedDriver.
var driverLibrary = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "belsim")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "libcuda.so.1")
	out, err := exec.Command("sh", filepath.Join(root, "gpu/testdata/emulator/build.sh"), path).CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 77 {
		return nil, errNoCompiler
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return os.ReadFile(path)
})

// emulatedDriver makes a library in the place of NVIDIA's driver, which runs the
// kernels on the host, and returns the environment in which the loader finds it.
func emulatedDriver(t *testing.T) []string {
	t.Helper()
	if runtime.GOOS != "linux" || !cgo {
		t.Skip("devices need Linux and cgo")
	}
	library, err := driverLibrary()
	if errors.Is(err, errNoCompiler) && !long {
		t.Skipf("there is no emulated device: %v", err)
	}
	must.Succeed(t, err)
	folder := t.TempDir()
	write(t, filepath.Join(folder, "libcuda.so.1"), string(library))
	return []string{"LD_LIBRARY_PATH=" + folder}
}

// TestBackends: the backend never changes a byte, and what a missing or failing
// device means depends on --backend alone. The first command loses its device
// at more calls with BELSIM_LONG=1.
func TestBackends(t *testing.T) {
	t.Parallel()
	driver := emulatedDriver(t)
	for i, args := range []string{
		"compare hexj unary b1jdj gray --levels 8 --samples 20000 --format json",
		"heatmap unary johnson --levels 15 --r 0.2:2:4 --sigma 1:4:3 --method mc --samples 200 --format json",
	} {
		fields := strings.Fields(args)
		status, want, stderr := process(t, nil, append(fields, "--backend", "cpu")...)
		if status != 0 || stderr != "" {
			t.Fatalf("%s on the CPU: exit %d, %s", args, status, stderr)
		}
		want = strings.ReplaceAll(want, "--backend cpu", "")
		check := func(what string, env []string, backend, note string) {
			t.Helper()
			status, got, stderr := process(t, env, append(fields, "--backend", backend)...)
			if status != 0 || strings.ReplaceAll(got, "--backend "+backend, "") != want {
				t.Errorf("%s %s: exit %d and other output than on the CPU, standard error %q", args, what, status,
					stderr)
			}
			if note == "" && stderr != "" || !strings.Contains(stderr, note) || strings.Count(stderr, "\n") > 1 {
				t.Errorf("%s %s: standard error %q, want one line with %q", args, what, stderr, note)
			}
		}
		check("with a device", driver, "cuda", "")
		check("with a device", driver, "auto", "")
		check("with a device whose kernel 5 is wrong", append(driver, "BELSIM_EMULATOR_WRONG=5"), "auto", noDevice)
		// The driver's calls 1 to 30 open the device, those up to 345 sample the known problems.
		calls := []int{1, 8, 12, 20, 30, 40, 345, 347, 350}
		if i > 0 || !long {
			calls = []int{8, 40, 350}
		}
		for _, at := range calls {
			env := append(driver, fmt.Sprint("BELSIM_EMULATOR_FAIL_AT=", at))
			check(fmt.Sprintf("with a device that is lost at call %d", at), env, "auto", noDevice)
			status, got, stderr := process(t, env, append(fields, "--backend", "cuda")...)
			if status != exitEnvironment || got != "" || strings.Count(stderr, "\n") != 1 ||
				!strings.HasPrefix(stderr, "belsim: backend cuda: ") ||
				!strings.Contains(stderr, "CUDA_ERROR_UNKNOWN (unknown error)") {
				t.Errorf("%s with a device that is lost at call %d: exit %d, standard error %q", args, at, status,
					stderr)
			}
		}
	}
}

// TestNoDriver: on a machine without a device auto says nothing, bench says so in one line, and
// cuda refuses.
func TestNoDriver(t *testing.T) {
	t.Parallel()
	status, _, stderr := process(t, nil, "verify --levels 7 --samples 100 --backend cuda")
	if status == 0 {
		t.Skip("there is a device here")
	}
	if status != exitEnvironment || strings.Count(stderr, "\n") != 1 ||
		!strings.HasPrefix(stderr, "belsim: backend cuda: ") {
		t.Errorf("cuda: exit %d, %q; want 3 and one line", status, stderr)
	}
	status, _, stderr = process(t, nil, "bench")
	if status != 0 || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, noDevice) {
		t.Errorf("bench: exit %d, %q; want 0 and one line", status, stderr)
	}
	for _, args := range [][]string{
		{"compare", "--levels", "7", "--samples", "100"},
		{"compare", "--levels", "7", "--samples", "100", "--backend", "cpu"},
		{"compare", "--levels", "7", "--samples", "100", "--quiet"},
		{"heatmap", "--r", "1:2:2", "--sigma", "2:3:2"}, // samples nothing
	} {
		if status, _, stderr = process(t, nil, args...); status != 0 || stderr != "" {
			t.Errorf("%v: exit %d, %q; want silence", args, status, stderr)
		}
	}
}

// TestBench: every workload is measured on every backend, and the files have the
// numbers that are printed.
func TestBench(t *testing.T) {
	t.Chdir(t.TempDir())
	want := len(bench.Workloads())
	if out := mustRun(t, "bench --backend cpu -o b.csv -o b.json"); strings.Count(out, "\n") != want+1 {
		t.Errorf("table:\n%s", out)
	}
	var got benchmark
	readJSON(t, "b.json", &got)
	rows := readCSV(t, "b.csv")[1:]
	if len(got.Results) != want || len(rows) != want {
		t.Fatalf("%d results and %d rows, want %d", len(got.Results), len(rows), want)
	}
	for i, r := range got.Results {
		want := r
		want.Backend, want.Rate = "cpu", parse(t, rows[i][13])
		must.Equal(t, r.Design.Code, want, r)
		must.Within(t, "rate × time / samples", r.Rate*r.Seconds/float64(r.Samples), 1-1e-9, 1+1e-9)
		if r.Samples%uint64(r.Levels) != 0 {
			t.Errorf("%d samples are not as many of each of %d levels", r.Samples, r.Levels)
		}
	}
	write(t, "plan.json", `{"codes":["unary"],"levels":[8],"r":"0.5","sigma":"1","methods":["exact","mc"],"samples":100}`)
	out := mustRun(t, "bench plan.json --backend cpu")
	if !strings.Contains(out, "\n\nplan.json takes about ") || strings.Count(out, " cpu\n") != 2 {
		t.Errorf("the time of a plan:\n%s", out)
	}
}

// TestBenchDevice: bench names the device that it measures. The emulated one is slow.
func TestBenchDevice(t *testing.T) {
	if !long {
		t.Skip("left out without BELSIM_LONG=1")
	}
	t.Parallel()
	status, stdout, stderr := process(t, emulatedDriver(t), "bench --backend cuda")
	if status != 0 || stderr != "" || strings.Count(stdout, "emulated device") != len(bench.Workloads()) {
		t.Errorf("exit %d, %q\n%s", status, stderr, stdout)
	}
}
