package sweep

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/montecarlo/plane"
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

// TestPlanLimits: the largest numbers of levels and of samples are taken, and one more is not.
func TestPlanLimits(t *testing.T) {
	t.Chdir(t.TempDir())
	const plan = `{"codes": ["unary"], "levels": [%d], "r": [1], "sigma": [2], "methods": ["mc"], "samples": %d}`
	c := must.Get(code.New("unary", 16))(t)
	s := scenario.New(nil)
	most := montecarlo.FixedSampling().Of(s.WithoutErrors(c, must.Get(s.Decoder(decode.Auto, c))(t))).MaxSamples()
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
	want.Samples, want.Seed, want.Temperature = 10000, 1, 1
	want.R = plane.Axis{Values: []float64{0.5, 0.87, 1.52, 2.64, 4.59, 8}, Even: true, Log: true}
	must.Equal(t, "the example", want, s.Definition, cmpopts.EquateApprox(0.01, 0),
		cmpopts.EquateComparable(scenario.Measure{}))
	if len(s.Pairs) != 2 || s.Pairs[0].Decoder != "bel-u" || s.Pairs[1].Decoder != "bel-j" || s.Size() != 2*36*3 {
		t.Errorf("the example has %v, %d cells", s.Pairs, s.Size())
	}
	s = must.Get(read(`{"codes": ["unary"], "decoders": ["gen-ex", "auto"], "levels": [8, 4],
 "r": [1, 2, 4], "sigma": [1, 2, 4.5], "methods": ["mc"],
 "rel_err": 0.1, "max_samples": 70000, "seed": 7, "temperature": 3}`))(t).Sweep
	want = s.Definition
	want.RelErr, want.MaxSamples, want.Seed, want.Temperature = 0.1, 70000, 7, 3
	want.R.Even, want.R.Log, want.Sigma.Even = true, true, false
	want.Pairs = slices.Clone(want.Pairs)
	want.Pairs[0].Outputs, want.Pairs[1].Outputs, want.Pairs[2].Levels = decode.Logits, decode.Bits, 4
	must.Equal(t, "the plan", want, s.Definition, cmpopts.EquateComparable(scenario.Measure{}))
}
