package scenario_test

import (
	"slices"
	"strings"
	"testing"

	"belsim/montecarlo/scenario"
	"belsim/theory/base/must"
)

// TestLogarithmic: an axis has the scale on which its numbers are more evenly spaced.
func TestLogarithmic(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   bool
	}{
		{[]float64{1, 2, 3}, false}, {[]float64{1, 2, 4}, true}, {[]float64{3}, false}, {[]float64{1, 9}, false},
		{[]float64{0.1, 0.2, 0.5}, true},             // steps 1:3, ratios 2 and 2.5
		{[]float64{1, 2, 3, 4, 5, 6, 8}, false},      // steps 1:2, logarithms of ratios 0.18 to 0.69
		{[]float64{1e15, 1e15 + 0.125, 2e15}, false}, // equal logarithms
	} {
		if got := scenario.ListAxis(tt.values).Logarithmic(); got != tt.want {
			t.Errorf("%v: %v", tt.values, got)
		}
	}
}

// TestAxisList: a range may be a list of ascending numbers, whose spacing is found.
func TestAxisList(t *testing.T) {
	for text, want := range map[string]struct {
		values []float64
		log    bool
	}{
		"0.1,0.2,0.5": {[]float64{0.1, 0.2, 0.5}, false}, "1, 2,3": {[]float64{1, 2, 3},
			false}, "1,2,4": {[]float64{1, 2, 4}, true}, "0.5": {[]float64{0.5}, false},
	} {
		r := scenario.Axis{Log: !want.log}
		if err := r.UnmarshalText([]byte(text)); err != nil || !slices.Equal(r.Values, want.values) ||
			r.Log != want.log {
			t.Errorf("%q: %+v, %v; want %+v", text, r, err, want)
		}
	}
	r := scenario.Axis{}
	must.Succeed(t, r.UnmarshalText([]byte("3,4")))
	if err := r.UnmarshalText([]byte("1:5:3")); err != nil || !slices.Equal(r.Values, []float64{1, 3, 5}) {
		t.Errorf("a range after a list: %+v, %v", r, err)
	}
	for text, want := range map[string]string{
		"1,": "want lo:hi:count", "2,1": "want ascending numbers", "1,1": "want ascending numbers", "0,1": "want positive numbers",
		"1,Inf": "want positive numbers", "1,NaN": "want positive numbers", strings.Repeat("1,", 20_000) + "1": "want",
	} {
		if err := r.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.10q: error %v, want %q", text, err, want)
		}
	}
}
