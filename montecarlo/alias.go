package montecarlo

import (
	"math"
	"math/bits"
)

// aliasTable places points on bits with probability proportional to their
// hazards (Walker 1977, in Vose's construction): a column is drawn uniformly,
// then the point goes to the column's own bit or to its alias.
//
// The number of columns is a power of two, so that the top bits of a draw are
// the column and the rest are the start of a binary fraction that is compared
// with the column's share: integers only, and no division. Where the start of
// the fraction equals that of the share, 64 further bits decide (see refine),
// so a draw of 16 bits loses no accuracy.
type aliasTable struct {
	columnBits int // log2 of the number of columns
	drawBits   int // 16 or 32: bits of a draw
	columns    []Column

	// The columns again, where draws have 16 bits, in the form placeNarrow
	// reads: turn, own and own^alias, 16 bits each, from bit 32 down. A draw
	// below turn goes to own, one above it to the alias; turn is undecided.
	narrow [narrowColumns]uint64
}

// narrowColumns is the largest number of columns for which draws have 16 bits,
// of which at least 8 are left for the fraction: at most one draw in 256 then
// needs more bits.
const narrowColumns = 1 << 8

// newAliasTable makes the table for the given hazards, of which at least one is
// positive. scratch is reused.
func newAliasTable(t *aliasTable, hazards []float64, scratch *aliasScratch) {
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

	t.columnBits = bits.Len(uint(len(kept) - 1))
	size := 1 << t.columnBits
	t.drawBits = 32
	if size <= narrowColumns {
		t.drawBits = 16
	}
	if cap(t.columns) < size {
		t.columns = make([]Column, size)
	}
	t.columns = t.columns[:size]

	weight := scratch.weight[:0]
	small, large := scratch.small[:0], scratch.large[:0]
	for c := range size {
		w := 0.0
		t.columns[c] = Column{}
		if c < len(kept) {
			w = hazards[kept[c]] / total * float64(size)
			t.columns[c].Own = uint16(kept[c])
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
		t.columns[s].Share = fixed64(weight[s])
		t.columns[s].Alias = t.columns[l].Own
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
				t.columns[c].Own = uint16(kept[heaviest])
			}
			t.columns[c].Share = math.MaxUint64
			t.columns[c].Alias = t.columns[c].Own
		}
	}
	scratch.small, scratch.large = small, large

	if t.drawBits == 16 {
		fractionBits := 16 - t.columnBits
		for c, col := range t.columns {
			turn := uint64(c<<fractionBits) | col.Share>>(64-fractionBits)
			t.narrow[c] = turn<<32 | uint64(col.Own)<<16 | uint64(col.Own^col.Alias)
		}
	}
}

// aliasScratch is memory that newAliasTable uses again.
type aliasScratch struct {
	bits, small, large []int
	weight             []float64
}

// place returns the bit on which a draw falls. low gives the 64 bits that decide
// where the draw's own do not.
func (t *aliasTable) place(draw uint32, low func() uint64) uint16 {
	fractionBits := t.drawBits - t.columnBits
	col := &t.columns[draw>>fractionBits]
	fraction := uint64(draw) << (64 - fractionBits)
	top := col.Share &^ (math.MaxUint64 >> fractionBits)
	switch {
	case fraction < top:
		return col.Own
	case fraction > top:
		return col.Alias
	case low() < col.Share<<fractionBits:
		return col.Own
	}
	return col.Alias
}

// placeWide is place for the draws of 32 bits in words; low takes a draw's
// index. len(out) = 2·len(words).
func (t *aliasTable) placeWide(out []uint16, words []uint64, low func(i int) uint64) {
	for i, w := range words {
		for j := range 2 {
			out[2*i+j] = t.place(uint32(w>>(32*j)), func() uint64 { return low(2*i + j) })
		}
	}
}

// placeNarrow is place for the draws of 16 bits in words; low takes a draw's
// index. len(out) = 4·len(words).
//
// Own or alias is as good as random, so a branch on it would be mispredicted
// every other time: the sign of turn−draw is made a mask instead.
func (t *aliasTable) placeNarrow(out []uint16, words []uint64, low func(i int) uint64) {
	shift := uint(16-t.columnBits) & 31
	out = out[:4*len(words)]
	columns := &t.narrow
	for i, w := range words {
		o := out[4*i : 4*i+4 : 4*i+4]
		undecided := false
		for j := range o {
			draw := int32(uint16(w >> (16 * j)))
			col := columns[uint8(draw>>shift)]
			side := int32(col>>32) - draw
			o[j] = uint16(col>>16) ^ uint16(col)&uint16(side>>31)
			undecided = undecided || side == 0
		}
		if undecided {
			t.placeWord(o, w, 4*i, low)
		}
	}
}

// placeWord places the four draws of a word with their low bits where needed.
func (t *aliasTable) placeWord(out []uint16, w uint64, first int, low func(i int) uint64) {
	for j := range out {
		out[j] = t.place(uint32(uint16(w>>(16*j))), func() uint64 { return low(first + j) })
	}
}

// directTable is an alias table for draws of 16 bits multiplied out: the place
// of every draw, or undecidedPlace. It takes some 10 µs to make and saves two
// thirds of the time of each draw.
type directTable [1 << 16]uint8

// undecidedPlace is a bit that no place below it has, so that one test finds it
// among several.
const undecidedPlace = 1 << 7

// multiply fills d from t, whose draws have 16 bits and whose places are below
// undecidedPlace.
func (t *aliasTable) multiply(d *directTable) {
	fractionBits := 16 - t.columnBits
	for c, col := range t.columns {
		draws := d[c<<fractionBits : (c+1)<<fractionBits]
		turn := int(col.Share >> (64 - fractionBits))
		fillBytes(draws[:turn], uint8(col.Own))
		draws[turn] = undecidedPlace
		fillBytes(draws[turn+1:], uint8(col.Alias))
	}
}

// fillBytes sets every byte of b to v, by doubling copies.
func fillBytes(b []uint8, v uint8) {
	if len(b) == 0 {
		return
	}
	b[0] = v
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}

// placeDirect is placeNarrow with the table multiplied out in d.
func (t *aliasTable) placeDirect(d *directTable, out []uint16, words []uint64, low func(i int) uint64) {
	out = out[:4*len(words)]
	for i, w := range words {
		p0, p1, p2, p3 := d[uint16(w)], d[uint16(w>>16)], d[uint16(w>>32)], d[uint16(w>>48)]
		o := out[4*i : 4*i+4 : 4*i+4]
		o[0], o[1], o[2], o[3] = uint16(p0), uint16(p1), uint16(p2), uint16(p3)
		if (p0|p1|p2|p3)&undecidedPlace != 0 {
			t.placeWord(o, w, 4*i, low)
		}
	}
}
