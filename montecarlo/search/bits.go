package search

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"belsim/montecarlo/plane"
	"belsim/theory/code"
)

// BitCounts are numbers of bits, written as an axis: one, such as 12, or lo:hi:count, and so on.
type BitCounts []int

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *BitCounts) UnmarshalText(text []byte) error {
	var r plane.Axis
	if err := r.UnmarshalText(text); err != nil {
		return err
	}
	for _, v := range r.Values {
		if v != math.Round(v) && !strings.Contains(string(text), ":") {
			return fmt.Errorf("%v: want a whole number of bits", v)
		}
		if n := int(math.Round(v)); !slices.Contains(*b, n) {
			*b = append(*b, n)
		}
	}
	return nil
}

// defaultBits returns the numbers of bits of a trade-off for L levels, ascending: twelve numbers
// from the fewest to L, evenly spaced in their logarithms, and the numbers of bits of the
// named codes between.
func defaultBits(levels int) BitCounts {
	least := leastBits(levels)
	most := max(levels, least)
	var out BitCounts
	add := func(n int) {
		if n >= least && n <= most && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	for _, v := range plane.NewAxis(float64(least), float64(max(levels, least+1)), 12, true).Values {
		add(int(math.Round(v)))
	}
	for _, f := range code.Families() {
		add(f.Bits(levels))
	}
	slices.Sort(out)
	return out
}
