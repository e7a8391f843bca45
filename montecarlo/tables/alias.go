package tables

import (
	"math"
	"math/bits"
)

// Column is one of equally likely columns of an alias table (Walker 1977, in Vose's
// construction), which puts points on bits with probability proportional to their
// hazards: a column is drawn uniformly, then the point goes to the column's own bit or
// to its alias.
//
// The number of columns is a power of two, so that the top bits of a draw are the
// column and the rest are the start of a binary fraction that is compared with the
// column's share: integers only, and no division.
type Column struct {
	Share      uint64 // P(own | this column) · 2⁶⁴
	Own, Alias uint16 // bits of the code, from 0
}

// newColumns makes the columns for the given hazards, of which at least one is
// positive. dst and scratch are reused.
func newColumns(dst []Column, hazards []float64, scratch *aliasScratch) []Column {
	var total float64
	bitsWithHazard := scratch.bits[:0]
	for k, h := range hazards {
		if h > 0 {
			total += h
			bitsWithHazard = append(bitsWithHazard, k)
		}
	}
	// A bit that gets less than 2⁻⁷⁰ of the points would round to no share.
	kept := bitsWithHazard[:0]
	for _, k := range bitsWithHazard {
		if hazards[k] > 0x1p-70*total {
			kept = append(kept, k)
		}
	}
	scratch.bits = kept

	size := 1 << bits.Len(uint(len(kept)-1))
	if cap(dst) < size {
		dst = make([]Column, size)
	}
	dst = dst[:size]

	weight := scratch.weight[:0]
	small, large := scratch.small[:0], scratch.large[:0]
	for c := range size {
		w := 0.0
		dst[c] = Column{}
		if c < len(kept) {
			w = hazards[kept[c]] / total * float64(size)
			dst[c].Own = uint16(kept[c])
		}
		weight = append(weight, w)
		if w < 1 {
			small = append(small, c)
		} else {
			large = append(large, c)
		}
	}
	scratch.weight = weight
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		dst[s].Share = fixed64(weight[s])
		dst[s].Alias = dst[l].Own
		// weight[l] − (1 − weight[s]) in the order that loses least: l is at
		// least 1 and the deficit at most 1.
		weight[l] = (weight[l] + weight[s]) - 1
		if weight[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	// What is left differs from 1 by rounding alone.
	heaviest := 0
	for c := range kept {
		if hazards[kept[c]] > hazards[kept[heaviest]] {
			heaviest = c
		}
	}
	for _, rest := range [2][]int{small, large} {
		for _, c := range rest {
			if c >= len(kept) { // an empty column may not keep a point
				dst[c].Own = uint16(kept[heaviest])
			}
			dst[c].Share = math.MaxUint64
			dst[c].Alias = dst[c].Own
		}
	}
	scratch.small, scratch.large = small, large

	return dst
}

// aliasScratch is memory that newColumns uses again.
type aliasScratch struct {
	bits, small, large []int
	weight             []float64
}
