package table

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Number is a float64 that may not exist. NaN and the infinities stand for a number that
// does not exist: null in JSON, empty in CSV, a dash in tables for people.
type Number float64

// Missing returns a number that does not exist.
func Missing() Number { return Number(math.NaN()) }

// IsMissing reports whether the number does not exist.
func (n Number) IsMissing() bool { return math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) }

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	if n.IsMissing() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *Number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = Missing()
		return nil
	}
	return json.Unmarshal(text, (*float64)(n))
}

// String returns the shortest text that reads back as the same number, and "" where the
// number does not exist.
func (n Number) String() string {
	if n.IsMissing() {
		return ""
	}
	return strconv.FormatFloat(float64(n), 'g', -1, 64)
}

// Short is for people: four significant digits, or a dash where the number does not
// exist.
func (n Number) Short() string {
	if n.IsMissing() {
		return dash
	}
	return strconv.FormatFloat(float64(n), 'g', 4, 64)
}

// dash is printed for a value that does not exist.
const dash = "–"

// PlusMinus is a mean with its standard error, such as 1.082 ± 0.002.
func PlusMinus(mean, stderr Number) string {
	return fmt.Sprintf("%s ± %.1g", mean.Short(), float64(stderr))
}

// Metric writes a rate with three digits and a prefix.
func Metric(rate Number) string {
	if rate.IsMissing() {
		return "–"
	}
	x := float64(rate)
	for _, p := range []struct {
		unit float64
		name string
	}{{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}} {
		if x >= p.unit {
			return fmt.Sprintf("%.3g%s", x/p.unit, p.name)
		}
	}
	return fmt.Sprintf("%.3g", x)
}
