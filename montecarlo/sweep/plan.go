package sweep

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"belsim/errmodel/perceived"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/inputfile"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// ExamplePlan is a plan file that is computed in seconds.
//
//go:embed example.json
var ExamplePlan string

// Plan is a sweep as its author writes it, in a plan file: codes are names and paths.
type Plan struct {
	Path     string // the plan file
	Text     string // its contents
	Codes    []string
	Decoders []string
	Levels   []int
	Scenario *scenario.Scenario // without an error model, which the cells have
	Plane    scenario.Plane     // the error models of the cells
	X, Y     scenario.Axis      // their parameters; for the Gaussian mixture r and σ
	Methods  []scenario.Method
	Sampling scenario.Sampling

	cutoff   float64            // of a plane of perceived labels; 0: the default
	training perceived.Training // of the same
	prior    string             // path of the histogram of the labels
	given    map[string]bool    // the keys that are in the file
}

// maxPlan is the largest size of a plan file, in bytes.
const maxPlan = 16 << 20

// planKey is a key of a plan file.
type planKey struct {
	to   any    // where its value goes
	want string // the value, for people
}

// ReadPlan reads a plan file and the histogram of the labels that it names. decoders are the
// decoders that it can ask for. ReadPlan is strict: the error names the file, and the line or
// the key that is not understood, so that a typing error does not cost a week of a cluster.
func ReadPlan(path string, decoders decode.Registry) (*Plan, error) {
	text, err := inputfile.Read(path, maxPlan)
	if err != nil {
		return nil, fmt.Errorf("reading plan: %w", err)
	}
	if !utf8.Valid(text) { // JSON would put U+FFFD in the place of some bytes, also in names of files
		return nil, fmt.Errorf("%s: is not text in UTF-8", path)
	}
	p := &Plan{
		Path: path, Text: string(text), Decoders: []string{decode.Auto}, Scenario: scenario.New(nil), Sampling: scenario.DefaultSampling(),
		training: perceived.BitByBit, given: map[string]bool{},
	}
	p.Scenario.Decoders = decoders
	const axis = `a range "lo:hi:count[:log]" or a list of numbers`
	axes := map[string]*planAxis{"r": {}, "sigma": {}, "label_noise": {}, "misfit": {}}
	if err := p.readKeys(text, map[string]planKey{
		"codes":       {&p.Codes, `a list of codes, ["unary", "mine.csv"]`},
		"decoders":    {&p.Decoders, `a list of decoders, ["auto"]`},
		"levels":      {&p.Levels, "a list of whole numbers, [64, 256]"},
		"methods":     {&p.Methods, `a list of methods, ["bound", "exact", "mc"]`},
		"samples":     {&p.Sampling.Samples, "a whole number"},
		"rel_err":     {&p.Sampling.RelErr, "a number"},
		"max_samples": {&p.Sampling.MaxSamples, "a whole number"},
		"seed":        {&p.Sampling.Seed, "a whole number"},
		"within":      {&p.Sampling.Within, "a whole number"},
		"outputs":     {&p.Scenario.Outputs, `"auto", "bits" or "logits"`},
		"temperature": {&p.Scenario.Temperature, "a number"},
		"labels":      {&p.Scenario.Labels, `"levels" or "continuous"`},
		"cutoff":      {&p.cutoff, "a number"},
		"training":    {&p.training, `"bits" or "decoder"`},
		"prior":       {&p.prior, "the path of a histogram"},
		"r":           {axes["r"], axis},
		"sigma":       {axes["sigma"], axis},
		"label_noise": {axes["label_noise"], axis},
		"misfit":      {axes["misfit"], axis},
	}); err != nil {
		return nil, err
	}
	kind, err := p.planeKind()
	if err != nil {
		return nil, err
	}
	if err := p.check(kind); err != nil {
		return nil, err
	}
	x, y := kind.Keys()
	p.X, p.Y = scenario.Axis(*axes[x]), scenario.Axis(*axes[y])
	if kind == scenario.PerceivedLabels && !p.given[y] {
		p.Y = scenario.ListAxis([]float64{perceived.DefaultMisfit})
	}
	if p.Scenario.Prior, err = scenario.ReadPrior(p.prior); err != nil {
		return nil, p.refuse("%w", err)
	}
	p.Plane = scenario.MixturePlane{}
	if kind == scenario.PerceivedLabels {
		// Cells are computed side by side, so each learns on one goroutine.
		model := perceived.Model{Cutoff: p.cutoff, Training: p.training}
		p.Plane = scenario.PerceivedPlane{Model: scenario.Perceived{Model: model, Workers: 1}, Prior: p.Scenario.Prior, Labels: p.Scenario.Labels}
	}
	return p, nil
}

// refuse is an error that names the plan file.
func (p *Plan) refuse(format string, a ...any) error {
	return fmt.Errorf("%s: %w", p.Path, fmt.Errorf(format, a...))
}

// readKeys reads the object of JSON, and refuses every key that is not known, or there twice.
func (p *Plan) readKeys(text []byte, keys map[string]planKey) error {
	d := json.NewDecoder(bytes.NewReader(text))
	refuse := func(format string, a ...any) error {
		line := 1 + bytes.Count(text[:min(int(d.InputOffset()), len(text))], []byte("\n"))
		return fmt.Errorf("%s, line %d: %w", p.Path, line, fmt.Errorf(format, a...))
	}
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return refuse("a plan is an object of JSON, {…}")
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return refuse("%w", err)
		}
		name, _ := t.(string)
		key, ok := keys[name]
		switch {
		case !ok:
			return refuse("unknown key %q; want one of %s", name, strings.Join(slices.Sorted(maps.Keys(keys)), ", "))
		case p.given[name]:
			return refuse("%q is there twice", name)
		}
		p.given[name] = true
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return refuse("%q: %w", name, err)
		}
		if string(raw) == "null" {
			return refuse("%q is null; want %s, or nothing of it", name, key.want)
		}
		if err := json.Unmarshal(raw, key.to); err != nil {
			var kind *json.UnmarshalTypeError
			if errors.As(err, &kind) {
				return refuse("%q is %.40s; want %s", name, raw, key.want)
			}
			return refuse("%q: %w", name, err)
		}
	}
	if _, err := d.Token(); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("ends before its }")
		}
		return refuse("%w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return refuse("goes on after its }")
	}
	return nil
}

