package sweep

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	"belsim/montecarlo/plane"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// read reads a plan from a file in the present folder.
func read(text string) (*Plan, error) {
	if err := os.WriteFile("plan.json", []byte(text), 0o666); err != nil {
		return nil, err
	}
	return ReadPlan(context.Background(), "plan.json", decode.Builtin())
}

// TestPlanRefused: whatever is not understood is refused in one line that names the file.
func TestPlanRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	const good = `{"codes": ["unary"], "levels": [16], "r": [1], "sigma": [2], "methods": ["bound"]}`
	must.Get(read(good))(t)
	must.Get(read(strings.NewReplacer(`[1]`, `"1:2:10000"`, `[2]`, `"1:2:1000"`).Replace(good)))(t)
	with := func(old, now string) string { return strings.Replace(good, old, now, 1) }
	for name, tt := range map[string]struct{ plan, want string }{
		"unknown key": {with(`"codes"`, `"cods": [], "codes"`),
			`cods is not a field that is known here; want one of codes, decoders`},
		"case":          {with(`"codes"`, `"Codes"`), `Codes is not a field`},
		"twice":         {with(`"r"`, `"levels": [8], "r"`), `levels occurs twice`},
		"garbage":       {good + "\n{}", "after top-level value"},
		"cut":           {good[:len(good)-1], "unexpected end"},
		"not an object": {`[]`, "want an object, not this array"},
		"empty file":    {``, "unexpected end"},
		"no codes":      {with(`"codes": ["unary"], `, ``), `has no "codes", or an empty list`},
		"empty list":    {with(`["unary"]`, `[]`), `has no "codes"`},
		"null":          {with(`["unary"]`, `null`), `has no "codes"`},
		"of networks":   {with(`"sigma": [2]`, `"label_noise": [2]`), "label_noise is not a field that is known here"},
		"a code twice":  {with(`["unary"]`, `["unary", "unary"]`), `has "unary" twice`},
		"unknown code": {with(`unary`, `unarie`),
			`unknown code "unarie"; want a .csv or .npy file or one of unary`},
		"unknown method":  {with(`"bound"`, `"guess"`), `"methods" has "guess"; want some of bound, exact, mc`},
		"unknown decoder": {with(`"r"`, `"decoders": ["bel"], "r"`), `"decoders" has "bel"`},
		"unfit decoder":   {with(`"r"`, `"decoders": ["bel-j"], "r"`), "bel-j reads johnson"},
		"unfit for all": {strings.Replace(with(`"r"`, `"decoders": ["bel-j"], "r"`), `"unary"`, `"unary", "hexj"`, 1),
			"decoder bel-j fits none of the codes"},
		"one level":        {with(`16`, `1`), `"levels" has 1; want 2 to`},
		"levels twice":     {with(`16`, `16, 16`), `"levels" has 16 twice`},
		"r of zero":        {with(`[1]`, `[0]`), `list of a range: 0: want positive numbers`},
		"r backwards":      {with(`[1]`, `[2, 1]`), `1 after 2`},
		"r in words":       {with(`[1]`, `"1:2"`), `range "1:2": want lo:hi:count`},
		"sigma of nothing": {with(`[2]`, `[]`), `list of a range: 0 numbers`},
		"a number in quotes": {with(`"r"`, `"seed": "1", "r"`),
			`seed: character 48: want a whole number, not this string`},
		"half a sample": {with(`"r"`, `"samples": 1.5, "r"`),
			`samples: character 51: want a whole number, not this number 1.5`},
		"one sample": {with(`"r"`, `"samples": 1, "r"`), `"samples" is 1: want at least 2`},
		"both":       {with(`"r"`, `"samples": 10, "rel_err": 0.1, "r"`), "both say how much"},
		"max alone":  {with(`"r"`, `"max_samples": 100000, "r"`), `goes with "rel_err"`},
		"rel_err":    {with(`"r"`, `"rel_err": -1, "r"`), `"rel_err" is -1`},
		"too many samples": {strings.Replace(with(`"r"`, `"samples": 18446744073709551615, "r"`), "bound", "mc", 1),
			"at most"},
		"temperature":   {with(`"r"`, `"temperature": 0, "r"`), `"temperature" is 0`},
		"labels":        {with(`"r"`, `"labels": "continuous", "r"`), "labels is not a field that is known here"},
		"no such prior": {with(`"r"`, `"prior": "none.csv", "r"`), "none.csv"},
		"no such file":  {with(`unary`, `none.csv`), "none.csv"},
		"no method is left": {strings.Replace(with(`"r"`, `"decoders": ["gen-ex"], "r"`), "unary", "hadamard", 1),
			"nothing is left to compute"},
		"too many cells": {strings.NewReplacer(`[1]`, `"1:2:10000"`, `[2]`, `"1:2:1001"`).Replace(good),
			"more than 10000000 cells; want several plans"},
	} {
		p, err := read(tt.plan)
		if p != nil || err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(),
			"plan.json") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; want %q", name, err, tt.want)
		}
	}
}

