package arrayfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/memory"
)

// magic is the beginning of an .npy file.
const magic = "\x93NUMPY"

// header is what the beginning of an .npy file says.
type header struct {
	descr   string // the type of an entry, such as <f8
	fortran bool   // columns after each other, not rows
	shape   []int
}

// maxHeader is the largest length of a header. NumPy refuses shorter ones.
const maxHeader = 1 << 20

var errHeader = errors.New("not a NumPy array: bad header")

// readHeader reads the header of an .npy file and leaves br at the data. The length of the header
// has four bytes from version 2 of the format on.
func readHeader(br *bufio.Reader) (h header, err error) {
	start := make([]byte, 10)
	switch n, err := io.ReadFull(br, start); {
	case err == io.EOF:
		return h, errors.New("empty file; want a NumPy array")
	case n < len(start) || !bytes.HasPrefix(start, []byte(magic)):
		return h, errors.New("not a NumPy array: the file does not begin as .npy files do")
	case start[6] < 1 || start[6] > 3:
		return h, fmt.Errorf(".npy format version %d; want 1 to 3, as numpy.save writes arrays", start[6])
	}
	length := uint32(binary.LittleEndian.Uint16(start[8:]))
	if start[6] > 1 {
		high := make([]byte, 2)
		if _, err := io.ReadFull(br, high); err != nil {
			return h, errHeader
		}
		if length |= uint32(binary.LittleEndian.Uint16(high)) << 16; length > maxHeader {
			return h, errHeader
		}
	}
	dictionary := make([]byte, length)
	if _, err := io.ReadFull(br, dictionary); err != nil {
		return h, errHeader
	}
	return parseHeader(string(dictionary))
}

// jsonOfPython writes the literals of Python that a header has in JSON.
var jsonOfPython = strings.NewReplacer("'", `"`, "(", "[", ")", "]", "True", "true", "False", "false")

// beyondJSON is what JSON does not have: a last comma, and the L that Python 2 wrote after some
// integers.
var beyondJSON = regexp.MustCompile(`,(\s*[\]}])|([0-9])L`)

// parseHeader reads the dictionary of a header. The type of an array with fields is a list.
func parseHeader(text string) (h header, err error) {
	var dictionary struct {
		Descr   json.RawMessage `json:"descr"`
		Fortran *bool           `json:"fortran_order"`
		Shape   []int           `json:"shape"`
	}
	text = beyondJSON.ReplaceAllString(jsonOfPython.Replace(text), "$1$2")
	if json.Unmarshal([]byte(text), &dictionary) != nil || dictionary.Descr == nil || dictionary.Fortran == nil ||
		dictionary.Shape == nil {
		return h, errHeader
	}
	return header{strings.Trim(string(dictionary.Descr), `"`), *dictionary.Fortran, dictionary.Shape}, nil
}

// openNPY reads the header of an .npy file.
func openNPY(r io.Reader) (source, error) {
	in := bufio.NewReader(r)
	h, err := readHeader(in)
	if err != nil {
		return source{}, err
	}
	s, err := h.source()
	if err != nil {
		return s, err
	}
	width, decode, err := element(h.descr)
	if err != nil {
		return s, err
	}
	// The rows of an array in C order are read one by one. Those in Fortran order lie scattered, so
	// the whole array is read with the first of them.
	fortran := h.fortran && s.columns > 1
	atOnce := int64(s.columns * width)
	if fortran {
		atOnce = memory.Product(s.rows, s.columns, width)
	}
	var raw []byte
	row := 0
	s.next = func(dst []float64) error {
		if row == s.rows {
			return atEnd(in)
		}
		if raw == nil {
			if err := memory.Check("an array in Fortran order", atOnce); err != nil {
				return err
			}
			raw = make([]byte, atOnce)
		}
		if row == 0 || !fortran {
			if _, err := io.ReadFull(in, raw); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return fmt.Errorf("truncated: %d of %d rows are missing", s.rows-row, s.rows)
			} else if err != nil {
				return err
			}
		}
		first, step := 0, width
		if fortran {
			first, step = row*width, s.rows*width
		}
		switch { // most files, without a call for each number
		case h.descr == "<f4" && !fortran:
			for k := range dst {
				dst[k] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*k:])))
			}
		case h.descr == "<f8" && !fortran:
			for k := range dst {
				dst[k] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*k:]))
			}
		default:
			for k := range dst {
				dst[k] = decode(raw[first+k*step:])
			}
		}
		row++
		return nil
	}
	return s, nil
}

// atEnd returns io.EOF where a file ends, as it must. A file in an archive compares its checksum
// there.
func atEnd(in *bufio.Reader) error {
	rest, err := in.Peek(len(magic))
	switch {
	case len(rest) == 0:
		return err
	case string(rest) == magic:
		return errors.New("another array after the first: want a file for each, or an .npz of numpy.savez")
	}
	return errors.New("bytes after the data")
}

