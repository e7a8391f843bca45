package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/theory"
	"belsim/theory/code"
)

// span is a range of numbers, lo:hi:count or lo:hi:count:log.
type span struct {
	lo, hi float64
	count  int
	log    bool
}

// maxSpan is the largest number of values of a range.
const maxSpan = 10000

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *span) UnmarshalText(text []byte) error {
	parts := strings.Split(string(text), ":")
	if len(parts) != 3 && (len(parts) != 4 || parts[3] != "log") {
		return fmt.Errorf("range %q: want lo:hi:count or lo:hi:count:log", text)
	}
	var err [3]error
	s.lo, err[0] = strconv.ParseFloat(parts[0], 64)
	s.hi, err[1] = strconv.ParseFloat(parts[1], 64)
	s.count, err[2] = strconv.Atoi(parts[2])
	s.log = len(parts) == 4
	switch {
	case errors.Join(err[:]...) != nil:
		return fmt.Errorf("range %q: want two numbers and a count, lo:hi:count", text)
	case !(s.lo > 0) || math.IsInf(s.hi, 0) || math.IsNaN(s.hi):
		return fmt.Errorf("range %q: want positive finite numbers", text)
	case s.count < 1 || s.count > maxSpan:
		return fmt.Errorf("range %q: count %d; want 1 to %d", text, s.count, maxSpan)
	case s.hi < s.lo || s.hi == s.lo && s.count > 1:
		return fmt.Errorf("range %q: want lo below hi", text)
	}
	return nil
}

// values lists the numbers of the range, both ends included.
func (s span) values() []float64 {
	v := make([]float64, s.count)
	for i := range v {
		switch f := float64(i) / float64(max(s.count-1, 1)); {
		case i == s.count-1 && i > 0:
			v[i] = s.hi
		case s.log:
			v[i] = s.lo * math.Exp(f*math.Log(s.hi/s.lo))
		default:
			v[i] = s.lo + f*(s.hi-s.lo)
		}
	}
	return v
}

// levelsFlag is --levels where a code may be a file. Zero means unset.
type levelsFlag struct {
	Levels int `placeholder:"L" help:"Number of quantization levels of named codes (default: 256, or as many as a file or --prior has)."`
}

const defaultLevels = 256

// openCodes opens NAMEs and FILEs, all of the same number of levels: levels
// where that is not zero, else what the files have, else what the histogram of
// the labels needs, else usual. Files may hold real numbers where reals is set.
func openCodes(names []string, levels, usual int, h *theory.Histogram, reals bool) ([]*code.Code, error) {
	open := code.Open
	if reals {
		open = code.OpenReal
	}
	codes := make([]*code.Code, len(names))
	var file *code.Code // the first file, where it sets the number of levels
	for i, name := range names {
		if !code.IsFile(name) {
			continue
		}
		c, err := open(name, levels)
		if err != nil {
			return nil, err
		}
		if file != nil && c.Levels() != file.Levels() {
			return nil, fmt.Errorf("%s has %d levels, but %s has %d; want as many in all codes", c.Name(), c.Levels(), file.Name(), file.Levels())
		}
		codes[i] = c
		if levels == 0 {
			file = c
		}
	}
	if file != nil {
		levels = file.Levels()
	}
	levels = namedLevels(levels, usual, h)
	for i, name := range names {
		if codes[i] == nil {
			c, err := openNamed(name, levels)
			if err != nil {
				return nil, err
			}
			codes[i] = c
		}
	}
	return codes, nil
}

// namedLevels is the number of levels of named codes: levels where that is not zero,
// else what the histogram of the labels needs, else usual.
func namedLevels(levels, usual int, h *theory.Histogram) int {
	switch {
	case levels != 0:
		return levels
	case h != nil:
		return len(h.Counts)
	}
	return usual
}

// openNamed is code.New, unless the code would not fit in memory.
func openNamed(name string, levels int) (*code.Code, error) {
	for _, f := range code.Families() {
		if f.Name == name && levels >= code.MinLevels && levels <= code.MaxLevels {
			if err := checkMemory(fmt.Sprintf("%s of %d levels", name, levels), f.Bytes(levels)); err != nil {
				return nil, err
			}
		}
	}
	return code.New(name, levels)
}

// checkMemory refuses what would not fit, before it is allocated.
func checkMemory(what string, bytes int64) error {
	available, ok := availableMemory()
	if !ok || bytes <= available {
		return nil
	}
	return fmt.Errorf("%s needs %.1f GiB of memory, and %.1f GiB are free", what, float64(bytes)/(1<<30), float64(available)/(1<<30))
}

// availableMemory is what the system says can be allocated without swapping.
// Systems without /proc/meminfo do not say.
func availableMemory() (bytes int64, ok bool) {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	for _, line := range strings.Split(string(data), "\n") {
		if rest, found := strings.CutPrefix(line, "MemAvailable:"); found {
			fields := strings.Fields(rest)
			if len(fields) == 0 {
				return 0, false
			}
			kib, err := strconv.ParseInt(fields[0], 10, 64)
			return kib << 10, err == nil
		}
	}
	return 0, false
}

// mixtureFlags choose the classifiers' error probabilities at a code's own transitions.
type mixtureFlags struct {
	R      float64 `default:"0.5" help:"Weight r of the Gaussian at each bit transition."`
	Sigma  float64 `default:"3" help:"Width σ of the Gaussians, in levels."`
	Errors string  `placeholder:"FILE" help:"Table of error probabilities instead: .csv or .npy, one row per level, one column per bit."`
	fitFlag
}

