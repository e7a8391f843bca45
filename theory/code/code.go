// Package code holds encoding functions: the L × M binary code matrices that
// turn a quantized label into the targets of M binary classifiers (Shah, Xue and
// Aamodt, "Label Encoding for Regression Networks", ICLR 2022, Section 3).
package code

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/memory"
	"belsim/theory/base/position"
)

// Limits of the number of levels of a code.
const (
	MinLevels = 2
	MaxLevels = 1 << 16
)

// Code is an L × M code matrix: row i is the code word of level i+1, column k
// the target of bit k+1. It is immutable and implements mat.Matrix with entries
// 0 and 1, or real numbers where FromReal made it. A row is packed, 64 bits in a word:
// 65,536 levels of 65,536 bits take half a gigabyte.
type Code struct {
	name         string
	levels, bits int
	stride       int // words of a row
	data         []uint64
	values       []float64 // L × M; nil unless the code is of real numbers
	places       []float64 // of the levels; nil where these are even
	circle       *Circle   // nil where level 1 and level L are ends
}

var _ mat.Matrix = (*Code)(nil)

// newCode returns the all-zero matrix.
func newCode(name string, levels, m int) *Code {
	stride := (m + 63) / 64
	return &Code{name: name, levels: levels, bits: m, stride: stride, data: make([]uint64, levels*stride)}
}

// Name is the name of a named code, or the path of a custom one.
func (c *Code) Name() string { return c.name }

// As returns the code under another name.
func (c *Code) As(name string) *Code {
	out := *c
	out.name = name
	return &out
}

// Levels returns L, the number of code words.
func (c *Code) Levels() int { return c.levels }

// Bits returns M, the number of bits of a code word.
func (c *Code) Bits() int { return c.bits }

// Word returns the code word of row i (level i+1), packed: bit k, from 0, is
// word[k/64]>>(k%64)&1, and bits from M on are zero. The slice is the code's own
// and must not be changed.
func (c *Code) Word(i int) []uint64 {
	return c.data[i*c.stride : (i+1)*c.stride : (i+1)*c.stride]
}

// Bit returns bit k of row i, both from 0.
func (c *Code) Bit(i, k int) bool { return c.data[i*c.stride+k/64]>>(k%64)&1 == 1 }

// OneHot reports whether every row has a single one, and there are as many bits as levels.
func (c *Code) OneHot() bool {
	if c.bits != c.levels {
		return false
	}
	for i := range c.levels {
		ones := 0
		for _, word := range c.Word(i) {
			ones += bits.OnesCount64(word)
		}
		if ones != 1 {
			return false
		}
	}
	return true
}

// Sylvester reports whether the words are the first rows of a Sylvester matrix, as those of hadamard are: an
// entry is one where its row and its column, from 0, have an even number of ones in common. Then the correlations
// with all words are a Walsh–Hadamard transform.
func (c *Code) Sylvester() bool {
	if c.bits&(c.bits-1) != 0 || c.bits < c.levels {
		return false
	}
	for i := range c.levels {
		for k := range c.bits {
			if c.Bit(i, k) != (bits.OnesCount(uint(i&k))%2 == 0) {
				return false
			}
		}
	}
	return true
}

// Dims implements mat.Matrix: L, M.
func (c *Code) Dims() (rows, columns int) { return c.levels, c.bits }

// At implements mat.Matrix.
func (c *Code) At(i, j int) float64 {
	if i < 0 || i >= c.levels {
		panic(mat.ErrRowAccess)
	}
	if j < 0 || j >= c.bits {
		panic(mat.ErrColAccess)
	}
	return c.Value(i, j)
}

// Real reports whether the code has real numbers (see FromReal). Its bits are the targets
// of the classifiers. Its values are the numbers that a decoder correlates outputs with.
func (c *Code) Real() bool { return c.values != nil }

// Value returns entry k of row i, both from 0: the bit, or a real code's value.
func (c *Code) Value(i, k int) float64 {
	switch {
	case c.values != nil:
		return c.values[i*c.bits+k]
	case c.Bit(i, k):
		return 1
	}
	return 0
}

// RowTo sets dst, of length M, to row i.
func (c *Code) RowTo(dst []float64, i int) {
	if c.values != nil {
		copy(dst, c.values[i*c.bits:(i+1)*c.bits])
		return
	}
	word := c.Word(i)
	for k := range dst {
		dst[k] = float64(word[k/64] >> (k % 64) & 1)
	}
}