// source has the numbers of rows and columns of an array.
func (h header) source() (s source, err error) {
	s.columns, s.parts = 1, 1
	switch shape := h.shape; {
	case slices.ContainsFunc(shape, func(n int) bool { return n < 0 }):
		return s, fmt.Errorf("not a NumPy array: its shape is (%s)", strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]"))
	case len(shape) < 1 || len(shape) > 3:
		return s, fmt.Errorf("array of %d dimensions; want 1 to 3, with a row for each sample", len(shape))
	case len(shape) == 3 && h.fortran:
		return s, errors.New("array of 3 dimensions in Fortran order; numpy.ascontiguousarray makes one in C order")
	case len(shape) == 3 && (shape[1] < 1 || shape[2] < 1 || shape[1] > maxSide/shape[2]):
		return s, fmt.Errorf("%d × %d columns; want 1 to %d", shape[1], shape[2], maxSide)
	case len(shape) == 3:
		s.parts, s.columns = shape[1], shape[1]*shape[2]
	case len(shape) == 2:
		s.columns = shape[1]
	}
	s.rows = h.shape[0]
	switch {
	case s.columns < 1:
		err = errors.New("no columns")
	case s.columns > maxSide:
		err = tooWide(s.columns)
	case s.rows < 1:
		err = errors.New("no rows")
	}
	return s, err
}

// element returns the size in bytes and the decoder of a NumPy type.
func element(descr string) (size int, decode func([]byte) float64, err error) {
	var order binary.ByteOrder = binary.LittleEndian
	if strings.HasPrefix(descr, ">") {
		order = binary.BigEndian
	}
	kind := strings.TrimLeft(descr, "<>|=")
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

// half is the value of an IEEE 754 binary16: a binary32 with the same exponent and fraction is
// smaller by 2¹¹², and one with all bits of its exponent set is no finite number either.
func half(b uint16) float64 {
	bits := uint32(b>>15)<<31 | uint32(b&0x7fff)<<13
	if b&0x7c00 == 0x7c00 {
		bits |= 0x7f800000
	}
	return 0x1p112 * float64(math.Float32frombits(bits))
}

// npyHeader returns the header of an array, for a type and a shape as NumPy writes them. It
// has format 1.0: magic, version, length, and then the dictionary, padded with spaces and
// a newline so that the data begins at a multiple of 64.
func npyHeader(descr, shape string) []byte {
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	length := (10+len(dict)+1+63)/64*64 - 10
	return slices.Concat([]byte(magic), []byte{1, 0}, binary.LittleEndian.AppendUint16(nil, uint16(length)),
		[]byte(dict), bytes.Repeat([]byte{' '}, length-len(dict)-1), []byte{'\n'})
}

// WriteNPY writes a matrix as a NumPy array of float64 in C order, row by row. When
// ctx ends, the error is the context's.
func WriteNPY(ctx context.Context, w io.Writer, m mat.Matrix) error {
	rows, columns := m.Dims()
	if _, err := w.Write(npyHeader("<f8", fmt.Sprintf("(%d, %d)", rows, columns))); err != nil {
		return err
	}
	return eachRow(ctx, w, m, func(row []float64, line []byte) ([]byte, error) {
		return binary.Append(line, binary.LittleEndian, row)
	})
}

// WriteBitsNPY writes a matrix of zeros and ones as a NumPy array of uint8 in C
// order, row by row. When ctx ends, the error is the context's.
func WriteBitsNPY(ctx context.Context, w io.Writer, m mat.Matrix) error {
	rows, columns := m.Dims()
	if _, err := w.Write(npyHeader("|u1", fmt.Sprintf("(%d, %d)", rows, columns))); err != nil {
		return err
	}
	return eachRow(ctx, w, m, func(row []float64, line []byte) ([]byte, error) {
		for _, v := range row {
			line = append(line, byte(v))
		}
		return line, nil
	})
}

// RowWriter writes rows of numbers one after the other, so that memory need not hold them all.
type RowWriter struct {
	w       io.Writer
	columns int
	binary  bool
	buffer  []byte
}

// NewCSVRows returns a writer of lines of text, each number in the shortest form that reads back as
// the same. It writes a line with the names of columns, where there are several.
func NewCSVRows(w io.Writer, columns ...string) (*RowWriter, error) {
	var err error
	if len(columns) > 1 {
		_, err = io.WriteString(w, strings.Join(columns, ",")+"\n")
	}
	return &RowWriter{w: w, columns: len(columns)}, err
}

// NewNPYRows returns a writer of a NumPy array of n rows of numbers as float64, of one dimension
// for one column, and writes the array's header.
func NewNPYRows(w io.Writer, n, columns int) (*RowWriter, error) {
	shape := fmt.Sprintf("(%d,)", n)
	if columns > 1 {
		shape = fmt.Sprintf("(%d, %d)", n, columns)
	}
	_, err := w.Write(npyHeader("<f8", shape))
	return &RowWriter{w: w, columns: columns, binary: true}, err
}

// Write writes the next rows, each beside the one before. The error is the writer's.
func (c *RowWriter) Write(numbers []float64) error {
	c.buffer = c.buffer[:0]
	for i, v := range numbers {
		if c.binary {
			c.buffer = binary.LittleEndian.AppendUint64(c.buffer, math.Float64bits(v))
			continue
		}
		end := byte(',')
		if (i+1)%c.columns == 0 {
			end = '\n'
		}
		c.buffer = append(strconv.AppendFloat(c.buffer, v, 'g', -1, 64), end)
	}
	_, err := c.w.Write(c.buffer)
	return err
}
