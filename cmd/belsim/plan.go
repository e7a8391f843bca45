package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"belsim/montecarlo"
	"belsim/montecarlo/sweep"
	"belsim/theory"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// planFile is a sweep's plan as its author writes it.
type planFile struct {
	Codes       []string
	Decoders    []string
	Levels      []int
	R, Sigma    axis
	Methods     []string
	Samples     uint64
	RelErr      float64
	MaxSamples  uint64
	Seed        uint64
	Within      int
	Outputs     string
	Temperature float64
	SharedNoise float64
	Labels      string
	Transitions string
	Prior       string
	path        string
	given       map[string]bool
}

// examplePlan is what --init prints.
const examplePlan = `{
  "codes": ["unary", "johnson-nonzero"],
  "decoders": ["auto"],
  "levels": [31],
  "r": "0.5:8:6:log",
  "sigma": "1:8:6:log",
  "methods": ["exact", "bound", "mc"],
  "samples": 100000,
  "seed": 1
}
`

// maxPlan is the largest size of a plan, in bytes.
const maxPlan = 16 << 20

// axis is a range like that of --r, or a list of numbers.
type axis struct {
	values []float64
	log    bool
	even   bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *axis) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		var s string
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
		var range_ span
		if err := range_.UnmarshalText([]byte(s)); err != nil {
			return err
		}
		*a = axis{range_.values(), range_.log, true}
		return nil
	}
	if err := json.Unmarshal(text, &a.values); err != nil {
		return errors.New(`want a range "lo:hi:count" or "lo:hi:count:log", or a list of numbers`)
	}
	for i, v := range a.values {
		switch {
		case !(v > 0):
			return fmt.Errorf("%v: want positive numbers", v)
		case i > 0 && v <= a.values[i-1]:
			return fmt.Errorf("%v after %v: want ascending numbers, each of them once", v, a.values[i-1])
		}
	}
	if len(a.values) == 0 || len(a.values) > maxSpan {
		return fmt.Errorf("%d numbers; want 1 to %d", len(a.values), maxSpan)
	}
	return a.space()
}

// space finds out whether a list is evenly spaced, or in its logarithms.
func (a *axis) space() error {
	even := func(f func(float64) float64) bool {
		n := len(a.values)
		lo, hi := f(a.values[0]), f(a.values[n-1])
		for i, v := range a.values {
			if want := lo + (hi-lo)*float64(i)/float64(max(n-1, 1)); math.Abs(f(v)-want) > 1e-6*(hi-lo)/float64(max(n-1, 1)) {
				return false
			}
		}
		return true
	}
	a.even = even(func(v float64) float64 { return v })
	if !a.even && even(math.Log) {
		a.even, a.log = true, true
	}
	return nil
}

// readPlan reads a plan strictly: whatever is not understood is an error, so that a slip
// does not cost a week of a cluster.
func readPlan(path string) (*planFile, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading plan: %w", err)
	}
	if info.Size() > maxPlan {
		return nil, fmt.Errorf("%s: %d bytes; a plan has at most %d", path, info.Size(), maxPlan)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading plan: %w", err)
	}
	return parsePlan(path, text)
}

