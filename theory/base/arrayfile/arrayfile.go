// Package arrayfile reads and writes arrays in files: L × M matrices, a row for each
// level and a column for each bit, in .csv and .npy files; the samples of a network, row
// by row, from files that need not fit in memory; and archives of arrays in .npz files.
// It checks what it reads: a matrix that it returns is the matrix that was written.
package arrayfile

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/inputfile"
	"belsim/theory/base/memory"
)

// MaxSide is the largest number of columns of a file, and of rows of a matrix.
const MaxSide = 1 << 16

// ReadFile reads a matrix from a .csv or .npy file, an array FILE.npz:NAME (or the only array of
// FILE.npz), or standard input. An array of one dimension is a column. Every entry is finite. Errors
// name the file and, where possible, the row or line, the column (from 1) and the value at fault.
func ReadFile(path string) (*mat.Dense, error) {
	r, err := OpenRows(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	switch n, _ := r.Dims(); {
	case r.header != nil && namesOfPandas(r.header):
		return nil, fmt.Errorf("%s: line 1 is 0, 1, 2 and so on%s", r.name, pandasHint)
	case r.header != nil:
		return nil, fmt.Errorf("%s: line 1, column 1: %.40q is not a finite number; no header is expected", r.name, r.header[0])
	case r.parts > 1:
		return nil, fmt.Errorf("%s: an array of three dimensions; want a matrix with a row for each level and a column for each bit", r.name)
	case n > MaxSide:
		return nil, fmt.Errorf("%s: %d rows; want at most %d", r.name, n, MaxSide)
	}
	if r.n > 0 { // what cannot fit is refused before it is read
		if err := memory.Check(r.name, memory.Product(r.n, r.m, 8)); err != nil {
			return nil, err
		}
	}
	var data []float64
	row := make([]float64, r.m)
	for n := 1; ; n++ {
		// To the end, where an archive compares its checksum.
		if err := r.Next(row); err == io.EOF {
			return mat.NewDense(n-1, r.m, data), nil
		} else if err != nil {
			return nil, err
		}
		if n > MaxSide {
			return nil, fmt.Errorf("%s: %d rows; want at most %d", r.name, n, MaxSide)
		}
		if len(data)+r.m > cap(data) { // it grows to at most twice as much, beside the old one
			if err := memory.Check(r.name, memory.Product(3, cap(data), 8)); err != nil {
				return nil, err
			}
		}
		data = append(data, row...)
	}
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
