package search

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/code"
)

// words is a code matrix that changes. Row i is the code word of level i+1, bit k of it bit k+1 of the
// word.
type words struct {
	levels, bits int
	circular     bool // level 1 follows the last level
	rows         []uint64
}

func (o *Options) newWords() *words {
	return &words{o.Levels, o.Bits, o.Circular, make([]uint64, o.Levels)}
}

// wordsOf are the words of a code that has at most the number of bits of the search. The missing bits
// are zero.
func (o *Options) wordsOf(c *code.Code) *words {
	w := o.newWords()
	for i := range w.rows {
		w.rows[i] = c.Word(i)[0]
	}
	return w
}

func (w *words) bit(i, k int) bool { return w.rows[i]>>k&1 == 1 }

func (w *words) clone() *words {
	c := *w
	c.rows = slices.Clone(w.rows)
	return &c
}

// distinct reports whether all rows differ.
func (w *words) distinct() bool {
	rows := slices.Clone(w.rows)
	slices.Sort(rows)
	return len(slices.Compact(rows)) == w.levels
}

// repeats reports whether column k has a transition, and another column has the same bit in every row, or
// the other bit in every row.
func (w *words) repeats(k int) bool {
	same, inverse := ^uint64(0), ^uint64(0)
	changing := uint64(0)
	for _, row := range w.rows {
		differ := row ^ -(row >> k & 1) // the bits that are not bit k
		same, inverse = same&^differ, inverse&differ
		changing |= row ^ w.rows[0]
	}
	return changing>>k&1 == 1 && (same|inverse)<<(64-w.bits) != 1<<(64-w.bits+k)
}

// transitions appends the levels n, from 1, after which bit k changes; on a circle the last one, too.
func (w *words) transitions(dst []int, k int) []int {
	last := w.bit(0, k)
	for i := 1; i < w.levels; i++ {
		if b := w.bit(i, k); b != last {
			dst = append(dst, i)
			last = b
		}
	}
	if w.circular && last != w.bit(0, k) {
		dst = append(dst, w.levels)
	}
	return dst
}

// code is the matrix as a code.
func (w *words) code(name string) (*code.Code, error) {
	c, err := code.FromMatrix(name, w)
	if err != nil {
		return nil, err
	}
	return c.OnCircle(w.circular), nil
}

// Dims implements mat.Matrix: L, M.
func (w *words) Dims() (rows, columns int) { return w.levels, w.bits }

// At implements mat.Matrix.
func (w *words) At(i, k int) float64 { return float64(w.rows[i] >> k & 1) }

// T implements mat.Matrix.
func (w *words) T() mat.Matrix { return mat.Transpose{Matrix: w} }