func parsePlan(path string, text []byte) (*planFile, error) {
	f := &planFile{
		Decoders: []string{decode.Auto}, Samples: 100000, MaxSamples: 100_000_000, Seed: 1, Within: 5,
		Outputs: "auto", Temperature: 1, Labels: "levels", Transitions: "code", path: path, given: map[string]bool{},
	}
	fields := map[string]struct {
		to   any
		want string
	}{
		"codes":        {&f.Codes, `a list of codes, ["unary", "mine.csv"]`},
		"decoders":     {&f.Decoders, `a list of decoders, ["auto"]`},
		"levels":       {&f.Levels, "a list of whole numbers, [64, 256]"},
		"r":            {&f.R, `a range "lo:hi:count[:log]" or a list of numbers`},
		"sigma":        {&f.Sigma, `a range "lo:hi:count[:log]" or a list of numbers`},
		"methods":      {&f.Methods, `a list of methods, ["bound", "exact", "mc"]`},
		"samples":      {&f.Samples, "a whole number"},
		"rel_err":      {&f.RelErr, "a number"},
		"max_samples":  {&f.MaxSamples, "a whole number"},
		"seed":         {&f.Seed, "a whole number"},
		"within":       {&f.Within, "a whole number"},
		"outputs":      {&f.Outputs, `"auto", "bits" or "logits"`},
		"temperature":  {&f.Temperature, "a number"},
		"shared_noise": {&f.SharedNoise, "a number"},
		"labels":       {&f.Labels, `"levels" or "continuous"`},
		"transitions":  {&f.Transitions, `"code" or "printed"`},
		"prior":        {&f.Prior, "the path of a histogram"},
	}
	known := strings.Join(slices.Sorted(maps.Keys(fields)), ", ")

	d := json.NewDecoder(bytes.NewReader(text))
	at := func() string {
		line := 1 + bytes.Count(text[:min(int(d.InputOffset()), len(text))], []byte("\n"))
		return fmt.Sprintf("%s, line %d", path, line)
	}
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("%s: a plan is an object of JSON, {…}; 'belsim sweep --init' prints an example", at())
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at(), err)
		}
		name, _ := t.(string)
		field, ok := fields[name]
		switch {
		case !ok:
			return nil, fmt.Errorf("%s: unknown key %q; want one of %s", at(), name, known)
		case f.given[name]:
			return nil, fmt.Errorf("%s: %q is there twice", at(), name)
		}
		f.given[name] = true
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", at(), name, err)
		}
		if string(raw) == "null" {
			return nil, fmt.Errorf("%s: %q is null; want %s, or nothing of it", at(), name, field.want)
		}
		if err := json.Unmarshal(raw, field.to); err != nil {
			var kind *json.UnmarshalTypeError
			if errors.As(err, &kind) {
				return nil, fmt.Errorf("%s: %q is %.40s; want %s", at(), name, raw, field.want)
			}
			return nil, fmt.Errorf("%s: %q: %w", at(), name, err)
		}
	}
	if _, err := d.Token(); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("ends before its }")
		}
		return nil, fmt.Errorf("%s: %w", at(), err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: goes on after its }", at())
	}
	return f, f.check()
}