// TestPlanLimits: the largest numbers of levels and of samples are taken, and one more is not.
func TestPlanLimits(t *testing.T) {
	t.Chdir(t.TempDir())
	const plan = `{"codes": ["unary"], "levels": [%d], "r": [1], "sigma": [2], "methods": ["mc"], "samples": %d}`
	c := must.Get(code.New("unary", 16))(t)
	s := scenario.New(nil)
	most := s.Shape(c, must.Get(s.Decoder(decode.Auto, c))(t)).MaxSamples()
	must.Get(read(fmt.Sprintf(plan, 16, most)))(t)
	if _, err := read(fmt.Sprintf(plan, 16, most+1)); err == nil {
		t.Errorf("%d samples are taken", most+1)
	}
	for levels, fits := range map[int]bool{code.MaxLevels: true, code.MaxLevels + 1: false} {
		if _, err := (&Plan{scenario: s}).parse(fmt.Appendf(nil, plan, levels, 2)); (err == nil) != fits {
			t.Errorf("%d levels: %v", levels, err)
		}
	}
}

// TestIdentify: a code in a file is what its numbers are, whatever the sign of zero.
func TestIdentify(t *testing.T) {
	var ids []string
	for _, zero := range []float64{0, math.Copysign(0, -1), 1e-9} {
		c := must.Get(code.FromReal("a.csv", mat.NewDense(2, 2, []float64{0.5, zero, 1, 2})))(t)
		ids = append(ids, must.Get(identify(t.Context(), "a.csv", c))(t))
	}
	if ids[0] != ids[1] || ids[0] == ids[2] {
		t.Errorf("identities %q", ids)
	}
}

// TestPlanMeaning: what a plan leaves out has the usual values, and what it says arrives.
func TestPlanMeaning(t *testing.T) {
	t.Chdir(t.TempDir())
	s := must.Get(read(ExamplePlan))(t).Sweep
	want := s.Definition
	want.Samples, want.Within, want.Seed, want.Temperature = 10000, 5, 1, 1
	want.R = plane.Axis{Values: []float64{0.5, 0.87, 1.52, 2.64, 4.59, 8}, Even: true, Log: true}
	must.Equal(t, "the example", want, s.Definition, cmpopts.EquateApprox(0.01, 0))
	if len(s.Pairs) != 2 || s.Pairs[0].Decoder != "bel-u" || s.Pairs[1].Decoder != "bel-j" || s.Size() != 2*36*3 {
		t.Errorf("the example has %v, %d cells", s.Pairs, s.Size())
	}
	s = must.Get(read(`{"codes": ["unary"], "decoders": ["gen-ex", "auto"], "levels": [8, 4],
 "r": [1, 2, 4], "sigma": [1, 2, 4.5], "methods": ["mc"],
 "rel_err": 0.1, "max_samples": 70000, "seed": 7, "within": 2, "temperature": 3}`))(t).Sweep
	want = s.Definition
	want.RelErr, want.MaxSamples, want.Seed, want.Within, want.Temperature = 0.1, 70000, 7, 2, 3
	want.R.Even, want.R.Log, want.Sigma.Even = true, true, false
	want.Pairs = slices.Clone(want.Pairs)
	want.Pairs[0].Outputs, want.Pairs[1].Outputs, want.Pairs[2].Levels = scenario.Logits, scenario.Bits, 4
	must.Equal(t, "the plan", want, s.Definition)
}