// planeKind finds the error models by the keys that are there.
func (p *Plan) planeKind() (scenario.PlaneKind, error) {
	given := func(kind scenario.PlaneKind) string {
		x, y := kind.Keys()
		for _, name := range []string{x, y} {
			if p.given[name] {
				return name
			}
		}
		return ""
	}
	switch mixture, label := given(scenario.Mixtures), given(scenario.PerceivedLabels); {
	case mixture != "" && label != "":
		return "", p.refuse("%q and %q are of two error models; want one of them", mixture, label)
	case label != "":
		return scenario.PerceivedLabels, nil
	}
	return scenario.Mixtures, nil
}

// check refuses values without a meaning.
func (p *Plan) check(kind scenario.PlaneKind) error {
	x, y := kind.Keys()
	for _, name := range []string{"codes", "levels", x, y, "methods"} {
		if !p.given[name] && name != "misfit" {
			return p.refuse("has no %q, which every plan has", name)
		}
	}
	s := p.Scenario
	if err := errors.Join(
		checkList(p, "codes", p.Codes),
		checkList(p, "decoders", p.Decoders, append([]string{decode.Auto}, s.Decoders.Names()...)...),
		checkList(p, "methods", p.Methods, scenario.Bound, scenario.Exact, scenario.Sample),
		checkList(p, "outputs", []scenario.Outputs{s.Outputs}, scenario.AutoOutputs, scenario.Bits, scenario.Logits),
		checkList(p, "labels", []scenario.Labels{s.Labels}, scenario.Levels, scenario.Continuous),
		checkList(p, "training", []perceived.Training{p.training}, perceived.BitByBit, perceived.ForDecoder),
		checkList(p, "levels", p.Levels),
	); err != nil {
		return err
	}
	for _, l := range p.Levels {
		if l < code.MinLevels || l > code.MaxLevels {
			return p.refuse(`"levels" has %d; want %d to %d`, l, code.MinLevels, code.MaxLevels)
		}
	}
	if err := p.checkPlane(kind); err != nil {
		return err
	}
	switch draw := p.Sampling; {
	case p.given["rel_err"] && !(draw.RelErr > 0):
		return p.refuse(`"rel_err" is %v: want a positive number`, draw.RelErr)
	case p.given["rel_err"] && p.given["samples"]:
		return p.refuse(`"samples" and "rel_err" both say how much to sample; want one of them`)
	case p.given["max_samples"] && !p.given["rel_err"]:
		return p.refuse(`"max_samples" goes with "rel_err"`)
	}
	for _, err := range []error{p.Sampling.Check(), scenario.CheckTemperature(s.Temperature)} {
		var value *scenario.ValueError
		if errors.As(err, &value) {
			return p.refuse("%q is %v: want %s", value.Name, value.Value, value.Want)
		}
		if err != nil {
			return p.refuse("%w", err)
		}
	}
	return nil
}

// checkPlane refuses keys that are for another plane of error models.
func (p *Plan) checkPlane(kind scenario.PlaneKind) error {
	if kind != scenario.PerceivedLabels {
		for _, name := range []string{"cutoff", "training"} {
			if p.given[name] {
				x, _ := kind.Keys()
				return p.refuse("%q does not go with %q", name, x)
			}
		}
		return nil
	}
	if p.given["cutoff"] && !(p.cutoff > 0 && !math.IsInf(p.cutoff, 1)) {
		return p.refuse(`"cutoff" is %v: want a positive number`, p.cutoff)
	}
	if p.training == perceived.ForDecoder && p.Scenario.Outputs == scenario.AutoOutputs {
		p.Scenario.Outputs = scenario.Logits // their signs mean nothing by themselves
	}
	return nil
}

// checkList refuses an empty list, one that has a value twice, and values other than some.
func checkList[V comparable](p *Plan, name string, values []V, of ...V) error {
	if len(values) == 0 {
		return p.refuse("%q is an empty list", name)
	}
	for i, v := range values {
		if slices.Contains(values[:i], v) {
			return p.refuse("%q has %#v twice", name, v)
		}
		if len(of) > 0 && !slices.Contains(of, v) {
			return p.refuse("%q has %#v; want some of %s", name, v, strings.ReplaceAll(strings.Trim(fmt.Sprint(of), "[]"), " ", ", "))
		}
	}
	return nil
}

// planAxis is an axis in a plan file: a range, written as for --r, or a list of numbers.
type planAxis scenario.Axis

// UnmarshalJSON implements json.Unmarshaler.
func (a *planAxis) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		var s string
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
		return (*scenario.Axis)(a).UnmarshalText([]byte(s))
	}
	var values []float64
	if err := json.Unmarshal(text, &values); err != nil {
		return errors.New(`want a range "lo:hi:count" or "lo:hi:count:log", or a list of numbers`)
	}
	if err := scenario.CheckList(values); err != nil {
		return err
	}
	*a = planAxis(scenario.ListAxis(values))
	return nil
}
