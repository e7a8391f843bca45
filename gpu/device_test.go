//go:build linux && cgo

package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/gpu/internal/dl"
	"belsim/gpu/internal/driver"
	"belsim/montecarlo"
	"belsim/montecarlo/tables"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

const placed, hard, soft = montecarlo.IndependentBits, montecarlo.DenseBits, montecarlo.IndependentLogits

// problem is a code under a mixture, or under a random table where r is 0.
func problem(tb testing.TB, name, decoder string, levels int, r, sigma float64,
	kind montecarlo.Kind) *montecarlo.Problem {
	tb.Helper()
	c := must.Get(code.New(name, levels))(tb)
	p := &montecarlo.Problem{Code: c, Decoder: must.Get(decode.New(decoder, c))(tb), Kind: kind, Seed: 1}
	if r > 0 {
		p.Errors = must.Get(errmodel.NewMixture(context.Background(), c, r, sigma))(tb)
		return p
	}
	rng := rand.New(rand.NewPCG(uint64(levels), 7))
	e := mat.NewDense(levels, c.Bits(), nil)
	for i := range levels {
		e.SetRow(i, row(rng, i, c.Bits()))
	}
	p.Errors = e
	return p
}

// row makes the probabilities of row i. The first are special; those of the others are mostly small,
// some zero, some above one half, some equal.
func row(rng *rand.Rand, i, bits int) []float64 {
	e := make([]float64, bits)
	switch i {
	case 0: // no bit errs
	case 1:
		return slices.Repeat([]float64{0.5}, bits)
	case 2: // one bit errs
		e[bits/2] = 1e-300
	case 3: // one bit always errs, one is unsure
		e[0], e[bits-1] = 1, 0.5
	case 4: // the mean number of points is 1 where there is such a probability: two classes weigh the same
		return slices.Repeat([]float64{errorOfHazard(1 / float64(bits))}, bits)
	default:
		scale := []float64{1, 0.1, 1e-3, 1e-9}[rng.IntN(4)]
		for k := range e {
			switch rng.IntN(6) {
			case 0:
			case 1:
				e[k] = 1 - scale*rng.Float64()
			case 2:
				e[k] = scale / 2
			default:
				e[k] = scale * rng.Float64()
			}
		}
	}
	return e
}

// errorOfHazard looks for the probability of a hazard.
func errorOfHazard(h float64) (e float64) {
	var bits tables.Bits
	lo, hi := 0.0, 0.5
	for range 100 {
		e = (lo + hi) / 2
		switch bits.Set(0, []uint64{0}, []float64{e}); {
		case bits.Hazard == h:
			return e
		case bits.Hazard < h:
			lo = e
		default:
			hi = e
		}
	}
	return e
}

// job is work on some spans of a problem.
type job struct {
	problem *montecarlo.Problem
	spans   []montecarlo.Span
}

func jobOf(p *montecarlo.Problem, spans ...montecarlo.Span) job { return job{p, spans} }

// every is work on every so-many-th row, n samples each.
func every(p *montecarlo.Problem, step int, n uint64) job {
	var spans []montecarlo.Span
	for i := 0; i < p.Code.Levels(); i += step {
		spans = append(spans, montecarlo.Span{Row: i, Samples: n})
	}
	return job{p, spans}
}

// sample samples with a backend.
func (j job) sample(ctx context.Context, b montecarlo.Backend, done func(uint64)) ([]montecarlo.Sums, error) {
	sums := make([]montecarlo.Sums, j.problem.Code.Levels())
	return sums, b.Sample(ctx, j.problem, j.spans, sums, done)
}