// T implements mat.Matrix.
func (c *Code) T() mat.Matrix { return mat.Transpose{Matrix: c} }

// Distance returns the Hamming distance of rows i and j.
func (c *Code) Distance(i, j int) int { return Apart(c.Word(i), c.Word(j)) }

// Apart is in how many bits two packed words differ.
func Apart(a, b []uint64) (n int) {
	for j, w := range a {
		n += bits.OnesCount64(w ^ b[j])
	}
	return n
}

// Transitions returns the bit transitions of every column: the levels n, from
// 1 and ascending, such that rows n and n+1 differ there. A transition lies at μ
// = n+½. On a circle row 1 follows row L, and the seam between them is the level L.
// O(L·M/64 + transitions).
func (c *Code) Transitions() [][]int {
	t, _ := c.TransitionsContext(context.Background()) // has no other error than the context's
	return t
}

// TransitionsContext is Transitions for large codes: it ends with the context's error when
// ctx ends. 16,384 levels of the Hadamard code take seconds.
func (c *Code) TransitionsContext(ctx context.Context) ([][]int, error) {
	counts, err := c.countTransitions(ctx)
	if err != nil {
		return nil, err
	}
	t := make([][]int, c.bits)
	for k, n := range counts {
		t[k] = make([]int, 0, n)
	}
	err = c.eachTransition(ctx, func(n, k int) { t[k] = append(t[k], n) })
	return t, err
}

// TransitionCount returns the number of transitions of all columns together.
// Transitions takes 8 bytes for each.
func (c *Code) TransitionCount() int {
	n := 0
	for i := range c.steps() {
		n += c.Distance(i, (i+1)%c.levels)
	}
	return n
}

// steps is how many levels have a level that follows: all on a circle, else all but the last.
func (c *Code) steps() int {
	if c.Circular() {
		return c.levels
	}
	return c.levels - 1
}

// countTransitions returns the number of transitions of every column.
func (c *Code) countTransitions(ctx context.Context) ([]int, error) {
	counts := make([]int, c.bits)
	err := c.eachTransition(ctx, func(_, k int) { counts[k]++ })
	return counts, err
}

// ConstantColumns is the number of columns without a transition. It takes O(L·M/64).
func (c *Code) ConstantColumns() int {
	changes := make([]uint64, c.stride)
	for i := range c.levels {
		for j, w := range c.Word(i) {
			changes[j] |= w ^ c.data[j]
		}
	}
	constant := c.bits
	for _, w := range changes {
		constant -= bits.OnesCount64(w)
	}
	return constant
}

// eachTransition calls f for every transition of column k, from 0, between
// levels n and n+1, n ascending. The error is the context's.
func (c *Code) eachTransition(ctx context.Context, f func(n, k int)) error {
	for i := range c.steps() {
		if i%64 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		next := c.Word((i + 1) % c.levels)
		for j, w := range c.Word(i) {
			for d := w ^ next[j]; d != 0; d &= d - 1 {
				f(i+1, 64*j+bits.TrailingZeros64(d))
			}
		}
	}
	return nil
}

// Along sets dst, of length L, to running sums from its first element on: the sum of a row is that of the row before,
// plus the values, of length M, of the bits that become one, less those of the bits that become zero.
func (c *Code) Along(dst, values []float64) {
	sum, before := dst[0], c.Word(0)
	for m := 1; m < c.levels; m++ {
		word := c.data[m*c.stride:][:len(before)]
		for j, w := range word {
			for d := w ^ before[j]; d != 0; d &= d - 1 {
				at := bits.TrailingZeros64(d)
				if w>>at&1 == 1 {
					sum += values[64*j+at]
				} else {
					sum -= values[64*j+at]
				}
			}
		}
		dst[m], before = sum, word
	}
}

// CheckTable refuses a table of error probabilities that is not L × M.
func (c *Code) CheckTable(e mat.Matrix) error {
	if r, m := e.Dims(); r != c.levels || m != c.bits {
		return fmt.Errorf("table of error probabilities is %d × %d, but %s has %d levels and %d bits", r, m, c.name,
			c.levels, c.bits)
	}
	return nil
}

