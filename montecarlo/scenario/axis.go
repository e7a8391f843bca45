package scenario

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Range is a range of numbers, written lo:hi:count or lo:hi:count:log, or a list of them with commas
// between them.
type Range struct {
	Lo, Hi float64
	Count  int
	Log    bool      // evenly spaced in the logarithms
	List   []float64 // of a list: its numbers, ascending; nil for other ranges
}

// MaxRange is the largest number of values of a range.
const MaxRange = 10000

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *Range) UnmarshalText(text []byte) error {
	if !strings.Contains(string(text), ":") {
		return r.list(string(text))
	}
	*r = Range{}
	parts := strings.Split(string(text), ":")
	if len(parts) != 3 && (len(parts) != 4 || parts[3] != "log") {
		return fmt.Errorf("range %q: want lo:hi:count, lo:hi:count:log, or numbers with commas between them", text)
	}
	var err [3]error
	r.Lo, err[0] = strconv.ParseFloat(parts[0], 64)
	r.Hi, err[1] = strconv.ParseFloat(parts[1], 64)
	r.Count, err[2] = strconv.Atoi(parts[2])
	r.Log = len(parts) == 4
	switch {
	case errors.Join(err[:]...) != nil:
		return fmt.Errorf("range %q: want two numbers and a count, lo:hi:count", text)
	case !(r.Lo > 0) || math.IsInf(r.Hi, 0) || math.IsNaN(r.Hi):
		return fmt.Errorf("range %q: want positive finite numbers", text)
	case r.Count < 1 || r.Count > MaxRange:
		return fmt.Errorf("range %q: count %d; want 1 to %d", text, r.Count, MaxRange)
	case r.Hi < r.Lo || r.Hi == r.Lo && r.Count > 1:
		return fmt.Errorf("range %q: want lo below hi", text)
	}
	values := r.Values()
	for i := 1; i < len(values); i++ {
		if !(values[i] > values[i-1]) {
			return fmt.Errorf("range %q: there are no %d different numbers between lo and hi", text, r.Count)
		}
	}
	return nil
}

// list sets the range to a list of numbers.
func (r *Range) list(text string) error {
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
	_, log := Spacing(values)
	*r = Range{Lo: values[0], Hi: values[len(values)-1], Count: len(values), Log: log, List: values}
	return nil
}

// CheckList refuses lists that are no axis: want 1 to MaxRange positive numbers, ascending.
func CheckList(values []float64) error {
	for i, v := range values {
		switch {
		case !(v > 0) || math.IsInf(v, 0):
			return fmt.Errorf("%v: want positive numbers", v)
		case i > 0 && v <= values[i-1]:
			return fmt.Errorf("%v after %v: want ascending numbers, each of them once", v, values[i-1])
		}
	}
	if len(values) == 0 || len(values) > MaxRange {
		return fmt.Errorf("%d numbers; want 1 to %d", len(values), MaxRange)
	}
	return nil
}

// Spacing reports whether ascending numbers are evenly spaced, and whether it is their logarithms
// alone that are.
func Spacing(values []float64) (even, log bool) {
	if evenly(values, func(v float64) float64 { return v }) {
		return true, false
	}
	log = evenly(values, math.Log)
	return log, log
}

// LogAxis reports whether a picture shows ascending numbers on an axis of logarithms: where these alone
// are evenly spaced or, of numbers that are neither, where the logarithms are nearer to it. How near
// is the ratio of the largest step to the smallest.
func LogAxis(values []float64) bool {
	even, log := Spacing(values)
	if even {
		return log
	}
	ratio := func(f func(float64) float64) float64 {
		least, most := math.Inf(1), 0.0
		for i := 1; i < len(values); i++ {
			step := f(values[i]) - f(values[i-1])
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

// Values lists the numbers of the range, both ends included.
func (r Range) Values() []float64 {
	if r.List != nil {
		return slices.Clone(r.List)
	}
	v := make([]float64, r.Count)
	ratio := r.Hi / r.Lo
	for i := range v {
		switch f := float64(i) / float64(max(r.Count-1, 1)); {
		case i == r.Count-1 && i > 0:
			v[i] = r.Hi
		case i == 0:
			v[i] = r.Lo
		case r.Log && math.IsInf(ratio, 0):
			lo := math.Log(r.Lo)
			v[i] = math.Exp(lo + f*(math.Log(r.Hi)-lo))
		case r.Log:
			v[i] = r.Lo * math.Exp(f*math.Log(ratio))
		case math.IsInf(r.Hi-r.Lo, 0):
			v[i] = (1-f)*r.Lo + f*r.Hi
		default:
			v[i] = r.Lo + f*(r.Hi-r.Lo)
		}
	}
	return v
}

// logAxis reports whether a picture shows the range on an axis of logarithms.
func (r Range) logAxis() bool { return r.Log || r.List != nil && LogAxis(r.List) }

// Around is a range of count numbers from v/factor to v·factor, evenly spaced in the
// logarithms. It ends at the smallest and at the largest number that can be written.
func Around(v, factor float64, count int) Range {
	return Range{
		Lo: max(v/factor, math.SmallestNonzeroFloat64), Hi: min(v*factor, math.MaxFloat64),
		Count: count, Log: true,
	}
}