// check refuses what means nothing.
func (f *planFile) check() error {
	refuse := func(format string, a ...any) error { return fmt.Errorf("%s: %s", f.path, fmt.Sprintf(format, a...)) }
	for _, name := range []string{"codes", "levels", "r", "sigma", "methods"} {
		if !f.given[name] {
			return refuse("has no %q, which every plan has; 'belsim sweep --init' prints an example", name)
		}
	}
	strs := func(name string, values []string, of ...string) error {
		if len(values) == 0 {
			return refuse("%q is an empty list", name)
		}
		for i, v := range values {
			if slices.Contains(values[:i], v) {
				return refuse("%q has %q twice", name, v)
			}
			if len(of) > 0 && !slices.Contains(of, v) {
				return refuse("%q has %q; want some of %s", name, v, strings.Join(of, ", "))
			}
		}
		return nil
	}
	if err := errors.Join(
		strs("codes", f.Codes),
		strs("decoders", f.Decoders, strings.Split(decoders, ",")...),
		strs("methods", f.Methods, sweep.Bound, sweep.Exact, sweep.Sample),
		strs("outputs", []string{f.Outputs}, "auto", "bits", "logits"),
		strs("labels", []string{f.Labels}, "levels", "continuous"),
		strs("transitions", []string{f.Transitions}, "code", "printed"),
	); err != nil {
		return err
	}
	if len(f.Levels) == 0 {
		return refuse(`"levels" is an empty list`)
	}
	for i, l := range f.Levels {
		if l < code.MinLevels || l > code.MaxLevels {
			return refuse(`"levels" has %d; want %d to %d`, l, code.MinLevels, code.MaxLevels)
		}
		if slices.Contains(f.Levels[:i], l) {
			return refuse(`"levels" has %d twice`, l)
		}
	}
	switch {
	case f.Samples < 2:
		return refuse(`"samples" is %d: a standard error needs at least 2`, f.Samples)
	case f.given["rel_err"] && !(f.RelErr > 0):
		return refuse(`"rel_err" is %v: want a positive number`, f.RelErr)
	case f.given["rel_err"] && f.given["samples"]:
		return refuse(`"samples" and "rel_err" both say how much to sample; want one of them`)
	case f.given["max_samples"] && !f.given["rel_err"]:
		return refuse(`"max_samples" goes with "rel_err"`)
	case f.RelErr > 0 && f.MaxSamples < montecarlo.BlockSize:
		return refuse(`"max_samples" is %d: "rel_err" samples in blocks of %d; want at least one`, f.MaxSamples, montecarlo.BlockSize)
	case f.Within < 0:
		return refuse(`"within" is %d: want 0 or more levels`, f.Within)
	case !(f.Temperature > 0):
		return refuse(`"temperature" is %v: want a positive number`, f.Temperature)
	case !(f.SharedNoise >= 0 && f.SharedNoise <= 1):
		return refuse(`"shared_noise" is %v: want a number from 0 to 1`, f.SharedNoise)
	}
	return nil
}

// opened is a pair of a plan with what computes its numbers.
type opened struct {
	side
	latent latentFlags
	prior  []float64
}

// open opens the codes of a plan and pairs them with the decoders that fit them. notes
// say what was left out because it does not fit.
func (f *planFile) open(ctx context.Context) (s *sweep.Sweep, pairs []opened, notes []string, err error) {
	defer func() {
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("%s: %w", f.path, err)
		}
	}()
	latent := latentFlags{Outputs: f.Outputs, Temperature: f.Temperature, SharedNoise: f.SharedNoise, Labels: f.Labels}
	plan := sweep.Plan{
		NumericVersion: montecarlo.NumericVersion,
		R:              sweep.Axis{Values: f.R.values, Even: f.R.even, Log: f.R.log},
		Sigma:          sweep.Axis{Values: f.Sigma.values, Even: f.Sigma.even, Log: f.Sigma.log},
		Samples:        f.Samples, RelErr: f.RelErr, MaxSamples: f.MaxSamples, Within: f.Within, Seed: f.Seed,
		Temperature: f.Temperature, SharedNoise: f.SharedNoise, Labels: f.Labels, Transitions: f.Transitions,
	}
	priors := map[int][]float64{}
	h, err := priorFlag{f.Prior}.read()
	if err != nil {
		return nil, nil, nil, err
	}
	for _, l := range f.Levels {
		if priors[l], err = (priorFlag{f.Prior}).weights(h, nil, l); err != nil {
			return nil, nil, nil, err
		}
		if h != nil {
			plan.Priors = append(plan.Priors, sweep.Prior{Levels: l, Weights: priors[l]})
		}
	}
	leave := func(format string, a ...any) { notes = append(notes, fmt.Sprintf(format, a...)) }
	fits := map[string]bool{}
	for _, name := range f.Codes {
		codes, err := f.openLevels(name, leave)
		if err != nil {
			return nil, nil, nil, err
		}
		for _, c := range codes {
			identity, err := identify(ctx, name, c)
			if err != nil {
				return nil, nil, nil, err
			}
			seen := map[string]bool{}
			for _, decoder := range f.Decoders {
				d, err := latent.decoder(decoder, c)
				if errors.Is(err, decode.ErrUnfit) {
					leave("%s of %d levels, which %s does not fit", name, c.Levels(), decoder)
					continue
				}
				if err != nil {
					return nil, nil, nil, err
				}
				fits[decoder] = true
				if seen[d.Name()] { // auto is one of the others
					continue
				}
				seen[d.Name()] = true
				positions, err := transitions(c, f.Transitions)
				if err != nil {
					return nil, nil, nil, err
				}
				p := opened{side{c, d, positions}, latent, priors[c.Levels()]}
				methods, err := p.methods(ctx, f, leave)
				if err != nil {
					return nil, nil, nil, err
				}
				if len(methods) == 0 {
					continue
				}
				pairs = append(pairs, p)
				plan.Pairs = append(plan.Pairs, sweep.Pair{
					Code: name, Identity: identity, Levels: c.Levels(), Bits: c.Bits(),
					Decoder: d.Name(), Outputs: latent.outputs(c, d), Methods: methods,
				})
			}
		}
	}
	for _, decoder := range f.Decoders {
		if !fits[decoder] {
			return nil, nil, nil, fmt.Errorf("decoder %s fits none of the codes", decoder)
		}
	}
	if len(pairs) == 0 {
		return nil, nil, nil, fmt.Errorf("nothing is left to compute: %s", strings.Join(notes, "; "))
	}
	s, err = sweep.New(plan)
	return s, pairs, notes, err
}

