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

// TestAxis: a range has both ends and even steps, also where its ends are further apart than numbers
// reach; of a list of ascending numbers, the spacing is found. exp(log) is good to a few units in the
// last place, and far ranges to a few hundred.
func TestAxis(t *testing.T) {
	for text, want := range map[string]struct {
		log    bool
		off    float64 // relative
		values []float64
	}{
		"1:3:3":                  {false, 0, []float64{1, 2, 3}},
		"2:2:1":                  {false, 0, []float64{2}},
		"1:100:3:log":            {true, 1e-14, []float64{1, 10, 100}},
		"1e-200:1e200:3:log":     {true, 1e-12, []float64{1e-200, 1, 1e200}},
		"5e-324:1.7e308:2:log":   {true, 0, []float64{5e-324, 1.7e308}},
		"1e-300:1e300:5:log":     {true, 1e-12, []float64{1e-300, 1e-150, 1, 1e150, 1e300}},
		"2.2e-308:1.7e308:1:log": {true, 0, []float64{2.2e-308}},
		"5e-324:1.6e308:3":       {false, 1e-12, []float64{5e-324, 0.8e308, 1.6e308}},
		"0.1,0.2,0.5":            {false, 0, []float64{0.1, 0.2, 0.5}},
		"1, 2,3":                 {false, 0, []float64{1, 2, 3}},
		"1,2,4":                  {true, 0, []float64{1, 2, 4}},
		"0.5":                    {false, 0, []float64{0.5}},
	} {
		got := plane.Axis{Values: []float64{7}, Log: !want.log}
		must.Succeed(t, got.UnmarshalText([]byte(text)))
		near := func(a, b float64) bool { return math.Abs(a-b) <= want.off*b }
		if got.Log != want.log || !slices.EqualFunc(got.Values, want.values, near) {
			t.Errorf("%s: %+v, want %+v", text, got, want)
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
}

// TestAxisRefused: the error says which range it is.
func TestAxisRefused(t *testing.T) {
	const form, ascending, positive = "want lo:hi:count", "want ascending numbers", "want positive numbers"
	for text, want := range map[string]string{
		"1,": form, "2,1": ascending, "1,1": ascending, "0,1": positive, "1,Inf": positive, "1,NaN": positive,
		strings.Repeat("1,", 20_000) + "1": "want", "1:1.0000000000000002:3": "different numbers",
		"1:1.0000000000000002:3:log": "different numbers", "5e-324:1e-323:9": "different numbers", "": form,
		"1:2": form, "1:2:3:4": form, "0:1:2": "want positive", "2:1:2": "want lo below hi",
		"1:Inf:2": "finite numbers", "1:2:0": "count 0", "1:2:10001": "count 10001", "a:2:3": "two numbers and a count",
	} {
		err := new(plane.Axis).UnmarshalText([]byte(text))
		must.Refused(t, err, want, fmt.Sprintf("%q", text))
	}
}

// TestAround: the number is in the middle, and every value can be written.
func TestAround(t *testing.T) {
	for _, v := range []float64{5e-324, 1e-308, 1e308, math.MaxFloat64} {
		for i, got := range plane.Around(v, 8, 61).Values {
			if !(got > 0) || math.IsInf(got, 0) {
				t.Errorf("around %v: value %d is %v", v, i+1, got)
			}
		}
	}
	if got := plane.Around(2, 8, 61).Values; math.Abs(got[30]-2) > 1e-14 || got[0] != 0.25 || got[60] != 16 {
		t.Errorf("around 2: %v", got)
	}
}

// TestCheck: a value with which nothing can be computed is refused wherever it stands.
func TestCheck(t *testing.T) {
	good := plane.ListAxis([]float64{1, 2, 3})
	for _, bad := range [][2]plane.Axis{{good, plane.ListAxis([]float64{1, 1e308})},
		{plane.ListAxis([]float64{5e-324, 1}), good}} {
		if plane.Check(good, good) != nil || plane.Check(bad[0], bad[1]) == nil {
			t.Errorf("%v: %v, %v", bad, plane.Check(good, good), plane.Check(bad[0], bad[1]))
		}
	}
}
