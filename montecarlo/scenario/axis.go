package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Axis holds the values of one parameter of a map or a sweep, in ascending order. Its text is
// lo:hi:count, lo:hi:count:log, or a list of numbers with commas between them.
type Axis struct {
	Values []float64 `json:"values" doc:"the values, in ascending order"`
	Even   bool      `json:"even" doc:"the values are evenly spaced, in their logarithms with log"`
	Log    bool      `json:"log" doc:"the values are evenly spaced in their logarithms"`
}

// MaxValues is the largest number of values of an axis.
const MaxValues = 10000

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *Axis) UnmarshalText(text []byte) error {
	parts := strings.Split(string(text), ":")
	if len(parts) == 1 {
		return a.list(string(text))
	}
	log := len(parts) == 4
	if len(parts) != 3 && !(log && parts[3] == "log") {
		return fmt.Errorf("range %q: want lo:hi:count, lo:hi:count:log, or numbers with commas between them", text)
	}
	lo, err1 := strconv.ParseFloat(parts[0], 64)
	hi, err2 := strconv.ParseFloat(parts[1], 64)
	count, err3 := strconv.Atoi(parts[2])
	switch {
	case errors.Join(err1, err2, err3) != nil:
		return fmt.Errorf("range %q: want two numbers and a count, lo:hi:count", text)
	case !(lo > 0) || math.IsInf(hi, 0) || math.IsNaN(hi):
		return fmt.Errorf("range %q: want positive finite numbers", text)
	case count < 1 || count > MaxValues:
		return fmt.Errorf("range %q: count %d; want 1 to %d", text, count, MaxValues)
	case hi < lo || hi == lo && count > 1:
		return fmt.Errorf("range %q: want lo below hi", text)
	}
	*a = NewAxis(lo, hi, count, log)
	if CheckList(a.Values) != nil {
		return fmt.Errorf("range %q: there are no %d different numbers between lo and hi", text, count)
	}
	return nil
}

// UnmarshalJSON reads an axis as results have it; [Axis.UnmarshalText] alone would want a text there.
func (a *Axis) UnmarshalJSON(text []byte) error {
	type plain Axis
	return json.Unmarshal(text, (*plain)(a))
}

// list sets the axis to a list of numbers.
func (a *Axis) list(text string) error {
	var values []float64
	for _, part := range strings.Split(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil {
			return fmt.Errorf("range %q: want lo:hi:count, lo:hi:count:log, or numbers with commas between them", text)
		}
		values = append(values, v)
	}
	if err := CheckList(values); err != nil {
		return fmt.Errorf("range %q: %w", text, err)
	}
	*a = ListAxis(values)
	return nil
}

// ListAxis is the axis of ascending numbers, whose spacing it finds.
func ListAxis(values []float64) Axis {
	even, log := spacing(values)
	return Axis{values, even, log}
}

// CheckList refuses lists that are no axis: want 1 to MaxValues positive numbers, ascending.
func CheckList(values []float64) error {
	for i, v := range values {
		switch {
		case !(v > 0) || math.IsInf(v, 0):
			return fmt.Errorf("%v: want positive numbers", v)
		case i > 0 && v <= values[i-1]:
			return fmt.Errorf("%v after %v: want ascending numbers, each of them once", v, values[i-1])
		}
	}
	if len(values) == 0 || len(values) > MaxValues {
		return fmt.Errorf("%d numbers; want 1 to %d", len(values), MaxValues)
	}
	return nil
}

// spacing reports whether ascending numbers are evenly spaced, and whether it is their logarithms
// alone that are.
func spacing(values []float64) (even, log bool) {
	if evenly(values, func(v float64) float64 { return v }) {
		return true, false
	}
	log = evenly(values, math.Log)
	return log, log
}

// Logarithmic reports whether a picture shows the axis in logarithms: where these alone are evenly
// spaced or, of numbers that are not evenly spaced at all, where the logarithms are nearer to it. How
// near is the ratio of the largest step to the smallest.
func (a Axis) Logarithmic() bool {
	if a.Even || a.Log {
		return a.Log
	}
	ratio := func(f func(float64) float64) float64 {
		least, most := math.Inf(1), 0.0
		for i := 1; i < len(a.Values); i++ {
			step := f(a.Values[i]) - f(a.Values[i-1])
			least, most = min(least, step), max(most, step)
		}
		return most / least
	}
	return ratio(math.Log) < ratio(func(v float64) float64 { return v })
}

// evenly reports whether a function of ascending numbers is evenly spaced.
func evenly(values []float64, f func(float64) float64) bool {
	n := len(values)
	lo, hi := f(values[0]), f(values[n-1])
	steps := float64(max(n-1, 1))
	for i, v := range values {
		if want := lo + (hi-lo)*float64(i)/steps; math.Abs(f(v)-want) > 1e-6*(hi-lo)/steps {
			return false
		}
	}
	return true
}

// NewAxis is the axis of count evenly spaced numbers from lo to hi, both included. With log their
// logarithms are evenly spaced.
func NewAxis(lo, hi float64, count int, log bool) Axis {
	v := make([]float64, count)
	ratio := hi / lo
	for i := range v {
		switch f := float64(i) / float64(max(count-1, 1)); {
		case i == count-1 && i > 0:
			v[i] = hi
		case i == 0:
			v[i] = lo
		case log && math.IsInf(ratio, 0):
			v[i] = math.Exp(math.Log(lo) + f*(math.Log(hi)-math.Log(lo)))
		case log:
			v[i] = lo * math.Exp(f*math.Log(ratio))
		case math.IsInf(hi-lo, 0):
			v[i] = (1-f)*lo + f*hi
		default:
			v[i] = lo + f*(hi-lo)
		}
	}
	return Axis{Values: v, Even: true, Log: log}
}

// AxisAround is an axis of count numbers from v/factor to v·factor, evenly spaced in the
// logarithms. It ends at the smallest and at the largest number that can be written.
func AxisAround(v, factor float64, count int) Axis {
	return NewAxis(max(v/factor, math.SmallestNonzeroFloat64), min(v*factor, math.MaxFloat64), count, true)
}
