package main

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"belsim/theory/base/must"
)

// soakCommand is a command line that the soak test attacks, without the name of the program. It
// runs in a folder of its own, beside the inputs.
type soakCommand struct {
	args string
	// varies says that results differ from run to run: they have times in them.
	varies bool
	// keeps says that an interrupted command writes what it has found.
	keeps bool
	// large says that the command needs much memory. Only attacks on memory take it.
	large bool
}

// soakCommands are all commands that write files, with every ending that each of them can write.
var soakCommands = []soakCommand{
	{args: "codes hexj --levels 16 -o a.csv -o a.npy -o a.json -o a.png -o a.svg -o a.pdf"},
	{args: "codes --format json -o list.json"},
	{args: "compare unary johnson --levels 16 --samples 300 --backend cpu -q -o c.csv -o c.json -o c.png -o c.svg -o c.pdf"},
	{args: "heatmap unary johnson --levels 16 --r 0.5:2:3 --sigma 1:3:3 -q -o h.csv -o h.npy -o h.json -o h.png -o h.svg -o h.pdf"},
	{args: "verify --code unary --levels 16 --samples 300 --backend cpu -q -o v.csv -o v.json -o v.png -o v.svg -o v.pdf"},
	{args: "fit --code ../code.csv --targets ../y.csv --outputs bits:../z.csv --samples 100 --fit-decoder -q -o f.csv -o f.json -o f.npy -o f.npz -o f.png -o f.svg -o f.pdf -o f.html"},
	{args: "fit --code unary --targets ../packed.npz:levels --outputs ../packed.npz:fortran --samples 100 -q -o n.json -o n.csv"},
	{args: "decode --decoder gen-ex --code ../code.csv --outputs ../z.csv -q -o d.npy"},
	{args: "optimize --levels 16 --bits 6 --steps 2000 --samples 200 --backend cpu -q --r 1 --sigma 2 -o o.csv -o o.npy -o o.json -o o.png", keeps: true},
	{args: "optimize --levels 8 --pareto --bits 4:6:3 --steps 500 --samples 100 --backend cpu -q --keep kept -o p.csv -o p.json -o p.svg", keeps: true},
	{args: "figures --only 7 --quick -q -o figs"},
	{args: "bench --time 1ms --backend cpu -q -o b.csv -o b.json", varies: true},
	{args: "sweep ../soak.json --out results --flush-every 1ms --backend cpu -q", varies: true},
	{args: "merge ../found -o m.csv -o m.json -o m.png -o m.svg -o m.pdf"},

	{args: "codes unary --levels 4096 -o big.json", large: true},
	{args: "verify --code unary --levels 2048 --random --samples 10 --backend cpu -q -o random.json", large: true},
}

// soak attacks commands, and counts how they end.
type soak struct {
	*testing.T
	random *rand.Rand
	base   string                       // the folder of the inputs
	disk   string                       // a file system that can be filled, or ""
	group  string                       // a control group whose memory can be limited, or ""
	whole  map[string]map[string][]byte // the files that a command writes, by its arguments
	took   map[string]time.Duration     // how long it takes
	merged string                       // what the results of the sweep give
	ends   map[string]map[int]int       // how many attacks of a kind gave each exit code
	temps  int                          // temporary files that were left, and cleaned up
}

// soakAttack is one attack.
type soakAttack struct {
	kind    string
	before  string           // a shell runs it first
	signals []syscall.Signal // what is sent to the process, the second one later
	at      time.Duration    // when
	twin    bool             // another process does the same at the same time
	stdout  *os.File
	codes   []int // the exit codes that may come of it
}

func (a soakAttack) String() string {
	return fmt.Sprintf("%s %q %v after %v, twin %v", a.kind, a.before, a.signals, a.at, a.twin)
}

