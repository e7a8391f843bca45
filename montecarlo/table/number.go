package table

import (
	"encoding/json"
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
