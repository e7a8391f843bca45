// Package must has the checks that tests share. Get and Succeed end a test where a call fails that
// it only needs; Equal, Near, Within and Refused judge a result, and the test goes on.
package must

import (
	"math"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"belsim/theory/base/position"
)

// TB is a test, a benchmark, or a property that package rapid checks.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// Get returns a value that a call gives, as in must.Get(code.New("unary", 8))(t), and ends the test
// where the call fails.
func Get[T any](value T, err error) func(TB) T {
	return func(t TB) T {
		t.Helper()
		Succeed(t, err)
		return value
	}
}

// Succeed ends the test where there is an error.
func Succeed(t TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Equal reports the fields in which a value differs from what is wanted. NaN equals NaN.
func Equal[T any](t TB, name string, want, got T, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, append(options, cmpopts.EquateNaNs())...); diff != "" {
		t.Errorf("%s: -want +got\n%s", name, diff)
	}
}

// Within reports a number that is not from lo to hi.
func Within(t TB, name string, got, lo, hi float64) {
	t.Helper()
	if !(lo <= got && got <= hi) {
		t.Errorf("%s is %v, want %v to %v", name, got, lo, hi)
	}
}

// Near reports a number that is further from what is wanted than a tolerance.
func Near(t TB, name string, want, got, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v", name, got, want)
	}
}

// Refuse is what Refused expects of a call that gives a value, as in must.Refuse(code.New("unary", 0))(t, "0 levels").
func Refuse[T any](_ T, err error) func(t TB, want ...string) {
	return func(t TB, want ...string) {
		t.Helper()
		Refused(t, err, want...)
	}
}

// Refused reports what is no error of one line that has some texts, as people read them.
func Refused(t TB, err error, want ...string) {
	t.Helper()
	lacks := func(text string) bool { return !strings.Contains(Text(err), text) }
	if err == nil || strings.Contains(err.Error(), "\n") || slices.ContainsFunc(want, lacks) {
		t.Errorf("error %v, want one line about %q", err, want)
	}
}

// Text is what people read of an error.
func Text(err error) string { return position.Count(err.Error(), 1) }