// TestSoak kills commands at random times, fills their disks, takes memory, open files and
// standard output from them, changes bits of what they read, and gives it names that a terminal
// would obey. No file under a final name may be lost or half-written, the exit
// code must be the documented one, and the next run must clean up. The attacks come from a seed,
// BELSIM_SOAK_SEED or 1; the moments of kills are as exact as the machine is. No check depends
// on when a kill comes. Hundreds of attacks, with BELSIM_LONG=1 alone.
func TestSoak(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals and no limits of processes")
	}
	if !long {
		t.Skip("takes minutes; BELSIM_LONG=1 runs it")
	}
	seed, rounds := uint64(1), 8
	for name, set := range map[string]func(int){"SEED": func(n int) { seed = uint64(n) }, "ROUNDS": func(n int) { rounds = n }} {
		if text := os.Getenv("BELSIM_SOAK_" + name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				t.Fatalf("BELSIM_SOAK_%s=%q: want a number", name, text)
			}
			set(n)
		}
	}
	t.Logf("seed %d, %d rounds", seed, rounds)
	inFolderWithInputs(t)
	base := must.Get(os.Getwd())(t)
	s := &soak{
		T: t, random: rand.New(rand.NewPCG(seed, 0)), base: base,
		whole: map[string]map[string][]byte{}, took: map[string]time.Duration{}, ends: map[string]map[int]int{},
	}
	packed := content(t, filepath.Join(root, "theory/base/arrayfile/testdata/arrays-compressed.npz"))
	write(t, "packed.npz", packed)
	write(t, "soak.json", `{"codes": ["unary", "johnson"], "levels": [8], "r": "1:2:3", "sigma": "1:2:3", "methods": ["exact", "mc"], "samples": 5000}`)
	mustRun(t, "sweep", "-q", "--backend", "cpu", "soak.json", "--out", "found")
	makeSoakInputs(t)
	for _, folder := range []string{"work", "tmp"} {
		must.Succeed(t, os.Mkdir(folder, 0o777))
	}
	if disk := filepath.Join(base, "disk"); mounted(t, disk, "size=64m") == nil {
		s.disk = disk
	}
	s.group = s.controlGroup()
	t.Logf("a disk to fill: %v, a control group: %v", s.disk != "", s.group != "")

	kinds := []string{"kill", "twin", "file size", "descriptors", "address space", "standard output"}
	if s.disk != "" {
		kinds = append(kinds, "full disk")
	}
	if s.group != "" {
		kinds = append(kinds, "control group")
	}
	for round := range rounds {
		s.attackInputs()
		for _, c := range soakCommands {
			switch {
			case c.large && round%4 == 0:
				for _, kind := range kinds {
					if kind == "address space" || kind == "control group" {
						s.attack(c, kind)
					}
				}
			case c.large:
			default:
				s.attack(c, "kill")
				s.attack(c, kinds[s.random.IntN(len(kinds))])
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d, round %d", seed, round)
		}
	}
	total := 0
	for _, kind := range slices.Sorted(maps.Keys(s.ends)) {
		n := 0
		for _, m := range s.ends[kind] {
			n += m
		}
		total += n
		t.Logf("%-16s %4d attacks, exit codes (code:attacks) %v", kind, n, s.ends[kind])
	}
	t.Logf("%d attacks, %d temporary files were left and removed by the next run", total, s.temps)
	if n := s.ends["kill"]; 20*(n[exitSignal+9]+n[exitSignal+2]+n[exitSignal+15]) < len(soakCommands)*rounds {
		t.Errorf("nearly all commands had ended before they were killed: %v", n)
	}
}

