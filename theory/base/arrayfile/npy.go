package arrayfile

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/matrix"
)

// element returns the size in bytes and the decoder of a NumPy type.
func element(descr string) (size int, decode func([]byte) float64, err error) {
	var order binary.ByteOrder = binary.LittleEndian
	kind := descr
	if strings.IndexAny(descr, "<>|=") == 0 {
		if descr[0] == '>' {
			order = binary.BigEndian
		}
		kind = descr[1:]
	}
	if strings.HasPrefix(kind, "U") || strings.HasPrefix(kind, "S") {
		return 0, nil, fmt.Errorf("entries are text (type %.20q); want bools, integers or floats", descr)
	}
	if len(kind) == 2 {
		size = int(kind[1] - '0')
	}
	unsigned := func(b []byte) uint64 {
		switch size {
		case 1:
			return uint64(b[0])
		case 2:
			return uint64(order.Uint16(b))
		case 4:
			return uint64(order.Uint32(b))
		}
		return order.Uint64(b)
	}
	switch kind {
	case "b1":
		decode = func(b []byte) float64 { return float64(min(b[0], 1)) }
	case "u1", "u2", "u4", "u8":
		decode = func(b []byte) float64 { return float64(unsigned(b)) }
	case "i1", "i2", "i4", "i8":
		rest := 64 - 8*size
		decode = func(b []byte) float64 { return float64(int64(unsigned(b)<<rest) >> rest) }
	case "f2":
		decode = func(b []byte) float64 { return half(order.Uint16(b)) }
	case "f4":
		decode = func(b []byte) float64 { return float64(math.Float32frombits(order.Uint32(b))) }
	case "f8":
		decode = func(b []byte) float64 { return math.Float64frombits(order.Uint64(b)) }
	default:
		return 0, nil, fmt.Errorf("entries of type %.20q; want bools, integers or floats", descr)
	}
	return size, decode, nil
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
