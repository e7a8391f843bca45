package decode

import (
	"fmt"
	"math/bits"
	"strings"

	"belsim/theory/code"
)

// BelJ reads the positions of the first and the last one in a Johnson word
// (Eq. 14): Tl + Tf + Tc with Tl = −max k·b_k, Tf = max (M−k+1)·b_k and Tc = M.
//
// With a first one at f and a last one at l, from 1, that is 2M+1−f−l; with no
// one at all it is M. For the code johnson, whose level 1 is the all-zero word,
// the label is one more, and 1 when no bit is set.
type BelJ struct {
	bits     int
	zeroWord bool // the code has the all-zero word, as level 1
}

var _ ranger = BelJ{}

var belJEntry = Entry{
	Name: BelJ{}.Name(),
	Auto: func(c *code.Code) int {
		switch {
		case c.Circular(): // where bel-j answers as on a line, and gen errs less
			return 0
		case strings.HasPrefix(c.Name(), "johnson"):
			return rankName
		}
		return rankAny
	},
	New: func(c *code.Code, _ Options) (Decoder, error) {
		if d, ok := newBelJ(c); ok {
			return d, nil
		}
		return nil, fmt.Errorf("%w: bel-j reads johnson and johnson-nonzero, and %s is neither; use gen", ErrUnfit,
			c.Name())
	},
}

func newBelJ(c *code.Code) (BelJ, bool) {
	m := c.Bits()
	zeroWord := true
	for _, w := range c.Word(0) {
		zeroWord = zeroWord && w == 0
	}
	first := 1
	if zeroWord {
		first = 0
	}
	ok := matches(c, func(i int) (lo, hi int) {
		v := i + first // J(v, m): ones at m−v < k ≤ 2m−v, k from 1
		return max(m-v, 0), min(2*m-v, m)
	})
	return BelJ{m, zeroWord}, ok
}

// Name implements Decoder.
func (BelJ) Name() string { return "bel-j" }

// Bits returns M.
func (d BelJ) Bits() int { return d.bits }

// First returns the Johnson value of level 1: 0 for johnson, the all-zero word, and 1 for johnson-nonzero.
func (d BelJ) First() int {
	if d.zeroWord {
		return 0
	}
	return 1
}

// At returns the label of every word whose first one is at position first and
// whose last one is at position last, 1 ≤ first ≤ last ≤ M.
func (d BelJ) At(first, last int) int {
	label := 2*d.bits + 1 - first - last
	if d.zeroWord {
		label++
	}
	return label
}

// Empty returns the label of the all-zero word.
func (d BelJ) Empty() int {
	if d.zeroWord {
		return 1
	}
	return d.bits
}

// Terms returns the terms of Eq. 14 for a packed word: Tl = −max k·b_k, Tf = max (M−k+1)·b_k
// and Tc = M, the first two 0 for the all-zero word. Their sum is the label of
// johnson-nonzero.
func (d BelJ) Terms(word []uint64) (tl, tf, tc int) {
	for k := 1; k <= d.bits; k++ {
		if word[(k-1)/64]>>((k-1)%64)&1 == 1 {
			tl, tf = min(tl, -k), max(tf, d.bits-k+1)
		}
	}
	return tl, tf, d.bits
}

// Decode implements Decoder in O(M/64).
func (d BelJ) Decode(word []uint64) int {
	for i, w := range word {
		if w == 0 {
			continue
		}
		first := 64*i + bits.TrailingZeros64(w) + 1
		for j := len(word) - 1; ; j-- {
			if word[j] != 0 {
				return d.At(first, 64*j+64-bits.LeadingZeros64(word[j]))
			}
		}
	}
	return d.Empty()
}

// Range returns the smallest and the largest level that Decode can return.
func (d BelJ) Range() (lo, hi int) {
	lo, hi = d.At(d.bits, d.bits), d.At(1, 1)
	return min(lo, d.Empty()), max(hi, d.Empty())
}