// set sets bits lo ≤ k < hi of row i to one.
func (c *Code) set(i, lo, hi int) { SetOnes(c.Word(i), lo, hi) }

// SetOnes sets the bits lo ≤ k < hi of a packed word to one.
func SetOnes(word []uint64, lo, hi int) {
	for k := lo; k < hi; {
		n := min(64-k%64, hi-k)
		word[k/64] |= (1<<n - 1) << (k % 64)
		k += n
	}
}

// setJohnson writes J(v, m), the Johnson word of value v of 0 … 2m−1, to the m
// bits of row i from bit start on: bit k of them, from 1, is one iff m−v < k ≤
// 2m−v.
func (c *Code) setJohnson(i, start, v, m int) {
	c.set(i, start+max(m-v, 0), start+min(2*m-v, m))
}

// FromMatrix returns the code with the rows of an L × M matrix of zeros and
// ones. All rows must differ. Messages use name, which is the path of a custom code.
func FromMatrix(name string, m mat.Matrix) (*Code, error) { return fromMatrix(name, m, false) }

// FromReal returns the code with the rows of an L × M matrix of real numbers, as learned
// codes have them. The target of a bit is one in the rows where the value of its column
// is above the middle between the smallest and the largest value of this column. All rows
// must differ. For a matrix of zeros and ones, the result is the code of FromMatrix.
func FromReal(name string, m mat.Matrix) (*Code, error) {
	levels, width := m.Dims()
	for i := range levels {
		for k := range width {
			if v := m.At(i, k); v != 0 && v != 1 {
				return fromMatrix(name, m, true)
			}
		}
	}
	return FromMatrix(name, m)
}

// maxValue is the largest magnitude in a real code.
const maxValue = 1e30

func fromMatrix(name string, m mat.Matrix, real bool) (*Code, error) {
	levels, width := m.Dims()
	// Beside the code, a text of each row is kept until all rows are known to differ.
	numbers := (width + 63) / 64
	switch {
	case levels < MinLevels:
		return nil, fmt.Errorf("%s: %d rows; a code has one row per level, and at least %d", name, levels, MinLevels)
	case levels > MaxLevels:
		return nil, fmt.Errorf("%s: %d rows; a code has at most %d levels", name, levels, MaxLevels)
	case width < 1:
		return nil, fmt.Errorf("%s: no columns; a code has at least one bit", name)
	case real:
		numbers = width
	}
	if err := memory.Check(name, memory.Product(levels, numbers, 2*8)); err != nil {
		return nil, err
	}
	c := newCode(name, levels, width)
	if real {
		c.values = make([]float64, levels*width)
	}
	for i := range levels {
		for k := range width {
			switch v := m.At(i, k); {
			case !real && v != 0 && v != 1:
				return nil, fmt.Errorf("%s: row %s, column %s: %v is neither 0 nor 1", name, position.At(i+1), position.At(k+1), v)
			case real && !(math.Abs(v) <= maxValue):
				return nil, fmt.Errorf("%s: row %s, column %s: %v; want a number between %g and %g", name,
					position.At(i+1), position.At(k+1), v, -maxValue, maxValue)
			case real:
				c.values[i*width+k] = v + 0 // −0 is 0
			case v == 1:
				c.set(i, k, k+1)
			}
		}
	}
	for k := range len(c.values) / levels { // of real numbers
		column := mat.Col(nil, k, c)
		middle := slices.Min(column)/2 + slices.Max(column)/2
		for i, v := range column {
			if v > middle {
				c.set(i, k, k+1)
			}
		}
	}
	return c, c.checkRows()
}

// checkRows refuses two levels with the same code word.
func (c *Code) checkRows() error {
	seen := make(map[string]int, c.levels)
	var key []byte
	for i := range c.levels {
		key = key[:0]
		if c.Real() {
			key, _ = binary.Append(key, binary.LittleEndian, c.values[i*c.bits:(i+1)*c.bits])
		} else {
			key, _ = binary.Append(key, binary.LittleEndian, c.Word(i))
		}
		if first, ok := seen[string(key)]; ok {
			return fmt.Errorf("%s: rows %s and %s are the same code word; every level needs its own", c.name,
				position.At(first+1), position.At(i+1))
		}
		seen[string(key)] = i
	}
	return nil
}