// modelFlags are mixtureFlags for codes that the paper prints transitions of, too.
type modelFlags struct {
	mixtureFlags
	Transitions string `enum:"code,printed" default:"code" help:"Where bits are hard: at the code's own transitions, or where the paper's Eq. 4 prints them."`
}

// table returns e[n,k] for a code, and the r and σ it comes from, if any.
func (f modelFlags) table(ctx context.Context, c *code.Code) (mat.Matrix, error) {
	if f.Errors != "" {
		return errmodel.ReadTable(f.Errors, c.Levels(), c.Bits())
	}
	positions, err := transitions(c, f.Transitions)
	if err != nil {
		return nil, err
	}
	if f.fit.perBit(c) {
		return f.fit.table(positions)
	}
	p, err := errmodel.NewProfile(ctx, c.Levels(), positions, f.Sigma)
	if err != nil {
		return nil, err
	}
	e, err := p.Mixture(f.R)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name(), err)
	}
	return e, nil
}

// parameters returns r and σ for a result; nil when a table was given.
func (f mixtureFlags) parameters() (r, sigma *float64) {
	if f.Errors != "" {
		return nil, nil
	}
	return &f.R, &f.Sigma
}

func (f mixtureFlags) String() string {
	switch {
	case f.Errors != "":
		return "e from " + f.Errors
	case f.fit != nil:
		return fmt.Sprintf("r = %.4g, σ = %.4g from %s", f.R, f.Sigma, f.Model)
	}
	return fmt.Sprintf("r = %g, σ = %g", f.R, f.Sigma)
}

func (f modelFlags) String() string {
	s := f.mixtureFlags.String()
	if f.Errors == "" && f.Transitions == "printed" {
		s += ", transitions as printed"
	}
	return s
}

// transitions returns the transitions of a code, or those the paper prints.
func transitions(c *code.Code, which string) ([][]int, error) {
	if err := checkMemory(fmt.Sprintf("the list of the bit transitions of %s", c.Name()), 8*int64(c.TransitionCount())); err != nil {
		return nil, err
	}
	if which == "printed" {
		return errmodel.PrintedTransitions(c)
	}
	return c.Transitions(), nil
}

// priorFlag chooses how often each label occurs.
type priorFlag struct {
	Prior string `placeholder:"FILE" help:"Histogram of the labels, CSV with columns label,count; the lowest label is level 1 (default: all levels alike)."`
}

func (f priorFlag) read() (*theory.Histogram, error) {
	if f.Prior == "" {
		return nil, nil
	}
	file, err := os.Open(f.Prior)
	if err != nil {
		return nil, fmt.Errorf("reading prior: %w", err)
	}
	defer file.Close()
	return theory.ReadHistogram(file, f.Prior)
}

// weights returns the prior of n levels: the histogram's, else that of the labels
// a model was fitted to, else a uniform one.
func (f priorFlag) weights(h *theory.Histogram, model *fitted, n int) ([]float64, error) {
	if model != nil && model.Levels != n {
		return nil, fmt.Errorf("%s: fitted to %d levels, but the codes have %d; r and σ are in levels", model.path, model.Levels, n)
	}
	switch {
	case h == nil && model != nil:
		return model.Prior, nil
	case h == nil:
		return theory.Uniform(n), nil
	}
	p, err := h.Prior(n)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Prior, err)
	}
	return p, nil
}

// sampleFlags say how much is sampled.
type sampleFlags struct {
	Samples    uint64  `default:"${samples}" help:"Samples of each label."`
	RelErr     float64 `placeholder:"X" help:"Sample until every reported standard error is at most X times its mean, instead."`
	MaxSamples uint64  `default:"100000000" help:"Most samples of each label with --rel-err."`
	Within     int     `default:"5" placeholder:"θ" help:"Count errors of at most θ levels (default: 5)."`
	Seed       uint64  `default:"1" help:"Seed of the random numbers. The same seed gives the same result."`
}

// check refuses numbers that mean nothing.
func (f sampleFlags) check() error {
	switch {
	case f.Samples < 2:
		return fmt.Errorf("--samples %d: a standard error needs at least 2", f.Samples)
	case f.RelErr < 0 || math.IsNaN(f.RelErr) || math.IsInf(f.RelErr, 0):
		return fmt.Errorf("--rel-err %v: want a positive number", f.RelErr)
	case f.RelErr > 0 && f.MaxSamples < montecarlo.BlockSize:
		return fmt.Errorf("--max-samples %d: --rel-err samples in blocks of %d; want at least one", f.MaxSamples, montecarlo.BlockSize)
	case f.Within < 0:
		return fmt.Errorf("--within %d: want 0 or more levels", f.Within)
	}
	return nil
}

func (f sampleFlags) target(prior []float64, eachLabel bool) montecarlo.Target {
	return montecarlo.Target{Samples: f.Samples, RelErr: f.RelErr, Max: f.MaxSamples, EachLabel: eachLabel, Prior: prior}
}

// most is the largest number of samples of a label, for a progress bar.
func (f sampleFlags) most() uint64 {
	if f.RelErr > 0 {
		return f.MaxSamples
	}
	return f.Samples
}

// warnUnreached says that --max-samples came before --rel-err.
func (f sampleFlags) warnUnreached(env *environment, quiet, reached bool) {
	if !reached && !quiet {
		fmt.Fprintf(env.stderr, "belsim: note: --max-samples %d was reached before --rel-err %g: some standard errors are larger\n", f.MaxSamples, f.RelErr)
	}
}

// workersFlag limits the processors in use.
type workersFlag struct {
	Workers int `placeholder:"N" help:"Processors to use (default: all). Never changes a number."`
}
