package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestRules: contradictions are errors, flags without an effect are notes, and both only for flags
// that are given.
func TestRules(t *testing.T) {
	var c struct {
		A, B, C float64
		D       []string
		E       bool `negatable:""`
	}
	rules := slices.Concat(Contradicts("a", "give a number", "b", "c"), NoEffect(true, "none is read", "d", "e"), NoEffect(false, "never", "a"))
	for _, tt := range []struct{ args, refused, noted string }{
		{"--a 1", "", ""},
		{"--a 1 --b 2", "--a and --b both give a number; want one of them", ""},
		{"--b 1 --c 2 --d x", "", "--d has no effect: none is read"},
		{"--e --d x", "", "--d has no effect: none is read; --e has no effect: none is read"},
		{"--no-e", "", ""},
		{"--a 0", "--a 0: want more than zero", ""},
		{"--d x,,y", `--d "x,,y": one of its values is empty`, "--d has no effect: none is read"},
		{"--a -1 --b=-2", "--a and --b", ""},
	} {
		parser, err := kong.New(&c)
		if err != nil {
			t.Fatal(err)
		}
		k, err := parser.Parse(JoinNegative(strings.Fields(tt.args)))
		if err != nil {
			t.Fatal(err)
		}
		given := Given(k)
		err = CheckValues(k)
		if err == nil {
			err = Contradictions(given, rules)
		}
		if tt.refused == "" && err != nil || tt.refused != "" && (err == nil || !strings.Contains(err.Error(), tt.refused)) {
			t.Errorf("%s: %v, want %q", tt.args, err, tt.refused)
		}
		if got := strings.Join(Unused(given, rules), "; "); got != tt.noted {
			t.Errorf("%s: %q, want %q", tt.args, got, tt.noted)
		}
	}
}
