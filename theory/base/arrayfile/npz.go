package arrayfile

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"
)

// NPZWriter writes arrays into an .npz file. Equal arrays give equal bytes, because the file
// holds no times.
type NPZWriter struct{ zip *zip.Writer }

// NewNPZWriter returns a writer of an .npz file. Close ends the file.
func NewNPZWriter(w io.Writer) *NPZWriter { return &NPZWriter{zip.NewWriter(w)} }

// Close writes the end of the file. It does not close the underlying writer.
func (z *NPZWriter) Close() error { return z.zip.Close() }

// Floats writes an array of n numbers as float64.
func (z *NPZWriter) Floats(name string, n int, at func(i int) float64) error {
	return z.array(name, "<f8", n, func(dst []byte, i int) []byte {
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(at(i)))
	})
}

// Matrix writes an array of two dimensions as float64, in C order.
func (z *NPZWriter) Matrix(name string, m mat.Matrix) error {
	return z.entry(name, func(w io.Writer) error { return WriteNPY(context.Background(), w, m) })
}

// Integers writes an array of n numbers as uint64.
func (z *NPZWriter) Integers(name string, n int, at func(i int) uint64) error {
	return z.array(name, "<u8", n, func(dst []byte, i int) []byte {
		return binary.LittleEndian.AppendUint64(dst, at(i))
	})
}

// Bools writes an array of n bools.
func (z *NPZWriter) Bools(name string, n int, at func(i int) bool) error {
	return z.array(name, "|b1", n, func(dst []byte, i int) []byte {
		if at(i) {
			return append(dst, 1)
		}
		return append(dst, 0)
	})
}

// Strings writes an array of n texts. Every entry has the length of the longest text.
func (z *NPZWriter) Strings(name string, n int, at func(i int) string) error {
	width := 1
	for i := range n {
		width = max(width, utf8.RuneCountInString(at(i)))
	}
	return z.array(name, fmt.Sprintf("<U%d", width), n, func(dst []byte, i int) []byte {
		end := len(dst) + 4*width
		for _, r := range at(i) {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(r))
		}
		return append(dst, make([]byte, end-len(dst))...)
	})
}

// array writes an array of one dimension, an entry at a time.
func (z *NPZWriter) array(name, descr string, n int, encode func(dst []byte, i int) []byte) error {
	return z.entry(name, func(w io.Writer) error {
		out := bufio.NewWriter(w)
		out.Write(npyHeader(descr, fmt.Sprintf("(%d,)", n)))
		var item []byte
		for i := range n {
			item = encode(item[:0], i)
			out.Write(item)
		}
		return out.Flush() // has the first error of those above
	})
}

// entry writes an array with a function that writes an .npy file.
func (z *NPZWriter) entry(name string, write func(io.Writer) error) error {
	w, err := z.zip.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Deflate})
	if err == nil {
		err = write(w)
	}
	if err != nil {
		return fmt.Errorf("array %s: %w", name, err)
	}
	return nil
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

// maxText is the largest text that ReadText reads, in bytes.
const maxText = 1 << 20

// ReadText reads a text from an array of an .npz file: an array of no or one dimension with one text
// of Unicode, as NumPy and NPZWriter.Strings write it.
func ReadText(path, name string) (string, error) {
	var r Rows
	defer r.Close()
	f, _, err := r.entry(path, name, nil)
	if err != nil {
		return "", err
	}
	in, err := f.Open()
	if err != nil {
		return "", fmt.Errorf("%s: %w", r.name, err)
	}
	defer in.Close()
	text, err := readText(bufio.NewReader(in))
	if err != nil {
		return "", fmt.Errorf("%s: %w", r.name, err)
	}
	return text, nil
}

func readText(r *bufio.Reader) (string, error) {
	h, _, err := readHeader(r)
	if err != nil {
		return "", err
	}
	width, isText := strings.CutPrefix(h.descr, "<U")
	runes, err := strconv.Atoi(width)
	if !isText || err != nil || runes < 0 || len(h.shape) > 1 || len(h.shape) == 1 && h.shape[0] != 1 {
		return "", fmt.Errorf("entries of type %.20q; want one text", h.descr)
	}
	if runes > maxText/4 {
		return "", fmt.Errorf("a text of %d characters; want at most %d", runes, maxText/4)
	}
	raw := make([]byte, 4*runes)
	if _, err := io.ReadFull(r, raw); err != nil {
		return "", fmt.Errorf("truncated: %w", err)
	}
	if _, err := r.ReadByte(); err == nil { // the end compares the checksum
		return "", errors.New("bytes after the data")
	} else if err != io.EOF {
		return "", err
	}
	var text strings.Builder
	for i := 0; i < len(raw); i += 4 {
		text.WriteRune(rune(binary.LittleEndian.Uint32(raw[i:])))
	}
	return strings.TrimRight(text.String(), "\x00"), nil
}
