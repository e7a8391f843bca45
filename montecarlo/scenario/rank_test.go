package scenario

import (
	"slices"
	"testing"
)

// TestRank: the smallest error comes first; of errors that agree to six digits, the first code.
func TestRank(t *testing.T) {
	var c Comparison
	for _, e := range []struct {
		code  string
		exact float64
	}{{"a", 0.261506}, {"b", 0.2615054}, {"c", 0.2615046}, {"d", 0.261504}, {"e", 0}} {
		c.Results = append(c.Results, CodeResult{Code: e.code, Exact: e.exact})
	}
	c.rank()
	var got []string
	for _, r := range c.Results {
		got = append(got, r.Code)
	}
	if want := []string{"e", "d", "b", "c", "a"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
