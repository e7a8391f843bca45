package code

import (
	"fmt"
	"math"
	"sort"

	"belsim/theory/base/position"
)

// Values are the labels of the levels of a code, numbers that ascend, in the place of evenly spaced
// ones. A place is such a label in mean widths of a level, as a + b·label with 1 for level 1 and L
// for level L. Where levels are even, the place of level n is n.
type Values []float64

// even is how far values lie from even ones, as a share of their range, that count as even: what
// float32 rounds by. Python has the same.
const even = 1e-6

// Check refuses what are no labels of so many levels.
func (v Values) Check(levels int) error {
	if len(v) != levels {
		return fmt.Errorf("%d values for %d levels; want the label of each level", len(v), levels)
	}
	return v.check()
}

func (v Values) check() error {
	for i, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) || i > 0 && x <= v[i-1] {
			return fmt.Errorf("value of level %s is %v; want finite numbers that ascend", position.At(i+1), x)
		}
	}
	if len(v) < MinLevels {
		return fmt.Errorf("%d values; want at least %d", len(v), MinLevels)
	}
	if err := CheckRange(v[0], v[len(v)-1]); err != nil {
		return err
	}
	for i, x := range v[1:] {
		if step := x - v[i]; step < nearest*v.width() {
			return fmt.Errorf("levels %s and %s are %.3g apart, which vanishes in the mean distance of %.3g: want "+
				"labels that lie further apart, such as logarithms", position.At(i+1), position.At(i+2), step, v.width())
		}
	}
	return nil
}

// nearest is the smallest distance of neighbouring levels, in mean distances: float64 has 16 digits,
// and places up to 65,536.
const nearest = 1e-12

// Squares of ranges of these widths are numbers of full precision, and so are their sums over all
// levels.
const leastRange, mostRange = 0x1p-480, 0x1p480

// CheckRange refuses ends of a range whose distance overflows or vanishes.
func CheckRange(lo, hi float64) error {
	if all := hi - lo; !(all >= leastRange && all <= mostRange) {
		return fmt.Errorf("a range from %.3g to %.3g: want one that ascends by %.0g to %.0g", lo, hi, leastRange, mostRange)
	}
	return nil
}

// Even reports whether the values are evenly spaced, but for rounding.
func (v Values) Even() bool {
	last := len(v) - 1
	lo, all := v[0], v[last]-v[0]
	for i, x := range v {
		if math.Abs(x-lo-float64(i)*(all/float64(last))) > even*all {
			return false
		}
	}
	return true
}

// width is the mean width of a level.
func (v Values) width() float64 { return (v[len(v)-1] - v[0]) / float64(len(v)-1) }

// Placed returns the code with the places of such values; they are valid, and nil stands for even
// ones.
func (c *Code) Placed(v Values) *Code {
	out := *c
	if out.places = nil; v != nil && !v.Even() {
		for _, x := range v {
			out.places = append(out.places, 1+(x-v[0])/v.width())
		}
		out.places[len(v)-1] = float64(len(v))
	}
	return &out
}

// Uneven reports whether the levels of the code have places of their own.
func (c *Code) Uneven() bool { return c.places != nil }

// Places are those of the levels, of length L; nil where levels are even. They must not be changed.
func (c *Code) Places() []float64 { return c.places }

// Place is the label of row i, from 0, in mean widths of a level: see Values. Rows beyond the ends,
// which some decoders answer, have that of the end where levels are uneven.
func (c *Code) Place(i int) float64 {
	if c.places == nil {
		return float64(i + 1)
	}
	return c.places[min(max(i, 0), c.levels-1)]
}

// Answer is the place of what a decoder of levels answers.
func (c *Code) Answer(level float64) float64 {
	if c.places == nil {
		return level
	}
	return c.Place(int(level) - 1)
}

// Nearest is the row, from 0, whose place is nearest to one, and the level that it has in
// proportion to the places beside it.
func (c *Code) Nearest(place float64) (row int, level float64) { return Nearest(c.places, place) }

// Nearest is Code.Nearest for places that are given.
func Nearest(places []float64, place float64) (row int, level float64) {
	k := min(max(sort.SearchFloat64s(places, place), 1), len(places)-1)
	share := (place - places[k-1]) / (places[k] - places[k-1])
	if row = k - 1; share >= 0.5 {
		row = k
	}
	return row, float64(k) + share
}
