package montecarlo

import (
	"math"
	"math/bits"

	"belsim/montecarlo/tables"
)

// aliasTable puts points on bits by the columns of an alias table. Where the first bits of a
// draw's fraction equal the first bits of the column's share, 64 further bits decide (see
// streamRefine). So a draw of 16 bits loses no accuracy.
type aliasTable struct {
	columnBits int // log2 of the number of columns
	drawBits   int // 16 or 32: bits of a draw
	columns    []tables.Column

	// The columns again, where draws have 16 bits, in the form placeNarrow
	// reads: turn, own and own^alias, 16 bits each, from bit 32 down. A draw
	// below turn goes to own, one above it to the alias; turn is undecided.
	narrow [narrowColumns]uint64
}

// narrowColumns is the largest number of columns for which draws have 16 bits,
// of which at least 8 are left for the fraction: at most one draw in 256 then
// needs more bits.
const narrowColumns = 1 << 8

// prepare takes the columns of a row, at least one.
func (t *aliasTable) prepare(columns []tables.Column) {
	t.columns = columns
	t.columnBits = bits.Len(uint(len(columns) - 1))
	t.drawBits = 32
	if len(columns) > narrowColumns {
		return
	}
	t.drawBits = 16
	fractionBits := 16 - t.columnBits
	for c, col := range columns {
		turn := uint64(c<<fractionBits) | col.Share>>(64-fractionBits)
		t.narrow[c] = turn<<32 | uint64(col.Own)<<16 | uint64(col.Own^col.Alias)
	}
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
