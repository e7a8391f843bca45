package sweep

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/montecarlo/plane"
	"belsim/theory"
	"belsim/theory/base/inputfile"
	"belsim/theory/base/refuse"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
	"belsim/theory/expect"
)

// ExamplePlan is a plan file that is computed in seconds.
//
//go:embed example.json
var ExamplePlan string

// SlurmScript runs a shard in each task of a Slurm array. The program is not the script's own process: Slurm ends a job
// whose batch script died, and only a script that lives can put the job back into the queue.
//
//go:embed slurm.sh
var SlurmScript string

// Plan is a sweep with what its numbers are computed from: codes and decoders. It is safe for
// concurrent use.
type Plan struct {
	*Sweep
	// LeftOut lists, pair by pair, what the plan asks for and does not exist: decoders that do
	// not fit a code, and methods without a value.
	LeftOut []string
	Prior   theory.Prior // of the labels

	scenario *scenario.Scenario // its error model is nil: the cells have theirs
	sides    []side             // by pair
}

// side computes the cells of one pair.
type side struct {
	code        *code.Code
	decoder     decode.Decoder
	transitions [][]int
	means       map[plane.Method]*expect.Mean // of the methods with a formula
}

// planFile is a plan file. Where the key is missing, a pointer is nil.
type planFile struct {
	Codes       []string       `json:"codes"`
	Decoders    []string       `json:"decoders"`
	Levels      []int          `json:"levels"`
	Circular    bool           `json:"circular"`
	R           plane.Axis     `json:"r"`
	Sigma       plane.Axis     `json:"sigma"`
	Methods     []plane.Method `json:"methods"`
	Samples     *uint64        `json:"samples"`
	RelErr      float64        `json:"rel_err"`
	MaxSamples  *uint64        `json:"max_samples"`
	Seed        uint64         `json:"seed"`
	Outputs     decode.Outputs `json:"outputs"`
	Temperature float64        `json:"temperature"`
	Prior       string         `json:"prior"`
	Cost        string         `json:"cost"`
}

// maxPlan is the largest size of a plan file, in bytes.
const maxPlan = 16 << 20

