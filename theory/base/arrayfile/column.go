package arrayfile

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
)

// ColumnWriter writes numbers one after the other, so that memory need not hold them all. Its zero value
// with a W writes lines of text, in the shortest form that reads back as the same number.
type ColumnWriter struct {
	W      io.Writer
	binary bool
	left   int
	buffer []byte
}

// NewNPYColumn returns a writer of a NumPy array of n numbers as float64, of one dimension, and
// writes the array's header.
func NewNPYColumn(w io.Writer, n int) (*ColumnWriter, error) {
	_, err := w.Write(npyHeader("<f8", fmt.Sprintf("(%d,)", n)))
	return &ColumnWriter{W: w, binary: true, left: n}, err
}

// Write writes the next numbers. The error is w's, or says that an array has more numbers than
// its header.
func (c *ColumnWriter) Write(numbers []float64) error {
	c.buffer = c.buffer[:0]
	if c.left -= len(numbers); c.binary && c.left < 0 {
		return fmt.Errorf("%d more numbers than the array was to have", -c.left)
	}
	for _, v := range numbers {
		if c.binary {
			c.buffer = binary.LittleEndian.AppendUint64(c.buffer, math.Float64bits(v))
		} else {
			c.buffer = append(strconv.AppendFloat(c.buffer, v, 'g', -1, 64), '\n')
		}
	}
	_, err := c.W.Write(c.buffer)
	return err
}