// controlGroup makes a control group of either version, where that is allowed.
func (s *soak) controlGroup() (folder string) {
	for _, parent := range []string{"/sys/fs/cgroup/memory", "/sys/fs/cgroup"} {
		folder = filepath.Join(parent, fmt.Sprintf("belsim-soak-%d", os.Getpid()))
		if os.Mkdir(folder, 0o777) != nil {
			continue
		}
		s.Cleanup(func() {
			for range 100 { // the kernel may need a moment after the last process
				if os.Remove(folder) == nil {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			s.Errorf("%s cannot be removed", folder)
		})
		if s.limitGroup(folder, 1<<30) == nil {
			return folder
		}
	}
	return ""
}

// limitGroup sets how much memory a control group has.
func (s *soak) limitGroup(folder string, bytes int) error {
	text := []byte(fmt.Sprint(bytes))
	for _, name := range []string{"memory.limit_in_bytes", "memory.max"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			return os.WriteFile(filepath.Join(folder, name), text, 0)
		}
	}
	return errors.New("no limit of memory")
}

// process runs a command to its end, and returns its exit code as a shell calls it.
func (s *soak) process(dir string, a soakAttack, args []string) (status int, stderr string) {
	var before []string
	if a.before != "" {
		before = afterShell("ulimit -c 0; " + a.before)
	}
	cmd := command(s, dir, before, args...)
	cmd.Env = append(cmd.Env, "TMPDIR="+filepath.Join(s.base, "tmp"))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if a.stdout != nil {
		cmd.Stdout = a.stdout
	}
	must.Succeed(s, cmd.Start())
	ended := make(chan struct{})
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		wait := a.at
		for _, signal := range a.signals {
			select {
			case <-time.After(wait):
				cmd.Process.Signal(signal) // it may have ended
			case <-ended:
				return
			}
			wait = 150 * time.Millisecond // sooner, two are one
		}
	}()
	late := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	cmd.Wait()
	close(ended)
	<-sent
	if !late.Stop() {
		s.Errorf("%v: belsim %s: does not end", a, strings.Join(args, " "))
	}
	state, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && state.Signaled() {
		return 128 + int(state.Signal()), errs.String()
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

// empty removes what is in a folder.
func (s *soak) empty(dir string) {
	for _, e := range must.Get(os.ReadDir(dir))(s) {
		must.Succeed(s, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
}

// undisturbed runs a command for the first time, and keeps what it writes.
func (s *soak) undisturbed(c soakCommand) map[string][]byte {
	if want := s.whole[c.args]; want != nil {
		return want
	}
	dir := filepath.Join(s.base, "work")
	s.empty(dir)
	began := time.Now()
	if status, stderr := s.process(dir, soakAttack{}, strings.Fields(c.args)); status != exitDone || stderr != "" {
		s.Fatalf("belsim %s: exit code %d: %s", c.args, status, stderr)
	}
	s.took[c.args] = time.Since(began)
	want := filesIn(s, dir)
	if len(want) == 0 {
		s.Fatalf("belsim %s writes nothing", c.args)
	}
	for name, content := range want {
		if err := wholeFile(name, content); err != nil {
			s.Fatalf("belsim %s: %s: %v", c.args, name, err)
		}
	}
	s.whole[c.args] = want
	if strings.HasPrefix(c.args, "sweep ") {
		s.merged = mergedBytes(s.T, filepath.Join(dir, "results"))
	}
	return want
}

// make is a new attack of a kind, on a command in a folder.
func (s *soak) make(c soakCommand, kind, dir string) soakAttack {
	a := soakAttack{kind: kind, codes: []int{exitDone, exitEnvironment}}
	r := s.random
	var need int64
	largest := 0
	for _, content := range s.whole[c.args] {
		largest = max(largest, len(content))
		need += int64(len(content))/4096 + 1
	}
	switch kind {
	case "kill", "twin":
		a.twin = kind == "twin"
		a.at = time.Duration(1.2 * r.Float64() * float64(s.took[c.args]))
		first := []syscall.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT}[r.IntN(4)]
		a.signals = []syscall.Signal{first}
		if r.IntN(4) == 0 {
			a.signals = append(a.signals, []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[r.IntN(2)])
		}
		a.codes = []int{exitDone}
		for _, signal := range a.signals {
			a.codes = append(a.codes, 128+int(signal))
		}
	case "full disk":
		var used syscall.Statfs_t
		must.Succeed(s, syscall.Statfs(dir, &used))
		options := fmt.Sprintf("remount,size=%d", max(int64(used.Blocks-used.Bfree)+r.Int64N(need+4), 1)*int64(used.Bsize)) // 0 would be any size
		if r.IntN(4) == 0 {                                                                                                 // no room for names
			options = fmt.Sprintf("remount,nr_inodes=%d", int64(used.Files-used.Ffree)+r.Int64N(int64(len(s.whole[c.args])+4)))
		}
		a.before = fmt.Sprintf("mount -o %s %s &&", options, dir)
	case "file size":
		a.before = fmt.Sprintf("ulimit -f %d &&", r.IntN(largest/512+2))
	case "descriptors":
		a.before = fmt.Sprintf("ulimit -n %d &&", 4+r.IntN(12))
	case "address space":
		// The runtime takes 1.6 GiB where it uses two processors, and crashes where it has less.
		most := 256 // MiB
		if c.large {
			most = 1024
		}
		a.before = fmt.Sprintf("export GOMAXPROCS=2 && ulimit -v %d &&", (1800+r.IntN(most))<<10)
		a.codes = append(a.codes, 128+int(syscall.SIGABRT))
	case "control group":
		least, most := 48, 160 // MiB
		if c.large {
			least, most = 64, 320
		}
		must.Succeed(s, s.limitGroup(s.group, (least+r.IntN(most-least))<<20))
		a.before = fmt.Sprintf("echo $$ > %s/cgroup.procs &&", s.group)
		a.codes = append(a.codes, 128+int(syscall.SIGKILL))
	case "standard output":
		var err error
		if r.IntN(2) == 0 {
			if a.stdout, err = os.OpenFile("/dev/full", os.O_WRONLY, 0); err == nil {
				break
			}
		}
		var reader *os.File
		if reader, a.stdout, err = os.Pipe(); err != nil {
			s.Fatal(err)
		}
		reader.Close()
		a.codes = []int{exitDone, 128 + int(syscall.SIGPIPE)}
	default:
		s.Fatalf("no attack %q", kind)
	}
	return a
}

// attack runs a command under an attack, checks what is there, and runs it again without one.
func (s *soak) attack(c soakCommand, kind string) {
	want := s.undisturbed(c)
	args := strings.Fields(c.args)
	dir := filepath.Join(s.base, "work")
	if kind == "full disk" {
		dir = s.disk
		remount(s, dir, "size=64m,nr_inodes=10000")
	}
	s.empty(dir)
	old := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if strings.HasSuffix(name, ".jsonl") || s.random.IntN(2) == 0 {
			continue // what a sweep finds is no old content: it goes on from it
		}
		old[name] = []byte("old " + name + "\n")
		path := filepath.Join(dir, name)
		must.Succeed(s, errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, old[name], 0o666)))
	}
	a := s.make(c, kind, dir)
	if a.stdout != nil {
		defer a.stdout.Close()
	}
	type end struct {
		status int
		stderr string
	}
	twin := make(chan end, 1)
	if a.twin {
		go func() {
			status, stderr := s.process(dir, soakAttack{kind: "the twin"}, args)
			twin <- end{status, stderr}
		}()
	} else {
		twin <- end{}
	}
	status, stderr := s.process(dir, a, args)
	s.count(kind, status)
	bad := func(format string, args ...any) {
		s.Errorf("%v: belsim %s: exit code %d, standard error %.500q: %s", a, c.args, status, stderr, fmt.Sprintf(format, args...))
	}
	if other := <-twin; other.status != exitDone || other.stderr != "" {
		bad("the twin: exit code %d, standard error %q", other.status, other.stderr)
	}
	if !slices.Contains(a.codes, status) {
		bad("want one of the exit codes %v", a.codes)
	}
	crashed := status == 128+int(syscall.SIGABRT) // only where there is no address space
	if lines := strings.Count(stderr, "\n"); !crashed && (lines > 1 || lines == 1 && !strings.HasPrefix(stderr, "belsim: ") || lines == 0 && status == exitEnvironment) {
		bad("want one line that says what is wrong")
	}

	// What is there is old or new.
	got := filesIn(s, dir)
	interrupted := status == exitSignal+int(syscall.SIGINT) || status == exitSignal+int(syscall.SIGTERM)
	ended := status > exitSignal && (!interrupted || len(a.signals) > 1 || !strings.Contains(stderr, "written") && !strings.Contains(stderr, "finished") || strings.Contains(stderr, "temporary names"))
	changed := 0
	for name, content := range got {
		if _, ok := want[name]; !ok {
			switch {
			case !temporaryOf(name, want):
				bad("the file %s is nobody's", name)
			case !ended:
				bad("the temporary file %s was left", name)
			default:
				s.temps++
			}
			continue
		}
		if before, ok := old[name]; ok && bytes.Equal(content, before) && !a.twin && status != exitDone {
			continue
		}
		changed++
		if err := s.newFile(c, name, content, interrupted); err != nil {
			bad("%s: %v", name, err)
		}
	}
	for name := range want {
		_, before := old[name]
		if _, ok := got[name]; !ok && (before || status == exitDone || a.twin) {
			bad("%s is missing", name)
		}
	}
	if changed > 0 && !a.twin && strings.Contains(stderr, "nothing was written") {
		bad("%d files have changed", changed)
	}
	for name, content := range filesIn(s, filepath.Join(s.base, "tmp")) {
		if len(content) > 0 || !ended { // between making it and removing its name
			bad("the file %s was left in TMPDIR", name)
		}
	}
	s.empty(filepath.Join(s.base, "tmp"))

	// The next run finishes the work, and cleans up.
	if kind == "full disk" {
		remount(s, dir, "size=64m,nr_inodes=10000")
	}
	if next, stderr := s.process(dir, soakAttack{kind: "the next run"}, args); next != exitDone || stderr != "" {
		bad("the next run: exit code %d, standard error %q", next, stderr)
	}
	got = filesIn(s, dir)
	for name, content := range got {
		if _, ok := want[name]; !ok {
			bad("%s is left after the next run", name)
		} else if err := s.newFile(c, name, content, false); err != nil {
			bad("%s after the next run: %v", name, err)
		}
	}
	if len(got) < len(want) {
		bad("%d files after the next run; want %d", len(got), len(want))
	}
	if strings.HasPrefix(c.args, "sweep ") && mergedBytes(s.T, filepath.Join(dir, "results")) != s.merged {
		bad("other results after the next run")
	}
}

