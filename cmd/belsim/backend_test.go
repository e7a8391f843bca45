package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"belsim/montecarlo/bench"
	"belsim/theory/base/must"
)

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
