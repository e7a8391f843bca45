package rules

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"belsim/theory/base/must"
)

// TestRules: empty values are errors, flags without an effect are notes, and both only for flags
// that are given.
func TestRules(t *testing.T) {
	var c struct {
		A float64
		B *float64
		N int
		W int `default:"0"`
		T time.Duration
		D []string
		E bool `negatable:""`
		S string
		U uint64
		V uint64 `default:"1"`
	}
	rules := slices.Concat(NoEffect(true, "none is read", "d", "e"), NoEffect(false, "never", "a"))
	for _, tt := range []struct{ args, refused, noted string }{
		{"--a 1", "", ""},
		{"--e --d x", "", "--d has no effect: none is read; --e has no effect: none is read"},
		{"--no-e", "", ""},
		{"--a 0", "--a 0: want a positive finite number", ""},
		{"--a=-1", "--a -1: want a positive finite number", ""},
		{"--a NaN", "--a NaN: want a positive finite number", ""},
		{"--a Inf", "--a +Inf: want a positive finite number", ""},
		{"--a 1e-300 --b 0 --n 1 --w 0 --t 1ns", "", ""},
		{"--b=-1e-300", "--b -1e-300: want a finite number from 0", ""},
		{"--b Inf", "--b +Inf: want a finite number from 0", ""},
		{"--b NaN", "--b NaN: want a finite number from 0", ""},
		{"--n 0", "--n 0: want 1 or more", ""},
		{"--n=-1", "--n -1: want 1 or more", ""},
		{"--w=-1", "--w -1: want 0 or more", ""},
		{"--t 0s", "--t 0s: want more than zero", ""},
		{"--d x,,y", `--d "x,,y": one of its values is empty`, "--d has no effect: none is read"},
		{"--u 1 --v 0", "", ""},
		{"--u 0", "--u 0: want 1 or more", ""},
		{"--s -", "", ""},
		{"--s -.5", "", ""},
		{"--s=-x", "", ""},
		{"--s -x", `--s: want a value, but got "-x"`, ""},
		{"--s", "--s: want a value", ""},
	} {
		parser, err := kong.New(&c, kong.KindMapper(reflect.String, kong.MapperFunc(Text)))
		must.Succeed(t, err)
		k, err := parser.Parse(strings.Fields(tt.args))
		if err == nil {
			err = CheckValues(k)
		}
		if tt.refused == "" && err != nil || tt.refused != "" &&
			(err == nil || !strings.Contains(err.Error(), tt.refused)) {
			t.Errorf("%s: %v, want %q", tt.args, err, tt.refused)
		}
		if k == nil {
			continue
		}
		if got := strings.Join(Unused(Given(k), rules), "; "); got != tt.noted {
			t.Errorf("%s: %q, want %q", tt.args, got, tt.noted)
		}
	}
}
