package main

import (
	"bytes"
	"encoding/json"
	"math/bits"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"belsim/montecarlo/compare"
	"belsim/montecarlo/heatmap"
	"belsim/montecarlo/search"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

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

	// The search finds a code that is better than the named codes, by its exact value.
	var found search.Optimized
	read(&found, "optimize --levels 8 --bits 5 --decoder toy --r 0.4 --sigma 1 --steps 300 --samples 200")
	if found.Decoder != "toy" || found.Steps != 300 {
		t.Errorf("optimize searched for %s in %d steps, want toy and 300", found.Decoder, found.Steps)
	}
	if b := found.Baselines; len(b) == 0 || !(found.Exact < b[0].Exact) {
		t.Errorf("optimize found a code of error %v; the named ones are %+v", found.Exact, b)
	}
	if status, _, stderr := run("optimize --levels 8 --bits 5 --decoder bel-u"); status != exitUsage ||
		!strings.Contains(stderr, `,"toy" but got "bel-u"`) {
		t.Errorf("optimize for a decoder of one family of codes: exit %d, %q", status, stderr)
	}
}
