package decode

import (
	"fmt"
	"math/bits"

	"belsim/theory/code"
)

// BelU counts: the label is the number of ones plus one (Eq. 1).
type BelU struct{ bits int }

var _ ranger = BelU{}

var belUEntry = Entry{
	Name: BelU{}.Name(),
	Auto: func(c *code.Code) int {
		if c.Circular() { // where bel-u answers as on a line, and gen errs less
			return 0
		}
		return rankFamily
	},
	New: func(c *code.Code, _ Options) (Decoder, error) {
		if d, ok := newBelU(c); ok {
			return d, nil
		}
		return nil, fmt.Errorf("%w: bel-u reads the unary code, and %s is not unary; use gen", ErrUnfit, c.Name())
	},
}

// newBelU accepts the unary code, also with further columns that are always
// zero, as some published unary matrices have one.
func newBelU(c *code.Code) (BelU, bool) {
	ok := matches(c, func(i int) (lo, hi int) { return 0, i })
	return BelU{c.Bits()}, ok
}

// Name implements Decoder.
func (BelU) Name() string { return "bel-u" }

// Decode implements Decoder in O(M/64).
func (BelU) Decode(word []uint64) int {
	n := 1
	for _, w := range word {
		n += bits.OnesCount64(w)
	}
	return n
}

// Range returns the smallest and the largest level that Decode can return.
func (d BelU) Range() (lo, hi int) { return 1, d.bits + 1 }
