// Package arrayfile reads and writes arrays in files: L × M matrices, a row for each
// level and a column for each bit, in .csv and .npy files; the samples of a network, row
// by row, from files that need not fit in memory; and archives of arrays in .npz files.
// It checks what it reads: a matrix that it returns is the matrix that was written.
package arrayfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/inputfile"
	"belsim/theory/base/memory"
)

// MaxSide is the largest number of rows or columns of a file.
const MaxSide = 1 << 16

// ReadFile reads a matrix from a .csv or .npy file, an array FILE.npz:NAME (or the only array of
// FILE.npz), or standard input. Errors name the file and, where possible, the row, column (both
// from 1) and value at fault.
func ReadFile(path string) (*mat.Dense, error) {
	file, _ := SplitArray(path)
	ending, err := format(file)
	if err != nil {
		return nil, err
	}
	read := ReadCSV
	switch ending {
	case ".csv":
	case ".npy":
		read = ReadNPY
	case ".npz":
		return readArray(path)
	default:
		return nil, fmt.Errorf("%s: cannot read %q files; want .csv, .npy or .npz", inputfile.Name(path), ending)
	}
	f, err := inputfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(bufio.NewReader(f), inputfile.Name(path))
}

// readArray reads a matrix from an .npz file.
func readArray(path string) (*mat.Dense, error) {
	r, err := OpenRows(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	n, columns := r.Dims()
	if err := checkSides(r.Name(), n, columns); err != nil {
		return nil, err
	}
	if r.Parts() > 1 {
		return nil, fmt.Errorf("%s: an array of three dimensions; want a matrix with a row for each level and a column for each bit", r.Name())
	}
	if err := memory.Check(r.Name(), memory.Product(n, columns, 8)); err != nil {
		return nil, err
	}
	m := mat.NewDense(n, columns, nil)
	for i := range n {
		if err := r.Next(m.RawRowView(i)); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// format is the ending of a path, in lower case. What comes from standard input has the ending
// that its first bytes show: .npy, .npz, or else .csv.
func format(path string) (string, error) {
	if path != inputfile.Standard {
		return strings.ToLower(filepath.Ext(path)), nil
	}
	f, err := inputfile.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	first := make([]byte, len(magic))
	n, err := io.ReadFull(f, first)
	switch {
	case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return "", fmt.Errorf("%s: %w", inputfile.Name(path), err)
	case string(first[:n]) == magic:
		return ".npy", nil
	case strings.HasPrefix(string(first), "PK\x03\x04"):
		return ".npz", nil
	}
	return ".csv", nil
}

// checkSides refuses sizes that no code has.
func checkSides(name string, rows, columns int) error {
	for _, side := range []struct {
		what string
		n    int
	}{{"rows", rows}, {"columns", columns}} {
		if side.n > MaxSide {
			return fmt.Errorf("%s: %d %s; want at most %d", name, side.n, side.what, MaxSide)
		}
		if side.n < 1 {
			return fmt.Errorf("%s: no %s; want a matrix with a row for each level and a column for each bit", name, side.what)
		}
	}
	return nil
}

// lineReader returns an error when a line is longer than the longest row of a matrix, or
// when it ends within quotes. A reader of records above it then never holds a record of
// gigabytes: a quote that is never closed would otherwise include the rest of the file.
type lineReader struct {
	r      io.Reader
	name   string
	line   int
	length int
	quoted bool // an odd number of quotes so far in this line
}

// maxLine has room for MaxSide numbers of 25 characters.
const maxLine = 25 * MaxSide

func (l *lineReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for _, b := range p[:n] {
		l.length++
		switch b {
		case '"':
			l.quoted = !l.quoted
		case '\n':
			if l.quoted {
				return 0, fmt.Errorf("%s: row %d, character %d: the line ends within quotes; want numbers", l.name, l.line+1, l.length)
			}
			l.line++
			l.length = 0
		}
		if l.length > maxLine {
			return 0, fmt.Errorf("%s: row %d is longer than %d characters; want at most %d columns", l.name, l.line+1, maxLine, MaxSide)
		}
	}
	return n, err
}
