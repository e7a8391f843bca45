// Package must ends a test where a call fails that the test only needs.
package must

// TB is a test, a benchmark, or a property that package rapid checks.
type TB interface {
	Helper()
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
