package search

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"belsim/montecarlo/scenario"
	"belsim/theory/code"
)

// BitCounts are numbers of bits, written as an axis: one, such as 12, or lo:hi:count, and so on.
type BitCounts []int

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *BitCounts) UnmarshalText(text []byte) error {
	var r scenario.Axis
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

// DefaultBits returns the numbers of bits of a trade-off for L levels, ascending: twelve numbers
// from the fewest to L, evenly spaced in their logarithms, and the numbers of bits of the
// named codes between.
func DefaultBits(levels int) BitCounts {
	least := LeastBits(levels)
	most := max(levels, least)
	var out BitCounts
	add := func(n int) {
		if n >= least && n <= most && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	for _, v := range scenario.NewAxis(float64(least), float64(max(levels, least+1)), 12, true).Values {
		add(int(math.Round(v)))
	}
	for _, f := range code.Families() {
		add(f.Bits(levels))
	}
	slices.Sort(out)
	return out
}

// ParseColumns reads a list of columns, numbers from 1 and ranges of them such as 1,2,5-8. It
// returns them in that order, each one time, and counts them from 0. An empty text is an
// empty list.
func ParseColumns(text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	var out []int
	for _, part := range strings.Split(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, err := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil || first < 1 || last < first || last > MaxBits {
			return nil, fmt.Errorf("%q is no column; want numbers from 1 and ranges of them, such as 1,2,5-8", part)
		}
		for k := first - 1; k < last; k++ {
			if !slices.Contains(out, k) {
				out = append(out, k)
			}
		}
	}
	return out, nil
}
