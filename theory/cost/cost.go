// Package cost says what an answer costs that is not the label: C(n, answer), at least 0, and 0 where
// the answer is level n.
package cost

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/arrayfile"
	"belsim/theory/base/position"
	"belsim/theory/base/refuse"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Cost is a shape of a distance, or an L × L matrix. Its zero value is the absolute error in levels.
// It is immutable and safe for concurrent use.
//
// Answers are levels, from 1. Some decoders answer with levels outside 1..L or between two, to which
// distances extend: values of levels linearly between two levels, and beyond the ends as at the end.
type Cost struct {
	shape  shape
	theta  float64     // of beyond
	values code.Values // of the levels; nil where they are even
	circle float64     // the number of levels, where level L is beside level 1; 0 elsewhere
	table  *mat.Dense  // of a file; nil elsewhere
	path   string      // of the file
}

type shape int

const (
	absolute shape = iota
	squared
	zeroOne
	beyond // 1 where the distance is above θ, which is above 0
)

// equal is how much, in levels, a distance may be above θ by rounding alone, which would decide
// the share of answers that are as far as θ.
const equal = decode.Equal

var shapes = [...]string{"absolute", "squared", "zero-one", "beyond:"}

// Want says what Parse reads.
const Want = "absolute, squared, zero-one, beyond:θ with a distance θ of 0 or more, or a FILE of L × L costs"

// Parse reads a cost: see Want. Distances are those of even levels, on a line or on the circle;
// beyond:0 is zero-one. The error names what is wrong.
func Parse(text string, levels int, circular bool) (Cost, error) {
	c := Cost{}
	if circular {
		c.circle = float64(levels)
	}
	for s, name := range shapes[:beyond] {
		if text == name {
			c.shape = shape(s)
			return c, nil
		}
	}
	if theta, ok := strings.CutPrefix(text, shapes[beyond]); ok {
		v, err := strconv.ParseFloat(theta, 64)
		if err != nil || !(v >= 0) || math.IsInf(v, 0) {
			return c, &refuse.Value{Name: "cost", Value: strconv.Quote(text), Want: Want}
		}
		return c.Beyond(v), nil
	}
	if !strings.ContainsAny(text, "./\\") && text != "-" {
		return c, &refuse.Value{Name: "cost", Value: strconv.Quote(text), Want: Want}
	}
	if circular {
		return c, fmt.Errorf("cost %s: a matrix has its own distances; want it without a circle, of even levels", text)
	}
	return read(text, levels)
}

// Costs of a matrix are 0 or from least to most: their squares, and sums of these, are doubles with
// all digits.
const least, most = 1e-100, 1e100

// read reads a matrix.
func read(path string, levels int) (Cost, error) {
	m, err := arrayfile.ReadFile(path)
	if err != nil {
		return Cost{}, err
	}
	if rows, columns := m.Dims(); rows != levels || columns != levels {
		return Cost{}, fmt.Errorf("%s: a matrix of %d × %d costs for %d levels; want %d × %d", path, rows, columns, levels,
			levels, levels)
	}
	for i := range levels {
		for k, v := range m.RawRowView(i) {
			if v != 0 && !(least <= math.Abs(v) && math.Abs(v) <= most) {
				return Cost{}, fmt.Errorf("%s: row %s, column %s: cost %v; want 0 or %g to %g, so that costs have squares",
					path, position.At(i+1), position.At(k+1), v, least, most)
			}
			if v < 0 || i == k && v != 0 {
				return Cost{}, fmt.Errorf("%s: row %s, column %s: cost %v; want numbers of 0 or more, and 0 on the diagonal",
					path, position.At(i+1), position.At(k+1), v)
			}
		}
	}
	return Cost{table: m, path: path}, nil
}

// OfValues is the absolute difference of the values of the levels, which are valid; nil stands for
// levels.
func OfValues(values code.Values) Cost { return Cost{values: values} }

// OfCode is the absolute distance of the levels of a code, as they are placed: on a line or a circle.
func OfCode(c *code.Code) Cost {
	if c.Circular() {
		return Circular(c.Levels())
	}
	return OfValues(c.Places())
}

// OnCircle reports whether level L is beside level 1.
func (c Cost) OnCircle() bool { return c.circle > 0 }

// Circular is the absolute distance on a circle of so many levels.
func Circular(levels int) Cost { return Cost{circle: float64(levels)} }

// Squared is the square of the distance.
func (c Cost) Squared() Cost { return Cost{shape: squared, values: c.values, circle: c.circle} }

// Beyond is 1 where the distance is above θ; of θ = 0, where the answer is not the label: zero-one, where
// the label is not the level next to an answer between levels.
func (c Cost) Beyond(theta float64) Cost {
	out := Cost{shape: beyond, theta: theta, values: c.values, circle: c.circle}
	if theta == 0 {
		out.shape = zeroOne
	}
	return out
}

// Check refuses decoders whose answers have no cost: a matrix has none for numbers between levels.
func (c Cost) Check(d decode.Decoder) error {
	if c.table != nil && decode.Real(d) {
		return fmt.Errorf("%s: decoder %s answers with numbers between levels, which have no costs in a matrix; "+
			"want a decoder that answers with levels", c.path, d.Name())
	}
	return nil
}

