package verify_test

import (
	"context"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/montecarlo/compare"
	"belsim/montecarlo/verify"
	"belsim/theory"
	"belsim/theory/base/matrix"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/expect"
)

// known is what a cell says of an error that is known to be 0.
var known = regexp.MustCompile(`(^| )0( ± 0)?( |$)|± 0( |$)|^100.00 %|^0.00 %`)

// fixed is an error model of one table.
type fixed struct{ e mat.Matrix }

func (f fixed) Errors(context.Context, *code.Code) (mat.Matrix, error) { return f.e, nil }
func (fixed) Parameters() scenario.Parameters                          { return scenario.Parameters{} }
func (fixed) String() string                                           { return "fixed" }
func (fixed) Assumption() string                                       { return "fixed" }

// TestUnseenErrors: where errors are rare, and exact values are above 0, no table says that a
// sampled error is 0, or certain; where no bit can err, they say so. The standard error of no
// errors is below 1/1.96 of the exact value with a probability of at most exp(−1.96·√2) = 6.3 %: of
// 300 problems 40 have a chance of 1e-5.
func TestUnseenErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 6))
	unseen, beyond := 0, 0
	for i := range 300 {
		levels := 2 + rng.IntN(12)
		c := must.Get(code.New([]string{"unary", "gray", "johnson"}[rng.IntN(3)], levels))(t)
		s := scenario.New(nil)
		rare := math.Pow(10, -1-5*rng.Float64())
		certain := false
		switch rng.IntN(4) {
		case 0:
			s.Model = scenario.Mixture{R: rare, Sigma: 0.3 + 3*rng.Float64()}
		case 1:
			s.Model, certain = fixed{mat.NewDense(levels, c.Bits(), nil)}, true
		default:
			e := mat.NewDense(levels, c.Bits(), nil)
			for n := range levels {
				for k := range c.Bits() {
					e.Set(n, k, []float64{0, 1, 1 - rare, rare}[max(rng.IntN(12)-8, 0)])
				}
			}
			s.Model = fixed{e}
		}
		draw := montecarlo.Sampling{Samples: 2 + rng.Uint64N(100), Seed: uint64(i)}
		candidates, err := compare.NewCandidates(t.Context(), s, []*code.Code{c}, []string{"gen"}, draw)
		if errmodel.Invalid(err) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		run := montecarlo.Run{Backend: montecarlo.CPU{}}
		got := must.Get(compare.Rank(t.Context(), s, run, candidates, draw))(t)
		weights := theory.Uniform(levels)
		th := must.Get(expect.Of(t.Context(), 0, candidates.Problems[0].Expected(), weights, expect.Skip{}))(t)
		v := must.Get(verify.Check(t.Context(), s, run, candidates.Problems[0], th, weights, draw))(t)
		r := got.Results[0]
		var cells []string // what the table says of random errors
		row, head := got.Table().Rows[0], got.Table().Head
		for column := len(head) - 3; column < len(head); column++ {
			if head[column] != "sampled" && r.ExactLo == nil && !table.Missing(r.Exact) {
				continue // exact, too
			}
			cells = append(cells, head[column]+": "+row[column])
		}
		random := false
		for i, l := range v.Labels {
			if !matrix.Certain(matrix.Row(nil, i, candidates.Problems[0].Errors)) {
				random = true
				if l.StdErr == 0 || known.MatchString(table.Sampled(l.Mean, l.StdErr, l.Samples)) {
					t.Errorf("problem %d: level %+v", i, l)
				}
			}
		}
		cells = append(cells, "all: "+table.SampledPlusMinus(v.Overall.Mean, v.Overall.StdErr, v.Overall.Samples))
		for _, cell := range cells {
			_, text, _ := strings.Cut(cell, ": ")
			if random && r.Exact > 0 && known.MatchString(text) {
				t.Errorf("problem %d, %s of %d levels, exact %v: %q", i, c.Name(), levels, r.Exact, cell)
			}
		}
		none := slices.ContainsFunc(v.Labels, func(l verify.Level) bool { return l.Mean == 0 && l.StdErr > 0 })
		if out := new(strings.Builder); v.Write(out, "", "") != nil || strings.Contains(out.String(),
			"none in") != none {
			t.Errorf("problem %d: %s", i, out)
		}
		switch {
		case certain && (r.Mean != 0 || r.StdErr != 0 || !strings.Contains(strings.Join(row, "|"), "|0|0")):
			t.Errorf("problem %d: no bit can err, and the table says %q", i, row)
		case r.Mean == 0 && r.Exact > 0:
			unseen++
			if r.Exact > 1.96*r.StdErr {
				beyond++
			}
		}
	}
	if unseen < 60 || beyond > 40 {
		t.Errorf("%d of %d problems without a wrong sample have an exact value beyond 1.96 standard errors", beyond,
			unseen)
	}
}
