package plane

import (
	"bytes"
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
	// the values, in ascending order
	Values []float64 `json:"values"`
	// the values are evenly spaced, in their logarithms with log
	Even bool `json:"even"`
	// the values are evenly spaced in their logarithms
	Log bool `json:"log"`
}

// maxValues is the largest number of values of an axis.
const maxValues = 10000

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *Axis) UnmarshalText(text []byte) error {
	read, err := parseAxis(string(text))
	if err != nil {
		return fmt.Errorf("range %q: %w", text, err)
	}
	*a = read
	return nil
}

func parseAxis(text string) (Axis, error) {
	wrong := errors.New("want lo:hi:count, lo:hi:count:log, or numbers with commas between them")
	parts := strings.Split(text, ":")
	if len(parts) == 1 {
		var values []float64
		for part := range strings.SplitSeq(text, ",") {
			v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
			if err != nil {
				return Axis{}, wrong
			}
			values = append(values, v)
		}
		if err := CheckList(values); err != nil {
			return Axis{}, err
		}
		return ListAxis(values), nil
	}
	log := len(parts) == 4
	if len(parts) != 3 && !(log && parts[3] == "log") {
		return Axis{}, wrong
	}
	lo, err1 := strconv.ParseFloat(parts[0], 64)
	hi, err2 := strconv.ParseFloat(parts[1], 64)
	count, err3 := strconv.Atoi(parts[2])
	switch {
	case errors.Join(err1, err2, err3) != nil:
		return Axis{}, errors.New("want two numbers and a count, lo:hi:count")
	case !(lo > 0) || math.IsInf(hi, 0) || math.IsNaN(hi):
		return Axis{}, errors.New("want positive finite numbers")
	case count < 1 || count > maxValues:
		return Axis{}, fmt.Errorf("count %d; want 1 to %d", count, maxValues)
	case hi < lo || hi == lo && count > 1:
		return Axis{}, errors.New("want lo below hi")
	}
	a := NewAxis(lo, hi, count, log)
	if CheckList(a.Values) != nil {
		return Axis{}, fmt.Errorf("there are no %d different numbers between lo and hi", count)
	}
	return a, nil
}

// UnmarshalJSON reads an axis as results have it or, as plans do, a range in a text or a list of
// numbers.
func (a *Axis) UnmarshalJSON(text []byte) error {
	type plain Axis
	var written string
	var values []float64
	switch {
	case bytes.HasPrefix(text, []byte("{")):
		return json.Unmarshal(text, (*plain)(a))
	case json.Unmarshal(text, &written) == nil:
		return a.UnmarshalText([]byte(written))
	case json.Unmarshal(text, &values) != nil:
		return fmt.Errorf(`range %s: want "lo:hi:count", "lo:hi:count:log", or a list of numbers`, text)
	}
	if err := CheckList(values); err != nil {
		return fmt.Errorf("list of a range: %w", err)
	}
	*a = ListAxis(values)
	return nil
}

// ListAxis is the axis of ascending numbers, whose spacing it finds: even, or even in their
// logarithms alone.
func ListAxis(values []float64) Axis {
	if evenly(values, identity) {
		return Axis{Values: values, Even: true}
	}
	log := evenly(values, math.Log)
	return Axis{values, log, log}
}

func identity(v float64) float64 { return v }

// CheckList refuses lists that are no axis: want 1 to 10000 positive numbers, ascending.
func CheckList(values []float64) error {
	for i, v := range values {
		switch {
		case !(v > 0) || math.IsInf(v, 0):
			return fmt.Errorf("%v: want positive numbers", v)
		case i > 0 && v <= values[i-1]:
			return fmt.Errorf("%v after %v: want ascending numbers, each of them once", v, values[i-1])
		}
	}
	if len(values) == 0 || len(values) > maxValues {
		return fmt.Errorf("%d numbers; want 1 to %d", len(values), maxValues)
	}
	return nil
}

// Logarithmic reports whether a picture shows the axis in logarithms: where these alone are evenly
// spaced or, of numbers that are not evenly spaced at all, where the logarithms are nearer to it.
// How near is the ratio of the largest step to the smallest.
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
	return ratio(math.Log) < ratio(identity)
}

// Or is the axis, or another one where it is empty.
func (a Axis) Or(b Axis) Axis {
	if len(a.Values) == 0 {
		return b
	}
	return a
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

// Around is an axis of count numbers from v/factor to v·factor, evenly spaced in the
// logarithms. It ends at the smallest and at the largest number that can be written.
func Around(v, factor float64, count int) Axis {
	return NewAxis(max(v/factor, math.SmallestNonzeroFloat64), min(v*factor, math.MaxFloat64), count, true)
}
