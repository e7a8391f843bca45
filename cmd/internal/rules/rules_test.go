package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"belsim/theory/base/must"
)

// TestRules: empty values are errors, flags without an effect are notes, and both only for flags
// that are given.
func TestRules(t *testing.T) {
	var c struct {
		A float64
		D []string
		E bool `negatable:""`
	}
	rules := slices.Concat(NoEffect(true, "none is read", "d", "e"), NoEffect(false, "never", "a"))
	for _, tt := range []struct{ args, refused, noted string }{
		{"--a 1", "", ""},
		{"--e --d x", "", "--d has no effect: none is read; --e has no effect: none is read"},
		{"--no-e", "", ""},
		{"--a 0", "--a 0: want more than zero", ""},
		{"--d x,,y", `--d "x,,y": one of its values is empty`, "--d has no effect: none is read"},
	} {
		parser, err := kong.New(&c)
		must.Succeed(t, err)
		k, err := parser.Parse(strings.Fields(tt.args))
		must.Succeed(t, err)
		err = CheckValues(k)
		if tt.refused == "" && err != nil || tt.refused != "" &&
			(err == nil || !strings.Contains(err.Error(), tt.refused)) {
			t.Errorf("%s: %v, want %q", tt.args, err, tt.refused)
		}
		if got := strings.Join(Unused(Given(k), rules), "; "); got != tt.noted {
			t.Errorf("%s: %q, want %q", tt.args, got, tt.noted)
		}
	}
}
