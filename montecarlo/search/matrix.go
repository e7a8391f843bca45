package search

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/code"
)

// words is a code matrix that changes. Row i is the code word of level i+1, packed 64 bits
// to a word as code.Code packs it.
type words struct {
	levels, bits int
	circular     bool // level 1 follows the last level
	width        int  // words of a row
	rows         []uint64
}

func newWords(levels, bits int, circular bool) *words {
	width := (bits + 63) / 64
	return &words{levels, bits, circular, width, make([]uint64, levels*width)}
}

// wordsOf copies the first rows of a code that has at most the number of bits of the search. The
// missing bits are zero.
func (o *Options) wordsOf(c *code.Code) *words {
	w := newWords(o.Levels, o.Bits, o.Circular)
	for i := range o.Levels {
		copy(w.row(i), c.Word(i))
	}
	return w
}

func (w *words) row(i int) []uint64 { return w.rows[i*w.width : (i+1)*w.width] }

func (w *words) bit(i, k int) bool { return w.rows[i*w.width+k/64]>>(k%64)&1 == 1 }

func (w *words) flip(i, k int) { w.rows[i*w.width+k/64] ^= 1 << (k % 64) }

func (w *words) clone() *words {
	c := *w
	c.rows = slices.Clone(w.rows)
	return &c
}

func (w *words) copyFrom(from *words) { copy(w.rows, from.rows) }

// distance is the Hamming distance of two rows.
func (w *words) distance(i, j int) int { return distance(w.row(i), w.row(j)) }

// sampleDistance is the distance of word i from word n with wrong bits.
func (w *words) sampleDistance(wrong []uint64, n, i int) int32 {
	d := 0
	for x, v := range w.row(i) {
		d += bits.OnesCount64(wrong[x] ^ v ^ w.rows[n*w.width+x])
	}
	return int32(d)
}

func distance(a, b []uint64) int {
	d := 0
	for x, v := range a {
		d += bits.OnesCount64(v ^ b[x])
	}
	return d
}

// distinct reports whether all rows differ.
func (w *words) distinct() bool {
	seen := make(map[string]bool, w.levels)
	for i := range w.levels {
		seen[key(w.row(i))] = true
	}
	return len(seen) == w.levels
}

// key is words as the key of a map.
func key(words []uint64) string {
	out := make([]byte, 0, 8*len(words))
	for _, v := range words {
		out = binary.LittleEndian.AppendUint64(out, v)
	}
	return string(out)
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
	if err == nil && w.circular {
		c = c.OnCircle()
	}
	return c, err
}

// Dims implements mat.Matrix: L, M.
func (w *words) Dims() (rows, columns int) { return w.levels, w.bits }

// At implements mat.Matrix.
func (w *words) At(i, k int) float64 {
	if w.bit(i, k) {
		return 1
	}
	return 0
}

// T implements mat.Matrix.
func (w *words) T() mat.Matrix { return mat.Transpose{Matrix: w} }
