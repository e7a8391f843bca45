package main

import (
	"bytes"
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"belsim/theory/code"
	"belsim/theory/decode"
)

// toy is a decoder that has nothing but Decode: the last level whose code word is nearest to
// the word.
type toy struct{ code *code.Code }

func (toy) Name() string { return "toy" }

func (d toy) Decode(word []uint64) int {
	level, least := 0, d.code.Bits()+1
	for i := range d.code.Levels() {
		distance := 0
		for j, w := range d.code.Word(i) {
			distance += bits.OnesCount64(w ^ word[j])
		}
		if distance <= least {
			level, least = i+1, distance
		}
	}
	return level
}

// TestPluggedIn: a decoder with nothing but Decode and an entry in the registry works in every
// command that takes a decoder.
func TestPluggedIn(t *testing.T) {
	t.Chdir(t.TempDir())
	belsim := func(args string) string {
		t.Helper()
		var out, errs bytes.Buffer
		env := newEnvironment(strings.Fields(args), &out, &errs)
		env.decoders = append(decode.Builtin(), decode.Entry{
			Name: "toy",
			New:  func(c *code.Code, _ decode.Options) (decode.Decoder, error) { return toy{c}, nil },
		})
		if status := env.belsim(); status != exitDone || errs.Len() > 0 {
			t.Fatalf("belsim %s: exit %d, %s%s", args, status, errs.String(), out.String())
		}
		return out.String()
	}
	// The codes have bits that are right more often than not, and ties are rare: the toy decodes
	// like gen but for ties, and its exact value is known by enumeration.
	out := belsim("compare unary gray --levels 8 --decoder toy,gen --r 0.5 --sigma 1 --samples 3000 --backend cpu")
	if !strings.Contains(out, "toy") {
		t.Errorf("compare printed %s", out)
	}
	out = belsim("compare johnson --levels 12 --decoder toy --shared-noise 0.5 --r 0.5 --sigma 1 --samples 300 --backend cpu")
	if !strings.Contains(out, "toy") {
		t.Errorf("compare with shared noise printed %s", out)
	}
	out = belsim("verify --code gray --levels 16 --decoder toy --r 0.4 --sigma 1 --samples 20000 --backend cpu")
	if !strings.Contains(out, "PASS every sampled mean agrees with its exact value; there is no bound") {
		t.Errorf("verify printed %s", out)
	}
	for _, method := range []string{"exact", "mc"} {
		out = belsim(fmt.Sprintf("heatmap gray unary --levels 8 --decoder toy --method %s --samples 50 --r 0.2:0.8:3 --sigma 1:2:2 --backend cpu", method))
		if !strings.Contains(out, "A = gray (toy), B = unary (toy)") || !strings.Contains(out, "6 valid") {
			t.Errorf("heatmap --method %s printed %s", method, out)
		}
	}
	out = belsim("optimize --levels 8 --bits 5 --decoder toy --r 0.4 --sigma 1 --steps 60 --samples 200 --backend cpu")
	if !strings.Contains(out, "found after 60 steps") {
		t.Errorf("optimize printed %s", out)
	}
}
