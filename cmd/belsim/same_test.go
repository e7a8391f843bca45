package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"belsim/cmd/explorer/engine"
	"belsim/montecarlo/compare"
	"belsim/montecarlo/heatmap"
	"belsim/montecarlo/verify"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// TestProcessors: a processor without AVX2 or AVX-512 gives the same bytes. One without FMA gives the
// same samples, and the theory differs in its last digits alone, as the page says: each exponential
// by at most an ulp, of which sums over a few thousand outputs keep far less than 1e-12, but for probabilities that
// are powers, below 1e-100.
func TestProcessors(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("such parts of a processor can be turned off on x86-64 alone")
	}
	t.Chdir(t.TempDir())
	_, _, network := smallNetwork(t)
	for i, a := range network {
		if strings.HasSuffix(a, ".npy") {
			network[i] = must.Get(filepath.Abs(a))(t)
		}
	}
	fit := strings.Join(network, " ")
	for _, args := range []string{"compare unary hexj --levels 32 --samples 777 --format json",
		"verify --code hexj --levels 16 --samples 300 --format json",
		fit, fit + " --format json"} {
		status, want, _ := process(t, nil, args)
		must.Equal(t, args, 0, status)
		for _, off := range []string{"cpu.avx2=off", "cpu.avx512f=off", "cpu.fma=off"} {
			_, got, _ := process(t, []string{"GODEBUG=" + off}, args)
			if off != "cpu.fma=off" {
				must.Equal(t, args+" "+off, want, got)
				continue
			}
			number := func(c rune) bool { return strings.ContainsRune(",: \n\"[]{}", c) }
			a, b := strings.FieldsFunc(want, number), strings.FieldsFunc(got, number)
			for i, x := range a {
				v, err := strconv.ParseFloat(x, 64)
				w, err2 := strconv.ParseFloat(b[min(i, len(b)-1)], 64)
				if len(a) != len(b) || (err != nil || err2 != nil) && x != b[i] || math.Abs(v-w) > 1e-12*math.Abs(v)+1e-100 {
					t.Errorf("%s %s: %s, and %s without", args, off, x, b[min(i, len(b)-1)])
				}
			}
		}
	}
}

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

// toy is a decoder that has nothing but Decode. It returns the lowest level whose code word is
// nearest to the word, as gen does. belsim knows nothing else about it: it has no bound, no fast
// path, no range and no kernel. So its numbers come the slow way, and must be gen's numbers.
type toy struct{ code *code.Code }

func (toy) Name() string { return "toy" }

func (d toy) Decode(word []uint64) int {
	level, least := 0, d.code.Bits()+1
	for i := range d.code.Levels() {
		distance := 0
		for j, w := range d.code.Word(i) {
			distance += bits.OnesCount64(w ^ word[j])
		}
		if distance < least {
			level, least = i+1, distance
		}
	}
	return level
}

// TestPluggedIn: a decoder with nothing but Decode and an entry in the registry works in every
// command that takes a decoder.
func TestPluggedIn(t *testing.T) {
	t.Chdir(t.TempDir())
	run := func(args string) (status int, stdout, stderr string) {
		var out, errs bytes.Buffer
		env := newEnvironment(strings.Fields(args+" --backend cpu"), &out, &errs)
		env.decoders = append(decode.Builtin(), decode.Entry{
			Name: "toy",
			New:  func(c *code.Code, _ decode.Options) (decode.Decoder, error) { return toy{c}, nil },
		})
		return env.belsim(), out.String(), errs.String()
	}
	// read runs a command and reads its JSON.
	read := func(v any, args string) {
		t.Helper()
		status, stdout, stderr := run(args + " --format json")
		if status != exitDone || stderr != "" {
			t.Fatalf("belsim %s: exit %d, %s%s", args, status, stderr, stdout)
		}
		must.Succeed(t, json.Unmarshal([]byte(stdout), v))
	}

	// Samples are the same random numbers, so sampled means are equal to the last bit.
	var c compare.Ranking
	if read(&c, "compare unary gray --levels 8 --decoder toy,gen --r 0.5 --sigma 1 --samples 3000"); len(c.Results) != 4 {
		t.Fatalf("compare gave %+v", c)
	}
	for i, r := range c.Results {
		want := c.Results[i^1] // the other decoder of the code
		if r.Mean == 0 || r.Decoder == want.Decoder {
			t.Errorf("compare: error %v of %s, and of %s", r.Mean, r.Decoder, want.Decoder)
		}
		want.Decoder = r.Decoder
		must.Equal(t, "compare", want, r, cmpopts.IgnoreFields(compare.Result{}, "Expected", "Tie"))
	}

	// The exact value is an enumeration, and it agrees with the samples.
	_, out, _ := run("verify --code gray --levels 16 --decoder toy --r 0.4 --sigma 1 --samples 20000")
	if !strings.Contains(out, "PASS every sampled mean agrees with its exact value; there is no bound") {
		t.Errorf("verify printed %s", out)
	}

	var maps [2]heatmap.Map
	for i, decoder := range []string{"toy", "gen"} {
		read(&maps[i], "heatmap gray unary --levels 8 --method exact --r 0.2:0.8:3 --sigma 1:2:2 --quiet --decoder "+decoder)
	}
	want := maps[1]
	want.A.Decoder, want.B.Decoder = "toy", "toy"
	must.Equal(t, "heatmap", want, maps[0], cmpopts.EquateApprox(0, 1e-12),
		cmpopts.IgnoreUnexported(heatmap.Map{}, heatmap.Values{}), cmpopts.IgnoreTypes(table.Provenance{}))
}