// suite is what a device must give the sums of the CPU for.
func suite(t *testing.T) map[string]job {
	jobs := map[string]job{}
	for i, tt := range []struct {
		code, decoder string
		levels        int
		r, sigma      float64 // r = 0: a random table
		kind          montecarlo.Kind
		step          int // samples of every step-th row
		n             uint64
	}{
		{"johnson-nonzero", "bel-j", 255, 2, 5, placed, 40, 70000},
		{"unary", "bel-u", 128, 2, 5, placed, 9, 3000},
		{"unary", "bel-u", 300, 3, 90, placed, 30, 2000},
		{"johnson", "bel-j", 1000, 3, 60, placed, 90, 1000},
		{"hexj", "gen", 256, 0.7, 3, placed, 20, 3000},
		{"hadamard", "gen", 256, 0.02, 3, placed, 50, 500},
		{"onehot", "gen", 300, 0.4, 1, placed, 50, 500},
		{"onehot", "gen", 64, 0.9, 3, placed, 16, 1000}, // bits err often
		{"unary", "bel-u", 3, 0, 0, placed, 1, 300},
		{"unary", "bel-u", 17, 0, 0, placed, 1, 3000},
		{"unary", "bel-u", 33, 0, 0, placed, 1, 3000},
		{"unary", "bel-u", 129, 0, 0, placed, 1, 60},
		{"unary", "bel-u", 257, 0, 0, placed, 1, 60},
		{"unary", "bel-u", 258, 0, 0, placed, 1, 60},
		{"unary", "bel-u", 700, 0, 0, placed, 1, 60},
		{"johnson", "bel-j", 200, 0, 0, placed, 2, 300},
		{"b2jdj", "gen", 64, 0, 0, placed, 1, 200},
		{"unary", "gen", 261, 0, 0, placed, 60, 30},
		{"unary", "bel-u", 2, 0.5, 1, placed, 1, 100000},
		{"unary", "gen", 256, 0.5, 3, soft, 30, 5000},
		{"unary", "gen-ex", 256, 0.5, 3, soft, 30, 5000},
		{"johnson", "gen-ex", 64, 0.5, 3, soft, 7, 5000},
		{"hexj", "gen-ex", 256, 0.5, 3, soft, 60, 1000},
		{"hadamard", "gen", 64, 0.02, 3, soft, 20, 500},
		{"hadamard", "gen-ex", 64, 0.02, 3, soft, 20, 500},
		{"unary", "gen-ex", 1201, 2, 30, soft, 300, 500},
		{"johnson", "gen-ex", 40, 0, 0, soft, 3, 300},
		{"b2jdj", "gen", 100, 0.5, 3, hard, 20, 3000},
		{"gray", "gen-ex", 100, 0.3, 3, hard, 20, 1000},
		{"gray", "gen-ex", 256, 0.3, 3, soft, 56, 500}, // a product of two codes
	} {
		p := problem(t, tt.code, tt.decoder, tt.levels, tt.r, tt.sigma, tt.kind)
		p.Seed = uint64(i) << 35
		jobs[fmt.Sprintf("%s, %s, %d levels, r = %v, σ = %v, kind %d", tt.code, tt.decoder, tt.levels, tt.r, tt.sigma,
			tt.kind)] = every(p, tt.step, tt.n)
	}
	// Spans that are empty, far, or cut in any way.
	unary := problem(t, "unary", "bel-u", 40, 0.2, 2, placed)
	johnson, gray := problem(t, "johnson", "bel-j", 40, 0.4, 2, placed), problem(t, "gray", "gen", 40, 0.6, 2, placed)
	hardly, softly := problem(t, "unary", "gen", 32, 0.3, 1.3, hard), problem(t, "unary", "gen", 32, 0.3, 1.3, soft)
	jobs["nothing"] = jobOf(unary)
	for i, p := range []*montecarlo.Problem{unary, johnson, gray, hardly, softly} {
		jobs[fmt.Sprintf("spans %d", i+1)] = jobOf(p, montecarlo.Span{Row: 2}, montecarlo.Span{Row: 0, Samples: 1},
			montecarlo.Span{Row: 9, Samples: 50}, montecarlo.Span{Row: 18, Samples: 65},
			montecarlo.Span{Row: 27, Samples: 70}, montecarlo.Span{Row: 3, Block: 1, Samples: 1000},
			montecarlo.Span{Row: 3, Samples: montecarlo.BlockSize + 65},
			montecarlo.Span{Row: 31, Block: 1<<31 - 1, Samples: 1})
	}
	jobs["long spans"] = jobOf(johnson, montecarlo.Span{Row: 39, Block: 5, Samples: 2*montecarlo.BlockSize + 17})
	return jobs
}

