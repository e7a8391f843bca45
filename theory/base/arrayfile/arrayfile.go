// Package arrayfile reads and writes arrays in files: L × M matrices, a row for each
// level and a column for each bit, in .csv and .npy files; the samples of a network, row
// by row, from files that need not fit in memory; and archives of arrays in .npz files.
// It checks what it reads: a matrix that it returns is the matrix that was written.
package arrayfile

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/inputfile"
	"belsim/theory/base/memory"
	"belsim/theory/base/position"
)

// maxSide is the largest number of columns of a file, and of rows of a matrix.
const maxSide = 1 << 16

// ReadFile reads a matrix from a .csv or .npy file, an array FILE.npz:NAME (or the only array of
// FILE.npz), or standard input. An array of one dimension is a column. Every entry is finite.
// Errors name the file and, where possible, the row or line, the column (from 1) and the value at
// fault.
func ReadFile(path string) (*mat.Dense, error) {
	r, err := OpenRows(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	numbered := r.Numbered()
	if numbered || r.Doubtful() { // no level, and no row of error probabilities, has a name
		r.Settle(false)
	}
	switch n, _ := r.Dims(); {
	case r.Header() != nil:
		return nil, fmt.Errorf("%s: line 1, column 1: %.40q is not a finite number; no header is expected", r.name,
			r.line[0])
	case r.parts > 1:
		return nil, fmt.Errorf("%s: an array of three dimensions; want a matrix with a row for each level", r.name)
	case n > maxSide:
		return nil, fmt.Errorf("%s: %d rows; want at most %d", r.name, n, maxSide)
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
		err := r.Next(row)
		switch {
		case numbered && (err == nil && (n > r.m || row[n-1] != 0) || err == io.EOF && n-1 != r.m):
			// Only of distances, a square with 0 on the diagonal, is 0, 1, 2 the first row.
			return nil, fmt.Errorf("%s: line 1 is %s%s", r.name, someOf(r.line), pandasHint)
		case err == io.EOF:
			return mat.NewDense(n-1, r.m, data), nil
		case err != nil:
			return nil, err
		}
		if n > maxSide {
			return nil, fmt.Errorf("%s: %d rows; want at most %d", r.name, n, maxSide)
		}
		if len(data)+r.m > cap(data) { // it grows to at most twice as much, beside the old one
			if err := memory.Check(r.name, memory.Product(3, cap(data), 8)); err != nil {
				return nil, err
			}
		}
		data = append(data, row...)
	}
}

// Rows is an N × M array of numbers in a file, read row by row, so that the file may be larger than
// memory: .csv (with or without a header line), .npy of bools, integers or floats, or an array of
// an .npz. An array in Fortran order is read into memory. An array of one dimension is a column. An
// array of three dimensions, N × K × M, has rows of K·M numbers.
type Rows struct {
	name    string
	file    inputfile.File
	open    func() (source, error)   // reads the beginning of the file
	source                           // what it has found
	n, m    int                      // n is −1 where only reading the file shows it
	parts   int                      // K
	from    int                      // the first column that is read
	taken   int                      // how many columns are read
	mapped  func(dst, row []float64) // makes a row of m numbers of them; nil where they are the row
	watch   func(row []float64)      // is told each row before it is mapped; may be nil
	whole   []float64                // the last row with all its columns
	row     int                      // its number, from 1
	settled bool                     // whether line 1 is names was said
	closers []io.Closer
}

// source is an array behind the beginning of its file.
type source struct {
	rows, columns, parts int      // rows is −1 where only reading the file shows it
	line                 []string // line 1 of a .csv
	first                reading  // what it is
	skip                 func()   // leaves it out
	// next sets dst to the next row: io.EOF after the last. Errors need not name the file.
	next func(dst []float64) error
}

// OpenRows opens a .csv, .npy or .npz file. The first bytes of standard input and of a file whose
// name has no ending show which it is; a pipe without one, as a shell's <(…), is a .csv file.
// FILE.npz:NAME is one array of an .npz file, and FILE.csv:NAME one column of a .csv file. Without a
// NAME, OpenRows takes the first of names that an .npz file has, or its only array.
func OpenRows(path string, names ...string) (*Rows, error) {
	path, array := SplitArray(path)
	r := &Rows{name: inputfile.Name(path)}
	open, ending := inputfile.Open, strings.ToLower(filepath.Ext(path))
	switch {
	case ending == "" || ending == ".csv" || ending == ".npy":
	case ending == ".npz":
		open = inputfile.OpenRegular
	default:
		return nil, fmt.Errorf("%s: want a name ending in .csv, .npy or .npz", r.name)
	}
	var err error
	if r.file, err = open(path); err != nil {
		return nil, err
	}
	r.closers = append(r.closers, r.file)
	if ending == "" {
		ending = kindOf(r.file)
	}
	switch ending {
	case ".csv":
		r.open = func() (source, error) { return openCSV(r.file, array) }
	case ".npy":
		r.open = func() (source, error) { return openNPY(r.file) }
	case ".npz":
		var entry *zip.File
		entry, r.name, err = findArray(r.file, r.name, array, names)
		r.open = func() (source, error) {
			in, err := entry.Open()
			if err != nil {
				return source{}, err
			}
			r.closers = append(r.closers, in)
			return openNPY(in)
		}
	}
	if err == nil {
		err = r.begin()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", r.name, err), r.Close())
	}
	r.n, r.m, r.taken, r.parts, r.whole = r.rows, r.columns, r.columns, r.source.parts, make([]float64, r.columns)
	return r, nil
}

// begin reads the beginning of the file.
func (r *Rows) begin() error {
	first := r.first
	s, err := r.open()
	r.source = s
	if r.settled {
		r.first = first
	}
	return err
}

func tooWide(columns int) error { return fmt.Errorf("%d columns; want at most %d", columns, maxSide) }

// kindOf is the ending that a file with these first bytes has: .npy, .npz, or else .csv.
func kindOf(file io.ReaderAt) string {
	first := make([]byte, len(magic))
	n, _ := file.ReadAt(first, 0) // an error comes again when the file is read
	switch {
	case string(first[:n]) == magic:
		return ".npy"
	case strings.HasPrefix(string(first), "PK\x03\x04"):
		return ".npz"
	}
	return ".csv"
}

// SplitArray splits FILE.npz:NAME and FILE.csv:NAME. array is empty where the path names none.
func SplitArray(path string) (file, array string) {
	const ending = len(".npz:")
	for at := len(path) - ending; at >= 0; at-- {
		if e := strings.ToLower(path[at : at+ending]); e == ".npz:" || e == ".csv:" {
			return path[:at+ending-1], path[at+ending:]
		}
	}
	return path, ""
}

// Name returns the name of the file, and for an .npz also of the array, for messages.
func (r *Rows) Name() string { return r.name }

// Dims returns the numbers of rows and columns. rows is −1 where only reading the file to
// its end shows it.
func (r *Rows) Dims() (rows, columns int) { return r.n, r.m }

// Header returns the names of the columns in a .csv that has them, and else nil.
func (r *Rows) Header() []string {
	if r.first == theNames || r.Numbered() {
		return r.line
	}
	return nil
}

// Parts returns K of an N × K × M array, and 1 for other arrays.
func (r *Rows) Parts() int { return r.parts }

// TakeColumns leaves columns from to to−1, from 0, of every row; Dims and Next know no others then.
func (r *Rows) TakeColumns(from, to int) error {
	if from < 0 || to > r.m || from >= to {
		return fmt.Errorf("%s: columns %d to %d of %d", r.name, from+1, to, r.m)
	}
	r.from, r.m, r.taken, r.parts = r.from+from, to-from, to-from, 1
	return nil
}

// Map makes rows of so many columns of those that are read: f sets dst to what a row says. Dims and
// Next know no others then.
func (r *Rows) Map(columns int, f func(dst, row []float64)) { r.m, r.mapped = columns, f }

// Watch makes Next tell f each row that it reads, as the file has it. f must not keep the row.
func (r *Rows) Watch(f func(row []float64)) { r.watch = f }

// Taken is the number of columns that are read, before Map.
func (r *Rows) Taken() int { return r.taken }

// FromText reports whether the file is a .csv.
func (r *Rows) FromText() bool { return r.line != nil }

// Next sets dst, of length M, to the next row. After the last it returns io.EOF.
// Other errors name the file, and the row, column and value at fault, from 1: every
// number must be finite.
func (r *Rows) Next(dst []float64) error {
	if r.Doubtful() {
		return r.Doubt()
	}
	if r.row == 0 && r.Header() != nil {
		r.skip()
	}
	switch err := r.next(r.whole); {
	case err == io.EOF && r.row == 0:
		return fmt.Errorf("%s: no rows", r.name)
	case err == io.EOF:
		return err
	case err != nil:
		return fmt.Errorf("%s: %w", r.name, err)
	}
	r.row++
	row := r.whole[r.from : r.from+r.taken]
	for k, v := range row {
		if v-v != 0 { // not finite
			return fmt.Errorf("%s: row %s, column %s: %v is not a finite number", r.name, position.At(r.row),
				position.At(k+1), v)
		}
	}
	if r.watch != nil {
		r.watch(row)
	}
	if r.mapped != nil {
		r.mapped(dst, row)
	} else {
		copy(dst, row)
	}
	return nil
}

// Rewind goes back to the first row.
func (r *Rows) Rewind() error {
	_, err := r.file.Seek(0, io.SeekStart)
	if err == nil {
		err = r.begin()
	}
	if err == nil && (r.rows != r.n || r.columns != len(r.whole)) {
		err = errors.New("the file has changed")
	}
	if err != nil {
		return fmt.Errorf("%s: reading again: %w", r.name, err)
	}
	r.row = 0
	return nil
}

// Close closes the file.
func (r *Rows) Close() error {
	var errs []error
	for _, c := range r.closers {
		errs = append(errs, c.Close())
	}
	r.closers = nil
	return errors.Join(errs...)
}
