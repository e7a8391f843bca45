package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"belsim/cmd/explorer/engine"
	"belsim/errmodel"
	"belsim/montecarlo/compare"
	"belsim/montecarlo/heatmap"
	"belsim/montecarlo/verify"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/code"
)

// boundQuestion asks for the bound of a code and decoder under a mixture.
type boundQuestion struct {
	code, decoder string
	levels        int
	r, sigma      float64
}

// run asks a command, and reads its JSON.
func (q boundQuestion) run(t *testing.T, into any, command, more string) {
	t.Helper()
	text := mustRun(t, fmt.Sprintf("%s --levels %d --decoder %s --r %v --sigma %v --format=json %s", command, q.levels,
		q.decoder, q.r, q.sigma, more))
	must.Succeed(t, table.ReadJSON([]byte(text), into))
}

// TestOneBound: compare, verify, sweep, heatmap and the explorer give the same bound of a question.
// At no level is it above the largest error, or below the exact value; of gen and bel-u it is what
// the test adds up itself. Sums of at most 64·64·64 positive terms are relatively wrong by less than
// 2¹⁸·2⁻⁵² < 1e-10.
func TestOneBound(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(1, 2))
	questions := []boundQuestion{
		{"unary", "gen", 64, 30, 20}, {"gray", "gen", 64, 0.6, 1.5}, {"unary", "auto", 64, 20, 8},
		{"johnson", "auto", 41, 14, 8}, {"johnson-nonzero", "auto", 31, 12, 6}, {"hexj", "auto", 64, 2, 5},
	}
	names := []string{"unary", "johnson", "johnson-nonzero", "gray", "hexj", "binary", "b1jdj", "onehot", "hadamard"}
	cut := 0
	for len(questions) < 60 {
		q := boundQuestion{names[rng.IntN(len(names))], []string{"auto", "gen"}[rng.IntN(2)], 6 + rng.IntN(15), 0,
			0.3 * math.Pow(40, rng.Float64())}
		c := must.Get(code.New(q.code, q.levels))(t)
		profile := must.Get(errmodel.NewProfile(t.Context(), c, c.Transitions(), q.sigma))(t)
		q.r = profile.MaxR() * math.Pow(0.01, rng.Float64())
		if !math.IsInf(q.r, 0) {
			questions = append(questions, q)
		}
	}
	for number, q := range questions {
		var v verify.Report
		q.run(t, &v, "verify --code "+q.code, "--samples 2 --backend cpu")
		for i, l := range v.Labels {
			most := float64(max(i, q.levels-1-i))
			if v.Decoder == "bel-j" && q.levels%2 == 1 && q.code == "johnson" { // which can answer L+1
				most = max(most, float64(q.levels-i))
			}
			if l.Bound > most || l.Exact > l.Bound*(1+1e-10) {
				t.Errorf("%+v, level %d: bound %v, largest error %v, exact value %v", q, i+1, l.Bound, most, l.Exact)
			}
			want, known := boundByHand(t, v.Decoder, q, i)
			if known && math.Abs(l.Bound-min(want, most)) > 1e-10*l.Bound {
				t.Errorf("%+v, level %d: bound %v, want %v, at most %v", q, i+1, l.Bound, want, most)
			}
			if l.Bound == most {
				cut++
			}
		}
		for command, bound := range q.answers(t, fmt.Sprint("sweep", number)) {
			if !(math.Abs(bound-v.Overall.Bound) <= 1e-10*bound) {
				t.Errorf("%+v: verify has the bound %v, %s has %v", q, v.Overall.Bound, command, bound)
			}
		}
	}
	if cut < 100 {
		t.Errorf("the bounds of %d levels are at the largest error: the questions are too easy", cut)
	}
}

// answers are the bounds over all levels of the other commands.
func (q boundQuestion) answers(t *testing.T, folder string) map[string]float64 {
	t.Helper()
	var ranked compare.Ranking
	q.run(t, &ranked, "compare "+q.code, "--samples 2 --backend cpu")
	out := map[string]float64{"compare": ranked.Results[0].Bound}

	var drawn heatmap.Map
	q.run(t, &drawn, "heatmap "+q.code+" "+q.code, "--method bound")
	out["heatmap"] = drawn.Cells[0].Bound.A

	plan := fmt.Sprintf(`{"codes": [%q], "decoders": [%q], "levels": [%d], "r": [%v], "sigma": [%v],
		"methods": ["bound"]}`, q.code, q.decoder, q.levels, q.r, q.sigma)
	write(t, "plan.json", plan)
	mustSweep(t, "plan.json --out "+folder)
	var merged struct{ Cells []struct{ Mean float64 } }
	must.Succeed(t, json.Unmarshal([]byte(mustRun(t, "merge "+folder+" --format=json")), &merged))
	out["sweep"] = merged.Cells[0].Mean

	question := fmt.Sprintf(`{"scene": {"levels": %d, "decoder": %q, "outputs": "auto", "model": "mixture", "r": %v,
		"sigma": %v, "temperature": 1, "seed": 1}, "code": {"name": %q}, "samples": 2}`, q.levels, q.decoder, q.r,
		q.sigma, q.code)
	answer := must.Get(engine.New("").Write(t.Context(), "row", []byte(question)))(t)
	var row struct{ JSON struct{ Bound float64 } }
	line, _, _ := bytes.Cut(answer, []byte("\n"))
	must.Succeed(t, json.Unmarshal(line, &row))
	out["the explorer"] = row.JSON.Bound
	return out
}

// boundByHand adds up Eq. 2, or the union bound for gen.
func boundByHand(t *testing.T, decoder string, q boundQuestion, i int) (bound float64, known bool) {
	t.Helper()
	c := must.Get(code.New(q.code, q.levels))(t)
	e := must.Get(must.Get(errmodel.NewProfile(t.Context(), c, c.Transitions(), q.sigma))(t).Mixture(q.r))(t)
	for m := range q.levels {
		law := []float64{1} // of the number of wrong bits among those that differ
		for k := range c.Bits() {
			switch p := e.At(i, k); {
			case decoder == "bel-u" && m == 0:
				bound += p
			case decoder == "gen" && c.Bit(i, k) != c.Bit(m, k):
				next := make([]float64, len(law)+1)
				for n, x := range law {
					next[n] += x * (1 - p)
					next[n+1] += x * p
				}
				law = next
			}
		}
		for n, x := range law {
			if decoder == "gen" && 2*n >= len(law)-1 {
				bound += math.Abs(float64(m-i)) * x
			}
		}
	}
	return bound, decoder != "bel-j"
}

// TestExactEnds: --exact says how long any law takes, or leaves a dash where that is more than
// minutes.
func TestExactEnds(t *testing.T) {
	status, stdout, stderr := run(t,
		"compare johnson --levels 360 --r 3 --sigma 4 --decoder gen --samples 2 --exact --format=json --backend cpu")
	var found compare.Ranking
	must.Succeed(t, table.ReadJSON([]byte(stdout), &found))
	if r := found.Results[0]; status != exitDone || r.AnyLaw != nil || table.Missing(r.Exact) ||
		!strings.Contains(stderr, "a dash stands for any law of johnson (gen), which takes more than 5 minutes") {
		t.Errorf("exit %d, %+v, standard error %q", status, r, stderr)
	}
}