// agree compares a device's sums with the CPU's.
func agree(t *testing.T, b montecarlo.Backend) {
	ctx := context.Background()
	for name, j := range suite(t) {
		t.Run(name, func(t *testing.T) {
			var total, counted uint64
			for _, s := range j.spans {
				total += s.Samples
			}
			want := must.Get(j.sample(ctx, montecarlo.CPU{}, nil))(t)
			sums := must.Get(j.sample(ctx, b, func(n uint64) { counted += n }))(t)
			for k, got := range sums {
				if !reflect.DeepEqual(got, want[k]) {
					t.Fatalf("level %d: device %+v, CPU %+v", k+1, got, want[k])
				}
			}
			if counted != total {
				t.Errorf("%d samples were reported done, want %d", counted, total)
			}
		})
	}
}

// emulated opens the emulator's device, whose release the test's end checks.
func emulated(t *testing.T, m machine) *Device {
	t.Helper()
	cuda := emulate(t)
	cuda.reset(m)
	d := must.Get(open(cuda.Lookup, 0))(t)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if n := cuda.live; n != 0 {
			t.Errorf("%d contexts, modules, streams or allocations were not released", n)
		}
	})
	return d
}

// TestEmulated: the kernels, compiled for the host, give the CPU's sums through
// the whole path that a device takes.
func TestEmulated(t *testing.T) { agree(t, emulated(t, usual)) }

// TestSmallLaunches: how work is cut into launches changes nothing.
func TestSmallLaunches(t *testing.T) {
	d := emulated(t, usual)
	p := problem(t, "johnson", "bel-j", 30, 0.8, 2, placed)
	spans := []montecarlo.Span{{Row: 0, Samples: 300000}, {Row: 7, Samples: 5}, {Row: 29, Samples: 70000}}
	var want []montecarlo.Sums
	for _, n := range []uint64{1, 1000, 65537, 1 << 30} {
		d.pace = n
		sums := make([]montecarlo.Sums, 30)
		must.Succeed(t, d.Sample(context.Background(), p, spans, sums, nil))
		if want == nil {
			want = sums
		}
		for i := range sums {
			if !reflect.DeepEqual(sums[i], want[i]) {
				t.Fatalf("launches of %d samples, level %d: %+v, want %+v", n, i+1, sums[i], want[i])
			}
		}
	}
}

// TestKnownProblems: a device whose kernels answer as the CPU does is taken. If one of them answers
// wrongly, auto says so once and gives the CPU's sums, and cuda fails.
func TestKnownProblems(t *testing.T) {
	cuda := emulate(t)
	j := every(problem(t, "unary", "bel-u", 20, 0.8, 2, placed), 3, 500)
	want := must.Get(j.sample(t.Context(), montecarlo.CPU{}, nil))(t)
	for wrong := range len(kernelNames()) + 1 {
		cuda.reset(usual)
		cuda.wrong = int64(wrong)
		for _, choice := range []Choice{Auto, CUDA} {
			var notes []string
			b := &backend{choice: choice, fallback: func(err error) { notes = append(notes, err.Error()) },
				find: func(workers int) (*Device, error) { return open(cuda.Lookup, workers) }}
			got, err := j.sample(t.Context(), b, nil)
			if (b.device != nil) != (wrong == 0) {
				t.Errorf("kernel %d is wrong: device %v", wrong, b.device)
			}
			must.Succeed(t, b.Close())
			if n := cuda.live; n != 0 {
				t.Errorf("kernel %d is wrong: %d objects were not released", wrong, n)
			}
			if choice == CUDA && wrong > 0 {
				if !errors.Is(err, ErrDevice) || !strings.Contains(err.Error(), "gives other samples of ") {
					t.Errorf("kernel %d is wrong: error %v", wrong, err)
				}
				continue
			}
			must.Succeed(t, err)
			must.Equal(t, fmt.Sprintf("kernel %d is wrong", wrong), want, got)
			if len(notes) != min(wrong, 1) || wrong > 0 && !strings.Contains(notes[0], "gives other samples of ") {
				t.Errorf("kernel %d is wrong: notes %q", wrong, notes)
			}
		}
	}
	cuda.reset(usual)
}