// Of is the cost of an answer, in levels, where the label is level n, from 1.
func (c Cost) Of(n int, answer float64) float64 {
	if c.table != nil {
		_, levels := c.table.Dims()
		return c.table.At(n-1, min(max(int(math.Round(answer)), 1), levels)-1)
	}
	switch c.shape {
	case zeroOne:
		away := float64(decode.Nearest(answer) - n)
		return share(away != 0 && (c.circle == 0 || math.Mod(away, c.circle) != 0))
	case beyond:
		return share(c.distance(n, answer) > c.theta+equal*c.width())
	}
	d := c.distance(n, answer)
	if c.shape == squared {
		return d * d
	}
	return d
}

// share is 1 for true.
func share(of bool) float64 {
	if of {
		return 1
	}
	return 0
}

// width is the mean width of a level, in the unit of distances.
func (c Cost) width() float64 {
	if c.values == nil {
		return 1
	}
	return (c.values[len(c.values)-1] - c.values[0]) / float64(len(c.values)-1)
}

func (c Cost) distance(n int, answer float64) float64 {
	if c.values != nil {
		at := min(max(answer, 1), float64(len(c.values)))
		below, part := math.Modf(at)
		v := c.values[int(below)-1]
		if part > 0 {
			v += part * (c.values[int(below)] - v)
		}
		return math.Abs(v - c.values[n-1])
	}
	d := math.Abs(answer - float64(n))
	if c.circle > 0 {
		d = math.Mod(d, c.circle)
		d = min(d, c.circle-d)
	}
	return d
}

// Slope is how fast the cost grows with the distance at a distance d, in levels: 0 for shares of answers.
func (c Cost) Slope(d float64) float64 {
	switch c.shape {
	case absolute:
		return 1
	case squared:
		return 2 * d
	}
	return 0
}

// Matrix reports whether the cost is a matrix from a file.
func (c Cost) Matrix() bool { return c.table != nil }

// Absolute reports whether the cost is |answer − n|, in levels.
func (c Cost) Absolute() bool {
	return c.shape == absolute && c.values == nil && c.circle == 0 && c.table == nil
}

// Even reports whether the cost is a function of the distance of even levels.
func (c Cost) Even() bool { return c.values == nil && c.table == nil }

// Rule makes the label of the smallest mean cost of a posterior, of labels that are levels unless
// the cost is a square.
func (c Cost) Rule() decode.Rule {
	switch {
	case c.table != nil || c.shape == beyond || c.shape == squared && (c.circle > 0 || c.values != nil):
		return decode.Least
	case c.shape == squared:
		return decode.Mean
	case c.shape == zeroOne:
		return decode.MAP
	}
	return decode.Median
}

// Largest is the largest cost of answers that are the levels lo..hi, where the label is level n.
func (c Cost) Largest(n, lo, hi int) (largest float64) {
	if c.table == nil && c.circle == 0 { // it grows with the distance on either side
		return max(c.Of(n, float64(lo)), c.Of(n, float64(hi)))
	}
	for m := lo; m <= hi; m++ {
		largest = max(largest, c.Of(n, float64(m)))
	}
	return largest
}

// Scale is the cost of a level, where an answer may be wrong by all of them: 1 where costs are errors
// in levels, and never 0.
func (c Cost) Scale(levels int) float64 {
	most := 0.0
	for n := 1; n <= levels; n++ {
		most = max(most, c.Largest(n, 1, levels))
		if c.table == nil {
			break // of all other distances the ends are the furthest
		}
	}
	if most == 0 {
		return 1
	}
	if c.circle > 0 {
		return most / math.Floor(c.circle/2)
	}
	return most / float64(levels-1)
}

// Name is the cost as Parse reads it.
func (c Cost) Name() string {
	switch {
	case c.table != nil:
		return c.path
	case c.shape == beyond:
		return shapes[beyond] + strconv.FormatFloat(c.theta, 'g', -1, 64)
	}
	return shapes[c.shape]
}

// String says for people what is expected of answers, in its unit.
func (c Cost) String() string {
	what := map[shape]string{absolute: "|error|", squared: "squared error", zeroOne: "share of wrong answers",
		beyond: fmt.Sprintf("share of answers that are more than %g %s away", c.theta, c.distances())}[c.shape]
	if c.table != nil {
		what = "cost of " + c.path
	}
	if unit := c.Unit(); unit != "" {
		what += " in " + unit
	}
	if c.circle > 0 {
		what += ", on the circle"
	}
	return what
}

// distances is the unit of distances.
func (c Cost) distances() string {
	if c.values != nil {
		return "label units"
	}
	return "levels"
}

// Unit is the unit of the cost, for people: levels or their square, the same of label units where
// levels have values, or "" where it has none.
func (c Cost) Unit() string {
	switch {
	case c.table != nil || c.shape > squared:
		return ""
	case c.shape == squared:
		return c.distances() + "²"
	}
	return c.distances()
}
