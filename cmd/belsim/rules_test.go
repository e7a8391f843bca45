package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"belsim/theory/base/must"
)

// TestNegativeValues: a value that begins with a minus and a digit is a value of every flag, as
// behind an equals sign.
func TestNegativeValues(t *testing.T) {
	parse := func(args ...string) string {
		_, err := newEnvironment(nil, io.Discard, io.Discard).parse(t.Context(), args, func(int) {})
		return fmt.Sprint(err)
	}
	k := must.Get(newEnvironment(nil, io.Discard, io.Discard).parse(t.Context(), []string{"codes"}, func(int) {}))(t)
	types := map[string]bool{}
	for _, cmd := range k.Model.Leaves(false) {
		for _, f := range cmd.Flags {
			kind := f.Target.Type().String()
			if types[kind] || f.IsBool() || kind == "[]int" { // no level, bit or column is negative
				continue
			}
			types[kind] = true
			for _, value := range []string{"-60:60", "-.5", "-1,2", "-1s"} {
				apart, together := parse(cmd.Name, "--"+f.Name, value), parse(cmd.Name, "--"+f.Name+"="+value)
				if apart != together || strings.Contains(apart, "short flag") {
					t.Errorf("%s --%s %s: %s; with an equals sign: %s", cmd.Name, f.Name, value, apart, together)
				}
			}
		}
	}
	if len(types) < 10 {
		t.Errorf("flags of the types %v were found", types)
	}
}
