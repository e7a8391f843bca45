package arrayfile

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"
)

// NPZWriter writes arrays of one dimension into an .npz file. Equal arrays give equal
// bytes, because the file holds no times.
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

// Integers writes an array of n numbers as uint64.
func (z *NPZWriter) Integers(name string, n int, at func(i int) uint64) error {
	return z.array(name, "<u8", n, func(dst []byte, i int) []byte {
		return binary.LittleEndian.AppendUint64(dst, at(i))
	})
}

// Strings writes an array of n texts. Every entry has the length of the longest text.
func (z *NPZWriter) Strings(name string, n int, at func(i int) string) error {
	width := 1
	for i := range n {
		width = max(width, utf8.RuneCountInString(at(i)))
	}
	return z.array(name, fmt.Sprintf("<U%d", width), n, func(dst []byte, i int) []byte {
		used := 0
		for _, r := range at(i) {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(r))
			used++
		}
		return append(dst, make([]byte, 4*(width-used))...)
	})
}

// array writes an array, a number at a time.
func (z *NPZWriter) array(name, descr string, n int, encode func(dst []byte, i int) []byte) error {
	w, err := z.zip.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Deflate})
	if err != nil {
		return fmt.Errorf("array %s: %w", name, err)
	}
	out := bufio.NewWriter(w)
	out.Write(npyHeader(descr, fmt.Sprintf("(%d,)", n)))
	var item []byte
	for i := range n {
		item = encode(item[:0], i)
		out.Write(item)
	}
	if err := out.Flush(); err != nil { // has the first error of those above
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
