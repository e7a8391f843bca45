package verify_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
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
	"belsim/theory/decode"
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

// answers is P(answer | level i+1) by the definition: over all outputs of few bits.
func answers(c *code.Code, d decode.Decoder, e mat.Matrix, i int) map[float64]float64 {
	out := map[float64]float64{}
	for w := range 1 << c.Bits() {
		p := 1.0
		for k := range c.Bits() {
			if w>>k&1 == 1 != c.Bit(i, k) {
				p *= e.At(i, k)
			} else {
				p *= 1 - e.At(i, k)
			}
		}
		out[decode.Value(d, []uint64{uint64(w)})] += p
	}
	return out
}

// TestCosts: what compare and verify say of a cost is what its definition and the law of the answers say,
// exact values to 1e-10 and samples by verify's own test, whose false alarms are below 1e-6 for each
// of 60 problems; and the same on any number of workers. Sampled confusion matrices are near the exact ones:
// by Hoeffding an entry is off by more than √(ln(2/α)/2N) with a probability of less than α, here 1e-9
// for each of at most 60·9² entries.
func TestCosts(t *testing.T) {
	rng := rand.New(rand.NewPCG(58, 1))
	path := filepath.Join(t.TempDir(), "costs.csv")
	for trial := range 60 {
		levels := 3 + rng.IntN(6)
		c := must.Get(code.New([]string{"unary", "johnson", "gray", "hexj"}[rng.IntN(4)], levels))(t)
		if c.Bits() > 9 {
			continue
		}
		table, text := mat.NewDense(levels, levels, nil), ""
		for n := range levels {
			for m := range levels {
				if n != m {
					table.Set(n, m, math.Round(100*rng.Float64())/10)
				}
				text += fmt.Sprintf("%g%s", table.At(n, m), map[bool]string{true: "\n", false: ","}[m+1 == levels])
			}
		}
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
		kind, theta := trial%4, 0.5*float64(1+rng.IntN(5))
		of := []string{"squared", "zero-one", fmt.Sprintf("beyond:%g", theta), path}[kind]
		cost := func(n int, answer float64) float64 {
			away := math.Abs(answer - float64(n))
			switch kind {
			case 0:
				return away * away
			case 1:
				return map[bool]float64{true: 1}[math.Floor(answer+0.5+1e-6) != float64(n)]
			case 2:
				return map[bool]float64{true: 1}[away > theta+1e-6]
			}
			return table.At(n-1, min(max(int(answer), 1), levels)-1)
		}
		names := []string{"auto", "gen", "gen-ex"}[:3-kind/3] // a matrix has no costs of real numbers
		name := names[rng.IntN(len(names))]
		e := mat.NewDense(levels, c.Bits(), nil)
		for n := range levels {
			for k := range c.Bits() {
				e.Set(n, k, []float64{0, 1, 0.5, 0.2 * rng.Float64(), rng.Float64()}[max(0, rng.IntN(12)-7)])
			}
		}
		s := scenario.New(fixed{e})
		s.Outputs = decode.Bits
		must.Succeed(t, s.SetCost(of, false, levels))
		draw := montecarlo.Sampling{Samples: 4000, Seed: uint64(trial), Answers: true}
		candidates := must.Get(compare.NewCandidates(t.Context(), s, []*code.Code{c}, []string{name}, draw))(t)
		p := candidates.Problems[0]
		what := fmt.Sprintf("problem %d, %s of %d levels, %s, %s", trial, c.Name(), levels, p.Decoder.Name(), of)

		var mean, square, worst float64
		for i := range levels {
			level := 0.
			for a, q := range answers(c, p.Decoder, e, i) {
				d := math.Abs(a - float64(i+1))
				level += q * cost(i+1, a)
				square += q * d * d / float64(levels)
			}
			worst = max(worst, level)
			mean += level / float64(levels)
		}
		run := montecarlo.Run{Backend: montecarlo.CPU{Workers: 1}}
		ranking := must.Get(compare.Rank(t.Context(), s, run, candidates, draw))(t)
		got := ranking.Results[0]
		must.Equal(t, "cost", of, ranking.Cost)
		for _, v := range []struct {
			name      string
			got, want float64
		}{{"exact", got.Exact, mean}, {"RMS", got.RMS, math.Sqrt(square)},
			{"worst", got.WorstMean, worst}} {
			must.Near(t, fmt.Sprintf("%s: %s", what, v.name), v.want, v.got, 1e-10*max(1, v.want))
		}

		weights := theory.Uniform(levels)
		th := must.Get(expect.Of(t.Context(), 0, p.Expected(), weights, expect.Skip{AnyLaw: true}))(t)
		check := func(workers int) *verify.Report {
			run := montecarlo.Run{Backend: montecarlo.CPU{Workers: workers}}
			return must.Get(verify.Check(t.Context(), s, run, p, th, weights, draw))(t)
		}
		v := check(1)
		if v.Pass == nil || !*v.Pass || v.Confusion != "exact" {
			t.Errorf("%s: %v, %s", what, v.Failures, v.Confusion)
		}
		must.Equal(t, what+": numbers of three workers", v.Labels, check(3).Labels)
		sums := make([]montecarlo.Sums, levels)
		var spans []montecarlo.Span
		for i := range levels {
			spans = append(spans, montecarlo.Span{Row: i, Samples: draw.Samples})
		}
		must.Succeed(t, (montecarlo.CPU{}).Sample(t.Context(), p, spans, sums, nil))
		most := math.Sqrt(math.Log(2/1e-9) / 2 / float64(draw.Samples))
		for i, sum := range sums {
			shares := make([]float64, levels)
			for j, n := range sum.Answers {
				m := min(max(int(math.Round(p.Answer(j))), 1), levels)
				shares[m-1] += float64(n) / float64(draw.Samples)
			}
			total := 0.
			for m, share := range shares {
				total += v.Matrix.At(i, m)
				must.Near(t, fmt.Sprintf("%s: P(%d | %d), sampled", what, m+1, i+1), v.Matrix.At(i, m), share, most)
			}
			must.Within(t, what+": sum of a row", total, 1-1e-10, 1+1e-10)
		}
	}
}
