package arrayfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/matrix"
	"belsim/theory/base/memory"
)

// ReadNPY reads a two-dimensional NumPy array of at most MaxSide × MaxSide
// bools, integers or floats of any width and byte order, in C or Fortran order.
// Every entry must be finite. name is the file's, for errors.
func ReadNPY(r io.Reader, name string) (*mat.Dense, error) {
	br := bufio.NewReader(r)
	header, _, err := readHeader(br)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	shape := header.shape
	if len(shape) != 2 {
		return nil, fmt.Errorf("%s: array of %d dimensions; want 2, a row for each level and a column for each bit", name, len(shape))
	}
	rows, columns := shape[0], shape[1]
	if err := checkSides(name, rows, columns); err != nil {
		return nil, err
	}
	size, decode, err := element(header.descr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	want := int64(rows) * int64(columns) * int64(size)
	raw, err := readData(br, name, want, memory.Product(rows, columns, 8))
	if err != nil {
		return nil, err
	}
	switch got := int64(raw.Len()); {
	case got < want:
		return nil, fmt.Errorf("%s: truncated: %d bytes of data, but %d × %d entries of type %s are %d", name, got, rows, columns, header.descr, want)
	case got > want:
		return nil, fmt.Errorf("%s: bytes after the data: %d × %d entries of type %s are %d", name, rows, columns, header.descr, want)
	}
	data := raw.Bytes()
	m := mat.NewDense(rows, columns, nil)
	for i := range rows {
		row := m.RawRowView(i)
		for k := range row {
			at := i*columns + k
			if header.fortran {
				at = k*rows + i
			}
			v := decode(data[at*size:])
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("%s: row %d, column %d: %v is not a finite number", name, i+1, k+1, v)
			}
			row[k] = v
		}
	}
	return m, nil
}

// readData reads the data of an array, of want bytes, and one byte more where there is one,
// which shows that the file does not end with the array. matrix is the memory that the matrix
// will take. The size that a header claims counts once the file has shown that it is no small
// one.
func readData(r io.Reader, name string, want, matrix int64) (*bytes.Buffer, error) {
	const believed = 1 << 24
	var raw bytes.Buffer
	_, err := io.Copy(&raw, io.LimitReader(r, min(want+1, believed)))
	if err == nil && want >= believed && raw.Len() == believed {
		if err := memory.Check(name, want+matrix); err != nil {
			return nil, err
		}
		raw.Grow(int(want) + bytes.MinRead - believed)
		_, err = io.Copy(&raw, io.LimitReader(r, want+1-believed))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &raw, nil
}

// element returns the size in bytes and the decoder of a NumPy type.
func element(descr string) (size int, decode func([]byte) float64, err error) {
	var order binary.ByteOrder = binary.LittleEndian
	kind := descr
	if i := strings.IndexAny(descr, "<>|="); i == 0 {
		if descr[0] == '>' {
			order = binary.BigEndian
		}
		kind = descr[1:]
	}
	switch kind {
	case "b1":
		return 1, func(b []byte) float64 {
			if b[0] != 0 {
				return 1
			}
			return 0
		}, nil
	case "i1":
		return 1, func(b []byte) float64 { return float64(int8(b[0])) }, nil
	case "u1":
		return 1, func(b []byte) float64 { return float64(b[0]) }, nil
	case "i2":
		return 2, func(b []byte) float64 { return float64(int16(order.Uint16(b))) }, nil
	case "u2":
		return 2, func(b []byte) float64 { return float64(order.Uint16(b)) }, nil
	case "i4":
		return 4, func(b []byte) float64 { return float64(int32(order.Uint32(b))) }, nil
	case "u4":
		return 4, func(b []byte) float64 { return float64(order.Uint32(b)) }, nil
	case "i8":
		return 8, func(b []byte) float64 { return float64(int64(order.Uint64(b))) }, nil
	case "u8":
		return 8, func(b []byte) float64 { return float64(order.Uint64(b)) }, nil
	case "f2":
		return 2, func(b []byte) float64 { return half(order.Uint16(b)) }, nil
	case "f4":
		return 4, func(b []byte) float64 { return float64(math.Float32frombits(order.Uint32(b))) }, nil
	case "f8":
		return 8, func(b []byte) float64 { return math.Float64frombits(order.Uint64(b)) }, nil
	}
	return 0, nil, fmt.Errorf("entries of type %.20q; want bools, integers or floats", descr)
}

// half is the value of an IEEE 754 binary16.
func half(b uint16) float64 {
	sign := 1.0
	if b>>15 == 1 {
		sign = -1
	}
	exponent, fraction := int(b>>10&31), float64(b&1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// WriteNPY writes a matrix as a NumPy array of float64 in C order, row by row. When
// ctx ends, the error is the context's.
func WriteNPY(ctx context.Context, w io.Writer, m mat.Matrix) error {
	return writeNPY(ctx, w, m, "<f8", func(dst []byte, v float64) ([]byte, error) {
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v)), nil
	})
}

// WriteBitsNPY writes a matrix of zeros and ones as a NumPy array of uint8 in C
// order, row by row. Any other entry is an error that names the entry; the rows before it
// have been written then. When ctx ends, the error is the context's.
func WriteBitsNPY(ctx context.Context, w io.Writer, m mat.Matrix) error {
	return writeNPY(ctx, w, m, "|u1", func(dst []byte, v float64) ([]byte, error) {
		switch v {
		case 0:
			return append(dst, 0), nil
		case 1:
			return append(dst, 1), nil
		}
		return nil, fmt.Errorf("%v is neither 0 nor 1", v)
	})
}

// writeNPY writes the array row by row, so that memory never holds a large matrix twice.
func writeNPY(ctx context.Context, w io.Writer, m mat.Matrix, descr string, encode func(dst []byte, v float64) ([]byte, error)) error {
	rows, columns := m.Dims()
	head := npyHeader(descr, fmt.Sprintf("(%d, %d)", rows, columns))
	if _, err := w.Write(head); err != nil {
		return err
	}
	var row []float64
	var line []byte
	for i := range rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		row = matrix.Row(row, i, m)
		line = line[:0]
		for k, v := range row {
			var err error
			if line, err = encode(line, v); err != nil {
				return fmt.Errorf("row %d, column %d: %w", i+1, k+1, err)
			}
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}