// ReadPlan reads a plan file, opens the codes and the histogram of the labels that it names, and
// pairs the codes with the decoders that fit them. decoders are the decoders that it can ask for.
// ReadPlan is strict, so that a typing error does not cost a week of a cluster: the error names the
// file and the key or the range that is not understood, unless it is the context's.
func ReadPlan(ctx context.Context, path string, decoders decode.Registry) (*Plan, error) {
	text, err := inputfile.Read(path, maxPlan)
	if err != nil {
		return nil, fmt.Errorf("reading plan: %w", err)
	}
	p := &Plan{scenario: scenario.New(nil)}
	p.scenario.Decoders = decoders
	f, err := p.parse(text)
	if err == nil {
		err = p.open(ctx, f)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// parse reads a plan file, and refuses values without a meaning.
func (p *Plan) parse(text []byte) (*planFile, error) {
	if !utf8.Valid(text) { // JSON would put U+FFFD in the place of some bytes, also in names of files
		return nil, errors.New("not text in UTF-8")
	}
	draw := montecarlo.FixedSampling()
	f := &planFile{
		Decoders: []string{decode.Auto}, Seed: draw.Seed,
		Outputs: p.scenario.Outputs, Temperature: p.scenario.Temperature, Cost: (cost.Cost{}).Name(),
	}
	if err := table.ReadJSON(text, f); err != nil {
		if errors.Is(err, table.ErrUnknownField) {
			var keys []string
			for key := range reflect.TypeFor[planFile]().Fields() {
				keys = append(keys, key.Tag.Get("json"))
			}
			err = fmt.Errorf("%w; want one of %s", err, strings.Join(keys, ", "))
		}
		return nil, err
	}
	for _, err := range []error{
		checkList("codes", f.Codes),
		checkList("decoders", f.Decoders, append([]string{decode.Auto}, p.scenario.Decoders.Names()...)...),
		checkList("levels", f.Levels),
		checkList("methods", f.Methods, plane.Bound, plane.Exact, plane.Sample),
		checkList("outputs", []decode.Outputs{f.Outputs}, decode.AutoOutputs, decode.Bits, decode.Logits),
		decode.CheckTemperature(f.Temperature),
	} {
		if err != nil {
			return nil, quoted(err)
		}
	}
	for _, l := range f.Levels {
		if l < code.MinLevels || l > code.MaxLevels {
			return nil, fmt.Errorf(`"levels" has %d; want %d to %d`, l, code.MinLevels, code.MaxLevels)
		}
	}
	return f, nil
}

// quoted is an error that names a key of a plan as files have it.
func quoted(err error) error {
	if value, ok := errors.AsType[*refuse.Value](err); ok {
		return fmt.Errorf("%q is %v: want %s", value.Name, value.Value, value.Want)
	}
	return err
}

// checkGiven refuses an empty list.
func checkGiven[V any](name string, values []V) error {
	if len(values) == 0 {
		return fmt.Errorf("has no %q, or an empty list of them", name)
	}
	return nil
}

// checkList refuses an empty list, one that has a value twice, and values other than some.
func checkList[V comparable](name string, values []V, of ...V) error {
	if err := checkGiven(name, values); err != nil {
		return err
	}
	for i, v := range values {
		if slices.Contains(values[:i], v) {
			return fmt.Errorf("%q has %#v twice", name, v)
		}
		if len(of) > 0 && !slices.Contains(of, v) {
			return fmt.Errorf("%q has %#v; want some of %s", name, v,
				strings.Join(strings.Fields(strings.Trim(fmt.Sprint(of), "[]")), ", "))
		}
	}
	return nil
}

// open makes the sweep of a plan file, and what computes it.
func (p *Plan) open(ctx context.Context, f *planFile) error {
	s := p.scenario
	s.Outputs, s.Temperature = f.Outputs, f.Temperature
	d := Definition{NumericVersion: montecarlo.NumericVersion, Temperature: s.Temperature}
	var err error
	if s.Prior, err = theory.ReadPrior(f.Prior); err != nil {
		return err
	}
	p.Prior = s.Prior
	if d.Sampling, err = f.sampling(); err != nil {
		return quoted(err)
	}
	d.R, d.Sigma = f.R, f.Sigma
	if err := cmp.Or(checkGiven("r", d.R.Values), checkGiven("sigma", d.Sigma.Values)); err != nil {
		return err
	}
	if err := plane.Check(d.R, d.Sigma); err != nil {
		return err
	}
	if err := s.SetCost(f.Cost, f.Circular, f.Levels...); err != nil {
		return quoted(err)
	}
	if d.Measure = s.Measure(); s.Cost().Matrix() {
		levels := f.Levels[0] // the only number of them
		if d.Matrix, err = hashOf(ctx, levels, levels, func(i, k int) float64 {
			return s.Cost().Of(i+1, float64(k+1))
		}); err != nil {
			return err
		}
	}
	if s.Prior.Histogram != nil {
		for _, l := range f.Levels {
			weights, err := s.Weights(l)
			if err != nil {
				return err
			}
			d.Priors = append(d.Priors, Prior{l, weights})
		}
	}
	var codes []*code.Code
	if err := code.CheckNames(f.Codes); err != nil {
		return err
	}
	var names []string
	for _, name := range f.Codes {
		some, err := p.openLevels(f, name)
		if err != nil {
			return err
		}
		codes, names = append(codes, some...), append(names, slices.Repeat([]string{name}, len(some))...)
	}
	all, err := s.Pair(codes, f.Decoders)
	if err != nil {
		return err
	}
	for i, pairs := range all {
		if err := p.add(ctx, f, &d, names[i], pairs); err != nil {
			return err
		}
	}
	if len(p.sides) == 0 {
		return fmt.Errorf("nothing is left to compute: %s", strings.Join(p.LeftOut, "; "))
	}
	p.Sweep, err = newSweep(d)
	return err
}

// sampling says how the cells are sampled.
func (f *planFile) sampling() (montecarlo.Sampling, error) {
	draw := montecarlo.FixedSampling()
	draw.RelErr, draw.Seed = f.RelErr, f.Seed
	if f.Samples != nil {
		draw.Samples = *f.Samples
	}
	if f.MaxSamples != nil {
		draw.MaxSamples = *f.MaxSamples
	}
	switch {
	case f.RelErr != 0 && f.Samples != nil:
		return draw, errors.New(`"samples" and "rel_err" both say how much to sample; want one of them`)
	case f.RelErr == 0 && f.MaxSamples != nil:
		return draw, errors.New(`"max_samples" goes with "rel_err"`)
	}
	return draw, draw.Check()
}

// leave notes a pair or a method that is left out.
func (p *Plan) leave(format string, a ...any) {
	p.LeftOut = append(p.LeftOut, fmt.Sprintf(format, a...))
}

// openLevels opens a code at each number of levels of the plan. A file has its own.
func (p *Plan) openLevels(f *planFile, name string) (codes []*code.Code, err error) {
	if !code.IsFile(name) {
		for _, l := range f.Levels {
			c, err := code.New(name, l)
			if err != nil {
				return nil, err
			}
			codes = append(codes, c.OnCircle(f.Circular))
		}
		return codes, nil
	}
	if codes, err = code.OpenAll([]string{name}, code.Sizes{Circular: f.Circular}); err != nil {
		return nil, err
	}
	own := codes[0].Levels()
	if !slices.Contains(f.Levels, own) {
		return nil, fmt.Errorf(`%s has %d levels, which "levels" does not have`, name, own)
	}
	for _, l := range f.Levels {
		if l != own {
			p.leave("%s at %d levels, of which it has %d", name, l, own)
		}
	}
	return codes, nil
}

// add adds the pairs of a code, of which a plan has the name.
func (p *Plan) add(ctx context.Context, f *planFile, d *Definition, name string, pairs scenario.Pairs) error {
	c := pairs.Code
	identity, err := identify(ctx, name, c)
	if err != nil {
		return err
	}
	if c.Circular() {
		identity += " on a circle"
	}
	transitions, err := scenario.Transitions(ctx, c)
	if err != nil {
		return err
	}
	for _, unfit := range pairs.Unfit {
		p.leave("%s of %d levels, which %s does not fit", name, c.Levels(), unfit)
	}
	for _, decoder := range pairs.Decoders {
		methods, means, err := p.methodsFor(ctx, f.Methods, d, c, decoder)
		if err != nil {
			return err
		}
		if len(methods) == 0 {
			continue
		}
		p.sides = append(p.sides, side{c, decoder, transitions, means})
		of := p.scenario.Design(c, decoder)
		of.Code = name
		if label, _ := code.SplitName(name); label != "" {
			of.Code = label
		}
		pair := Pair{Design: of, Identity: identity, Methods: methods}
		if m := means[plane.Bound]; m != nil {
			pair.Bound = m.Name
		}
		d.Pairs = append(d.Pairs, pair)
	}
	return nil
}

// identify returns which code it is: its name, or the hash of the matrix in its file, whatever
// the file's format and path are.
func identify(ctx context.Context, name string, c *code.Code) (string, error) {
	if !code.IsFile(name) {
		return name, nil
	}
	return hashOf(ctx, c.Levels(), c.Bits(), c.At)
}

// hashOf is the hash of a matrix.
func hashOf(ctx context.Context, rows, columns int, at func(i, k int) float64) (string, error) {
	digest := sha256.New()
	row := make([]byte, 0, 8*columns)
	for i := range rows {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		row = row[:0]
		for k := range columns {
			row = binary.BigEndian.AppendUint64(row, math.Float64bits(at(i, k)))
		}
		digest.Write(row)
	}
	return fmt.Sprintf("sha256:%s %dx%d", hex.EncodeToString(digest.Sum(nil)), rows, columns), nil
}

// methodsFor returns those of the methods that have a value for a code and a decoder, and prepares
// the means of those with a formula.
func (p *Plan) methodsFor(ctx context.Context, of []plane.Method, d *Definition, c *code.Code,
	decoder decode.Decoder) (methods []plane.Method, means map[plane.Method]*expect.Mean, err error) {
	shape := p.scenario.WithoutErrors(c, decoder)
	means = map[plane.Method]*expect.Mean{}
	for _, m := range of {
		var err error
		if m != plane.Sample {
			means[m], err = m.MeanOf(ctx, shape)
		} else if limit := d.Sampling.Of(shape).MaxSamples(); d.RelErr == 0 && d.Samples > limit {
			err = fmt.Errorf(`"samples" is %d: at most %d keep the sums of squares of %s within 64 bits`, d.Samples,
				limit, c.Name())
		}
		switch {
		case errors.Is(err, theory.ErrNoClosedForm):
			p.leave("%s of %d levels with %s has no %s value", c.Name(), c.Levels(), decoder.Name(), m)
		case err != nil:
			return nil, nil, err
		default:
			methods = append(methods, m)
		}
	}
	return methods, means, nil
}