// TestDevice compares a real device with the CPU. It needs one.
func TestDevice(t *testing.T) {
	d, err := find(0)
	if err != nil {
		t.Skipf("no device to test on: %v", err)
	}
	t.Logf("%+v", d.info)
	agree(t, d)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// TestCancel: a context that ends stops the work, and the sums hold whole blocks.
func TestCancel(t *testing.T) {
	d := emulated(t, usual)
	p := problem(t, "unary", "bel-u", 20, 0.8, 2, placed)
	sums := make([]montecarlo.Sums, 20)
	ctx, cancel := context.WithCancel(context.Background())
	var counted uint64
	d.pace = 1 << 17
	err := d.Sample(ctx, p, []montecarlo.Span{{Row: 3, Samples: 1 << 45}}, sums,
		func(n uint64) { counted += n; cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want that of the context", err)
	}
	if sums[3].Samples == 0 || sums[3].Samples != counted || sums[3].Samples%montecarlo.BlockSize != 0 {
		t.Errorf("%d samples in the sums, %d reported; want as many, in whole blocks", sums[3].Samples, counted)
	}
	err = d.Sample(ctx, p, []montecarlo.Span{{Row: 3, Samples: 10}}, sums, nil)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v of a context that has ended", err)
	}
}

// TestOpenErrors: each machine that cannot do it says why.
func TestOpenErrors(t *testing.T) {
	cuda := emulate(t)
	for _, tt := range []struct {
		machine
		want string
	}{
		{machine{-1, 9, 1 << 30}, "no CUDA-capable device is detected"},
		{machine{0, 9, 1 << 30}, "finds no device"},
		{machine{1, 6, 1 << 30}, "emulated device has compute capability 6.0, belsim's kernels need 7.0 or later"},
	} {
		cuda.reset(tt.machine)
		_, err := open(cuda.Lookup, 0)
		must.Refused(t, err, tt.want)
		if n := cuda.live; n != 0 {
			t.Errorf("%+v: %d objects were not released", tt.machine, n)
		}
	}
}

// TestNoDriver: a library that is not there, and one that is no driver.
func TestNoDriver(t *testing.T) {
	must.Refuse(dl.Open("libno-such-driver.so.1"))(t, "libno-such-driver.so.1")
	l, err := dl.Open("libm.so.6")
	if err != nil {
		t.Skip(err)
	}
	must.Refuse(open(l.Lookup, 0))(t, "cuInit")
}

// TestEveryCallFails makes each call of the driver fail in turn, alone and with
// all that come after it, as when a device is lost. Every time the error names
// the call, the sums hold nothing that was not counted, and all is released.
func TestEveryCallFails(t *testing.T) {
	cuda := emulate(t)
	p := problem(t, "onehot", "gen", 260, 0.1, 2, placed) // a kernel with marks, order and reach
	q := problem(t, "unary", "bel-u", 20, 0.8, 2, placed)
	z := problem(t, "unary", "gen", 20, 0.8, 2, hard) // with all kinds of memory
	const lost = 999
	work := func() (opened bool, err error) {
		d, err := open(cuda.Lookup, 0)
		if err != nil {
			return false, err
		}
		defer func() { err = errors.Join(err, d.Close()) }()
		d.pace = 2000 // several launches
		var counted, summed uint64
		for _, j := range []job{
			jobOf(q, montecarlo.Span{Row: 3, Samples: 4000}, montecarlo.Span{Row: 4, Samples: 4000}),
			jobOf(z, montecarlo.Span{Row: 3, Samples: 50}),
			jobOf(p, montecarlo.Span{Row: 3, Samples: 50}), // the slowest
		} {
			sums, failed := j.sample(context.Background(), d, func(n uint64) { counted += n })
			for _, s := range sums {
				summed += s.Samples
			}
			if err = failed; err != nil {
				break
			}
		}
		if counted != summed {
			t.Errorf("%d samples were reported, %d are in the sums", counted, summed)
		}
		if counted != 8100 && err == nil {
			t.Errorf("%d samples and no error", counted)
		}
		return true, err
	}
	cuda.reset(usual)
	if _, err := work(); err != nil {
		t.Fatal(err)
	}
	calls := int(cuda.calls)
	if calls < 60 {
		t.Fatalf("%d calls in all: the test does not reach what it should", calls)
	}
	for _, ever := range []bool{false, true} {
		silent := 0
		for at := 1; at <= calls; at++ {
			cuda.reset(usual)
			cuda.fail(at, lost, ever)
			_, err := work()
			if n := cuda.live; n != 0 {
				t.Fatalf("call %d failed (and later ones: %v): %d objects were not released", at, ever, n)
			}
			if err == nil {
				silent++
				continue
			}
			var failed *driver.Error
			if !errors.As(err, &failed) || failed.Code != lost || !strings.HasPrefix(failed.Call, "cu") ||
				!strings.Contains(err.Error(), "CUDA_ERROR_UNKNOWN (unknown error)") {
				t.Fatalf("call %d failed (and later ones: %v): error %v", at, ever, err)
			}
		}
		// What may fail unnoticed: leaving a context, after opening, three times after sampling,
		// and after closing.
		if silent > 5 {
			t.Errorf("%d failing calls gave no error", silent)
		}
	}
	cuda.reset(usual)
}

// TestMemory: a device with too little memory says how much was wanted, and goes
// on with what fits.
func TestMemory(t *testing.T) {
	d := emulated(t, machine{1, 7, 1 << 20})
	span := montecarlo.Span{Row: 3, Samples: 50}
	for _, levels := range []int{300, 1000} { // 300: 176 KiB for the order and 354 KiB for its reach, of 506 KiB
		p := problem(t, "onehot", "gen", levels, 0.1, 2, placed)
		_, err := jobOf(p, span).sample(t.Context(), d, nil)
		must.Refused(t, err, "GiB")
	}
	_, err := jobOf(problem(t, "unary", "bel-u", 4000, 0.1, 2, placed), span).sample(t.Context(), d, nil)
	must.Refused(t, err, "CUDA_ERROR_OUT_OF_MEMORY (out of memory)", "MiB")
	must.Get(jobOf(problem(t, "unary", "bel-u", 20, 0.1, 2, placed), span).sample(t.Context(), d, nil))(t)
}

// TestRefusals: what is wrong with the input is said before the device is used.
func TestRefusals(t *testing.T) {
	d := emulated(t, usual)
	p := problem(t, "unary", "bel-u", 20, 0, 0, placed)
	sums := make([]montecarlo.Sums, 20)
	bad := *p
	table := mat.DenseCopyOf(p.Errors)
	table.Set(3, 4, math.NaN())
	bad.Errors = table
	other := *p
	other.Decoder = strange{p.Decoder}
	for _, tt := range []struct {
		problem *montecarlo.Problem
		row     int
		sums    []montecarlo.Sums
		want    string
	}{
		{&bad, 3, sums, "e[4,5] = NaN"},
		{&other, 3, sums, "decoder strange"},
		{p, 3, sums[1:], "sums of 19 labels"},
		{p, 20, sums, "row 20"},
	} {
		err := d.Sample(context.Background(), tt.problem, []montecarlo.Span{{Row: tt.row, Samples: 50}}, tt.sums, nil)
		must.Refused(t, err, tt.want)
		if unsupported := tt.problem == &other; errors.Is(err, errUnsupported) != unsupported {
			t.Errorf("error %v: errUnsupported is %v, want %v", err, !unsupported, unsupported)
		}
	}
	b := &backend{choice: Auto, device: d, fallback: func(err error) { t.Errorf("the device was given up: %v", err) }}
	if got := must.Get(every(&other, 7, 50).sample(t.Context(), b, nil))(t); got[0].Samples != 50 || b.device != d {
		t.Errorf("what the device does not sample: %d samples, device %v", got[0].Samples, b.device)
	}
	if sums[3].Samples > 0 {
		t.Errorf("%d samples of refused jobs", sums[3].Samples)
	}
	must.Succeed(t, d.Close())
	if err := d.Sample(context.Background(), p, []montecarlo.Span{{Row: 3, Samples: 50}}, sums, nil); err == nil {
		t.Error("a closed device samples")
	}
}

type strange struct{ decode.Decoder }

func (strange) Name() string { return "strange" }

// TestLatentBytes: the tables of an entry take no more memory than latentBytes says, and large
// ones at least an eighth of it.
func TestLatentBytes(t *testing.T) {
	for _, p := range []*montecarlo.Problem{
		problem(t, "hadamard", "gen-ex", 64, 0.02, 9, soft), problem(t, "unary", "gen-ex", 64, 30, 30, soft),
		problem(t, "gray", "gen-ex", 256, 0.3, 30, soft), problem(t, "hexj", "gen", 64, 0.3, 3, hard),
	} {
		row := must.Get(p.LogitTables().Row(context.Background(), p.Code.Levels()/2))(t)
		got := uint64(len(newLatentArrays([]*tables.Logits{row}).all))
		if bound := latentBytes(p); got > bound || bound > 64<<10 && got < bound/8 {
			t.Errorf("%s, %d levels: %d bytes, bound %d", p.Code.Name(), p.Code.Levels(), got, bound)
		}
	}
}

// emulator is a CUDA driver without a device: the kernels, compiled for the host, run thread by
// thread on the host's memory. Any call of the driver can be made to fail, and what is not released
// is counted. All tests share one.
type emulator struct {
	*dl.Library
	*control
}

// control is the struct Control of emulator.cc.
type control struct {
	machine
	calls                            int64 // since reset or fail
	failAt, failWith, failEver, lost int64
	wrong                            int64 // the kernel, from 1, that answers wrongly; 0: none
	live                             int64 // contexts, modules, streams and allocations that were made and not released
}

// machine describes the devices that the driver finds.
type machine struct {
	devices int64 // −1: cuInit fails
	major   int64 // compute capability
	memory  int64
}

// usual is a machine that everything works on.
var usual = machine{devices: 1, major: 9, memory: 1 << 34}

// reset makes a machine whose calls succeed.
func (e *emulator) reset(m machine) { *e.control = control{machine: m, live: e.live} }

// fail makes call number at from now on, counted from 1, fail with an error code, and all later
// ones too if ever is set.
func (e *emulator) fail(at, code int, ever bool) {
	e.calls, e.failAt, e.failWith, e.failEver, e.lost = 0, int64(at), int64(code), 0, 0
	if ever {
		e.failEver = 1
	}
}

// errNoCompiler says that there is no C++ compiler that works.
var errNoCompiler = errors.New("no C++ compiler works here (the variable CXX names one, c++ is looked for without it)")

// openEmulator compiles the emulator, which takes a few seconds, and loads it.
var openEmulator = sync.OnceValues(func() (*emulator, error) {
	const source = "testdata/emulator"
	// go test keeps the results of a test until a file changes that the test
	// has read. It does not see what a compiler reads.
	for _, name := range []string{source + "/emulator.cc", source + "/build.sh", "kernel.cu", "kernel.h",
		"internal/driver/driver.h"} {
		if _, err := os.ReadFile(name); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"CXX", "CGO_CXXFLAGS", "PATH"} {
		os.Getenv(name) // for the same reason
	}
	folder, err := os.MkdirTemp("", "emulator")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder) // a loaded library needs no file
	path := filepath.Join(folder, library)
	out, err := exec.Command("sh", source+"/build.sh", path).CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 77 {
		return nil, errNoCompiler
	}
	if err != nil {
		return nil, errors.Join(err, errors.New(string(out)))
	}
	l, err := dl.Open(path)
	if err != nil {
		return nil, err
	}
	state, err := l.Lookup("emulator_state")
	return &emulator{l, (*control)(state)}, err
})

// emulate returns the emulator. Without a C++ compiler the test is skipped, but in CI
// it fails.
func emulate(tb testing.TB) *emulator {
	tb.Helper()
	e, err := openEmulator()
	if errors.Is(err, errNoCompiler) && os.Getenv("BELSIM_LONG") == "" {
		tb.Skipf("the kernels are not tested: %v", err)
	}
	must.Succeed(tb, err)
	return e
}
