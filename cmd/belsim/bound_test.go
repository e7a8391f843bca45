package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"belsim/cmd/explorer/engine"
	"belsim/montecarlo/compare"
	"belsim/montecarlo/heatmap"
	"belsim/montecarlo/verify"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
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

// TestOneBound: compare, verify, sweep, heatmap and the explorer give the same bound of a question. At no level
// is it above the largest error, or below the exact value.
func TestOneBound(t *testing.T) {
	t.Chdir(t.TempDir())
	for number, q := range []boundQuestion{
		{"unary", "gen", 64, 30, 20}, {"gray", "gen", 64, 0.6, 1.5}, {"unary", "auto", 64, 20, 8},
		{"johnson", "auto", 41, 14, 8}, {"johnson-nonzero", "auto", 31, 12, 6}, {"hexj", "auto", 64, 2, 5},
		{"binary", "gen", 16, 0.3, 1}, {"onehot", "gen", 16, 0.5, 2}, {"hadamard", "auto", 16, 0.1, 0.5},
	} {
		var v verify.Report
		q.run(t, &v, "verify --code "+q.code, "--samples 2 --backend cpu")
		for i, l := range v.Labels {
			most := float64(max(i, q.levels-i)) // bel-j can answer L+1
			if l.Bound > most || l.Exact > l.Bound*(1+1e-10) {
				t.Errorf("%+v, level %d: bound %v, largest error %v, exact value %v", q, i+1, l.Bound, most, l.Exact)
			}
		}
		for command, bound := range q.answers(t, fmt.Sprint("sweep", number)) {
			if !(math.Abs(bound-v.Overall.Bound) <= 1e-10*bound) {
				t.Errorf("%+v: verify has the bound %v, %s has %v", q, v.Overall.Bound, command, bound)
			}
		}
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
		"methods": ["bound", "mc"], "samples": 2}`, q.code, q.decoder, q.levels, q.r, q.sigma)
	write(t, "plan.json", plan)
	mustSweep(t, "plan.json --out "+folder)
	var merged struct{ Cells []struct{ Mean float64 } }
	must.Succeed(t, json.Unmarshal([]byte(mustRun(t, "merge "+folder+" --format=json")), &merged))
	out["sweep"] = merged.Cells[0].Mean
	must.Equal(t, "samples of compare and of sweep", ranked.Results[0].Mean, merged.Cells[1].Mean)

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