// newFile checks a file that an attacked command has written.
func (s *soak) newFile(c soakCommand, name string, content []byte, interrupted bool) error {
	if err := wholeFile(name, content); err != nil || c.varies || c.keeps && interrupted {
		return err
	}
	if want := s.whole[c.args][name]; !bytes.Equal(content, want) {
		return fmt.Errorf("%d bytes, %.60q…; an undisturbed run writes %d, %.60q…", len(content), content, len(want), want)
	}
	return nil
}

// temporaryOf reports whether a name is the one of a temporary file of an output.
func temporaryOf(name string, outputs map[string][]byte) bool {
	for output := range outputs {
		if filepath.Dir(output) == filepath.Dir(name) && strings.HasPrefix(filepath.Base(name), "."+filepath.Base(output)+".") && strings.HasSuffix(name, ".tmp") {
			return true
		}
	}
	return false
}

// wholeFile returns an error where a file ends early, or is not what its name says.
func wholeFile(name string, content []byte) error {
	ends := func(text string) error {
		if !bytes.HasSuffix(content, []byte(text)) {
			return fmt.Errorf("does not end in %q", text)
		}
		return nil
	}
	switch format(name) {
	case "csv":
		_, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
		return errors.Join(err, ends("\n"))
	case "json":
		return json.Unmarshal(content, new(any))
	case "jsonl":
		for line := range bytes.Lines(content) {
			if err := json.Unmarshal(line, new(any)); err != nil {
				return err
			}
		}
		return ends("\n")
	case "npy":
		head, body, ok := bytes.Cut(content, []byte("\n"))
		m := regexp.MustCompile(`'descr': '.[a-z](\d)', .*'shape': \((\d+),(?: (\d+))?\)`).FindSubmatch(head)
		if !ok || m == nil {
			return fmt.Errorf("no header of .npy: %.80q", content)
		}
		size := 1
		for _, text := range m[1:] {
			if text == nil { // one dimension
				continue
			}
			n, err := strconv.Atoi(string(text))
			if err != nil {
				return err
			}
			size *= n
		}
		if size != len(body) {
			return fmt.Errorf("%d bytes of numbers; want %d", len(body), size)
		}
		return nil
	case "npz":
		z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		for i := 0; err == nil && i < len(z.File); i++ {
			var r io.ReadCloser
			if r, err = z.File[i].Open(); err == nil {
				_, err = io.Copy(io.Discard, r) // with its checksum
			}
		}
		return err
	case "png":
		_, err := png.Decode(bytes.NewReader(content))
		return err
	case "svg":
		for d := xml.NewDecoder(bytes.NewReader(content)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
		}
	case "pdf":
		return ends("%%EOF\n")
	case "html":
		return ends("</html>\n")
	}
	return fmt.Errorf("no file of belsim ends in .%s", format(name))
}

// TestAttacks: every test in the table of attacks in CONTRIBUTING.md exists.
func TestAttacks(t *testing.T) {
	text := content(t, filepath.Join(root, "CONTRIBUTING.md"))
	var tests []byte
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		tests = append(append(tests, '\n'), source...)
		return err
	})
	must.Succeed(t, err)
	rows := regexp.MustCompile("(?m)^\\| (.*) \\| `((?:Test|Fuzz).*)` \\|$").FindAllStringSubmatch(text, -1)
	if len(rows) < 10 {
		t.Fatalf("%d rows; want at least 10", len(rows))
	}
	for _, row := range rows {
		prefix, names, _ := strings.Cut(strings.ReplaceAll(strings.TrimSuffix(row[2], ")"), `\|`, "|"), "(")
		for _, name := range strings.Split(names, "|") {
			if !regexp.MustCompile(`(?m)^func ` + prefix + name + `\(`).Match(tests) {
				t.Errorf("%s: there is no test %s%s", row[1], prefix, name)
			}
		}
	}
}
