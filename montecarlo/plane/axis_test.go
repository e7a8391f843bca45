package plane_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"belsim/montecarlo/plane"
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
		if got := plane.ListAxis(tt.values).Logarithmic(); got != tt.want {
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
		r := plane.Axis{Log: !want.log}
		if err := r.UnmarshalText([]byte(text)); err != nil || !slices.Equal(r.Values, want.values) ||
			r.Log != want.log {
			t.Errorf("%q: %+v, %v; want %+v", text, r, err, want)
		}
	}
	r := plane.Axis{}
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

// TestRange: both ends are there, and the steps are even.
func TestRange(t *testing.T) {
	for text, want := range map[string][]float64{
		"1:3:3":       {1, 2, 3},
		"2:2:1":       {2},
		"1:100:3:log": {1, 10, 100},
	} {
		var r plane.Axis
		must.Succeed(t, r.UnmarshalText([]byte(text)))
		got := r.Values
		for i := range want {
			// exp(log) is good to a few units in the last place.
			if math.Abs(got[i]-want[i]) > 1e-14*want[i] {
				t.Errorf("%s: %v, want %v", text, got, want)
			}
		}
	}
	// Ranges whose ends are further apart than numbers reach.
	for text, want := range map[string][]float64{
		"1e-200:1e200:3:log":     {1e-200, 1, 1e200},
		"5e-324:1.7e308:2:log":   {5e-324, 1.7e308},
		"1e-300:1e300:5:log":     {1e-300, 1e-150, 1, 1e150, 1e300},
		"2.2e-308:1.7e308:1:log": {2.2e-308},
		"5e-324:1.6e308:3":       {5e-324, 0.8e308, 1.6e308},
	} {
		var r plane.Axis
		must.Succeed(t, r.UnmarshalText([]byte(text)))
		for i, got := range r.Values {
			if !(math.Abs(got-want[i]) <= 1e-12*want[i]) {
				t.Errorf("%s: value %d is %v, want %v", text, i+1, got, want[i])
			}
		}
	}
	if got := plane.NewAxis(-1.5e308, 1.5e308, 3, false).Values; !slices.Equal(got,
		[]float64{-1.5e308, 0, 1.5e308}) {
		t.Errorf("a range whose difference is no number: %v", got)
	}
	// The values of ordinary ranges are what they were, to the last bit.
	for i, got := range plane.NewAxis(0.3, 170, 61, true).Values[:60] {
		if want := 0.3 * math.Exp(float64(i)/60*math.Log(170/0.3)); got != want {
			t.Errorf("value %d is %v, want %v", i+1, got, want)
		}
	}
	for _, v := range []float64{5e-324, 1e-308, 1e308, math.MaxFloat64} {
		for i, got := range plane.Around(v, 8, 61).Values {
			if !(got > 0) || math.IsInf(got, 0) {
				t.Errorf("around %v: value %d is %v", v, i+1, got)
			}
		}
	}
	for _, text := range []string{"1:1.0000000000000002:3", "1:1.0000000000000002:3:log", "5e-324:1e-323:9", "", "1:2",
		"1:2:3:4", "0:1:2", "2:1:2", "1:Inf:2", "1:2:0", "1:2:10001", "a:2:3"} {
		if err := new(plane.Axis).UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(),
			fmt.Sprintf("%q", text)) {
			t.Errorf("range %q: error %v", text, err)
		}
	}
	if got := plane.Around(2, 8, 61).Values; math.Abs(got[30]-2) > 1e-14 || got[0] != 0.25 || got[60] != 16 {
		t.Errorf("around 2: %v", got)
	}
}
