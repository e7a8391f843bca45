package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
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