// openLevels opens a code at each number of levels of the plan. A file has its own.
func (f *planFile) openLevels(name string, leave func(string, ...any)) ([]*code.Code, error) {
	if !code.IsFile(name) {
		var out []*code.Code
		for _, l := range f.Levels {
			c, err := openNamed(name, l)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
		return out, nil
	}
	codes, err := openCodes([]string{name}, 0, 0, nil, realCodes(f.Decoders...))
	if err != nil {
		return nil, err
	}
	fits := false
	for _, l := range f.Levels {
		if l == codes[0].Levels() {
			fits = true
		} else {
			leave("%s at %d levels, of which it has %d", name, l, codes[0].Levels())
		}
	}
	if !fits {
		return nil, fmt.Errorf(`%s has %d levels, which "levels" does not have`, name, codes[0].Levels())
	}
	return codes, nil
}

// identify names what a code is: a name, or the hash of a file's matrix, whatever the
// file's format and path are.
func identify(ctx context.Context, name string, c *code.Code) (string, error) {
	if !code.IsFile(name) {
		return name, nil
	}
	digest := sha256.New()
	row := make([]byte, 0, 8*c.Bits())
	for i := range c.Levels() {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		row = row[:0]
		for k := range c.Bits() {
			row = binary.BigEndian.AppendUint64(row, math.Float64bits(c.At(i, k)+0)) // no −0
		}
		digest.Write(row)
	}
	return fmt.Sprintf("sha256:%s %dx%d", hex.EncodeToString(digest.Sum(nil)), c.Levels(), c.Bits()), nil
}

// methods returns those of the plan that there are for a pair.
func (p opened) methods(ctx context.Context, f *planFile, leave func(string, ...any)) ([]string, error) {
	problem, err := p.latent.kind(ctx, p.side)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, m := range f.Methods {
		switch m {
		case sweep.Bound:
			_, err = boundOf(problem)
		case sweep.Exact:
			_, err = exactOf(problem)
		default:
			if limit := problem.MaxSamples(); f.RelErr == 0 && f.Samples > limit {
				return nil, fmt.Errorf(`"samples" is %d: at most %d keep the sums of squares of %s within 64 bits`, f.Samples, limit, p.code.Name())
			}
		}
		if errors.Is(err, theory.ErrNone) {
			leave("%s of %d levels with %s has no %s value", p.code.Name(), p.code.Levels(), p.decoder.Name(), m)
			err = nil
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// parseShard reads i/N.
func parseShard(text string) (i, n int, err error) {
	first, second, found := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(first)
	n, err2 := strconv.Atoi(second)
	if !found || err1 != nil || err2 != nil || i < 1 || n < 1 || i > n {
		return 0, 0, fmt.Errorf("--shard %s: want i/N, part i of N, from 1/N to N/N", text)
	}
	return i, n, nil
}

// whichShard finds out which shard of how many is asked for: by --shard, by the
// variables of a Slurm array, by the index of a Kubernetes Job, or the whole.
func whichShard(shard string, shards int, getenv func(string) string) (i, n int, err error) {
	number := func(name string) (int, error) {
		v, err := strconv.Atoi(getenv(name))
		if err != nil || v < 0 {
			return 0, fmt.Errorf("%s is %q: want a number from 0", name, getenv(name))
		}
		return v, nil
	}
	switch {
	case shards < 0:
		return 0, 0, fmt.Errorf("--shards %d: want 1 or more", shards)
	case shard != "":
		i, n, err = parseShard(shard)
		if err == nil && shards != 0 && shards != n {
			err = fmt.Errorf("--shard %s and --shards %d disagree; --shard alone is enough", shard, shards)
		}
		return i, n, err
	case getenv("SLURM_ARRAY_TASK_ID") != "":
		id, err := number("SLURM_ARRAY_TASK_ID")
		if err != nil {
			return 0, 0, err
		}
		if shards > 0 {
			if id < 1 || id > shards {
				return 0, 0, fmt.Errorf("SLURM_ARRAY_TASK_ID is %d: with --shards %d the numbers of the array are those of the shards, 1 to %d", id, shards, shards)
			}
			return id, shards, nil
		}
		return slurmShard(id, number, getenv)
	case getenv("JOB_COMPLETION_INDEX") != "":
		index, err := number("JOB_COMPLETION_INDEX")
		switch {
		case err != nil:
			return 0, 0, err
		case shards == 0:
			return 0, 0, fmt.Errorf("JOB_COMPLETION_INDEX is %d, of how many? want --shards N, the completions of the Job", index)
		case index >= shards:
			return 0, 0, fmt.Errorf("JOB_COMPLETION_INDEX is %d: with --shards %d it is 0 to %d", index, shards, shards-1)
		}
		return index + 1, shards, nil
	case shards > 1:
		return 0, 0, fmt.Errorf("--shards %d, and which? want --shard i/%d, or SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX in the environment", shards, shards)
	}
	return 1, 1, nil
}

// slurmShard takes the shards of an array from its own variables. An array with gaps, such
// as one of the shards that are missing, does not tell how many shards there are.
func slurmShard(id int, number func(string) (int, error), getenv func(string) string) (i, n int, err error) {
	if getenv("SLURM_ARRAY_TASK_COUNT") == "" {
		return 0, 0, fmt.Errorf("SLURM_ARRAY_TASK_ID is %d, of how many? SLURM_ARRAY_TASK_COUNT is not set; want --shards N", id)
	}
	count, err := number("SLURM_ARRAY_TASK_COUNT")
	if err != nil {
		return 0, 0, err
	}
	values := map[string]int{"SLURM_ARRAY_TASK_MIN": 1, "SLURM_ARRAY_TASK_STEP": 1, "SLURM_ARRAY_TASK_MAX": 0}
	for name := range values {
		if getenv(name) == "" {
			continue
		}
		if values[name], err = number(name); err != nil {
			return 0, 0, err
		}
	}
	first, step, last := values["SLURM_ARRAY_TASK_MIN"], max(values["SLURM_ARRAY_TASK_STEP"], 1), values["SLURM_ARRAY_TASK_MAX"]
	i = (id-first)/step + 1
	gaps := count == 1 && first > 1 || (id-first)%step != 0 || getenv("SLURM_ARRAY_TASK_MAX") != "" && (last-first)/step+1 != count
	if gaps || i < 1 || i > count {
		return 0, 0, fmt.Errorf("the array's %d tasks from %d on do not say which of how many shards task %d is; want --shards N, and --array=1-N or some of these", count, first, id)
	}
	return i, count, nil
}
