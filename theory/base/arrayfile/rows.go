package arrayfile

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"

	"belsim/theory/base/inputfile"
	"belsim/theory/base/memory"
)

// Rows is an N × M array of numbers in a file, read row by row, so that the file
// may be larger than memory: .csv (with or without a header line), .npy of bools,
// integers or floats in C or Fortran order, or an array of an .npz. An array of
// one dimension is a column. An array of three dimensions, N × K × M, has rows of K·M numbers.
type Rows struct {
	name    string
	n, m    int // n is −1 where only reading the file shows it
	parts   int // K
	from    int // the first column that is read
	whole   []float64
	header  []string // of a .csv; nil without
	row     int      // the last one read, from 1
	source  rowSource
	closers []func() error
}

// rowSource reads the rows of one format.
type rowSource interface {
	// rewind goes back to the first row.
	rewind() error
	// next sets dst, of length M, to the next row: io.EOF after the last. Errors
	// need not name the file.
	next(dst []float64) error
}

// OpenRows opens a .csv, .npy or .npz file, or standard input. FILE.npz:NAME is one array of an .npz file.
// Without a NAME, OpenRows takes the first of names that the file has, or its only array.
func OpenRows(path string, names ...string) (*Rows, error) {
	file, array := SplitArray(path)
	r := &Rows{name: inputfile.Name(path), n: -1, parts: 1}
	ending, err := format(file)
	if err != nil {
		return nil, err
	}
	switch ending {
	case ".csv":
		err = r.openCSV(file)
	case ".npy":
		err = r.openNPY(file)
	case ".npz":
		err = r.openNPZ(file, array, names)
	default:
		return nil, fmt.Errorf("%s: cannot read %q files; want .csv, .npy or .npz", r.name, ending)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// SplitArray splits FILE.npz:NAME. array is empty where the path names no array.
func SplitArray(path string) (file, array string) {
	const ending = ".npz:"
	for at := len(path) - len(ending); at >= 0; at-- {
		if strings.EqualFold(path[at:at+len(ending)], ending) {
			return path[:at+len(ending)-1], path[at+len(ending):]
		}
	}
	return path, ""
}

// Name returns the name of the file, and for an .npz also of the array, for messages.
func (r *Rows) Name() string { return r.name }

// Dims returns the numbers of rows and columns. rows is −1 where only reading the file to
// its end shows it.
func (r *Rows) Dims() (rows, columns int) { return r.n, r.m }

// Parts returns K of an N × K × M array, and 1 for other arrays.
func (r *Rows) Parts() int { return r.parts }

// Take leaves columns from to to−1, from 0, of every row; Dims and Next know no others then.
func (r *Rows) Take(from, to int) error {
	if from < 0 || to > r.m || from >= to {
		return fmt.Errorf("%s: columns %d to %d of %d", r.name, from+1, to, r.m)
	}
	if r.whole == nil {
		r.whole = make([]float64, r.m)
	}
	r.from, r.m, r.parts = r.from+from, to-from, 1
	return nil
}

// Next sets dst, of length M, to the next row. After the last it returns io.EOF.
// Other errors name the file, and the row, column and value at fault, from 1: every
// number must be finite.
func (r *Rows) Next(dst []float64) error {
	read := dst
	if r.whole != nil {
		read = r.whole
	}
	err := r.source.next(read)
	if r.whole != nil {
		copy(dst, r.whole[r.from:r.from+r.m])
	}
	if err == io.EOF {
		if r.row == 0 {
			return fmt.Errorf("%s: no rows", r.name)
		}
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	r.row++
	for k, v := range dst {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s: row %d, column %d: %v is not a finite number", r.name, r.row, k+1, v)
		}
	}
	return nil
}

// Rewind goes back to the first row.
func (r *Rows) Rewind() error {
	r.row = 0
	if err := r.source.rewind(); err != nil {
		return fmt.Errorf("%s: reading again: %w", r.name, err)
	}
	return nil
}

// Close closes the file.
func (r *Rows) Close() error {
	var errs []error
	for _, c := range slices.Backward(r.closers) {
		errs = append(errs, c())
	}
	r.closers = nil
	return errors.Join(errs...)
}

// checkColumns refuses more columns than a code can have.
func (r *Rows) checkColumns() error {
	if r.m > MaxSide {
		return fmt.Errorf("%s: %d columns; want at most %d", r.name, r.m, MaxSide)
	}
	if r.m < 1 {
		return fmt.Errorf("%s: no columns", r.name)
	}
	return nil
}

// csvRows reads numbers in lines.
type csvRows struct {
	file    inputfile.File
	records *csv.Reader
	columns int
	header  []string
	first   []string // the first row of data, which was read to see whether it is a header,
	line    int      // and its line
}

func (r *Rows) openCSV(path string) error {
	file, err := inputfile.Open(path)
	if err != nil {
		return err
	}
	r.closers = append(r.closers, file.Close)
	c := &csvRows{file: file}
	if err := c.start(); err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	r.m, r.header, r.source = c.columns, c.header, c
	return r.checkColumns()
}

// start reads the first line. A line without any number is a header. So is a line of three or
// more columns 0, 1, 2 and so on, the names that pandas gives to columns.
func (c *csvRows) start() error {
	c.records, c.first = newRecords(c.file), nil
	record, err := readRecord(c.records)
	if errors.Is(err, io.EOF) {
		return errors.New("empty file; want rows of numbers")
	}
	if err != nil {
		return err
	}
	if len(record) >= 2 && strings.TrimSpace(record[0]) == "" && namesOfPandas(record[1:]) {
		return errors.New("line 1 has no first number" + pandasHint)
	}
	c.columns = len(record)
	number := slices.ContainsFunc(record, func(field string) bool {
		_, err := parse(strings.TrimSpace(field))
		return err == nil || errors.Is(err, errNotFinite) || strings.TrimSpace(field) == ""
	})
	if !number || len(record) >= 3 && namesOfPandas(record) {
		c.header = slices.Clone(record)
		return nil
	}
	c.first = slices.Clone(record)
	c.line, _ = c.records.FieldPos(0)
	return nil
}

func (c *csvRows) rewind() error {
	if _, err := c.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return c.start()
}

func (c *csvRows) next(dst []float64) error {
	record := c.first
	c.first = nil
	if record == nil {
		var err error
		if record, err = readRecord(c.records); err != nil {
			return err
		}
		c.line, _ = c.records.FieldPos(0)
	}
	if len(record) != len(dst) {
		return fmt.Errorf("line %d has %d columns, but the first has %d", c.line, len(record), len(dst))
	}
	for k, field := range record {
		v, err := parse(strings.TrimSpace(field))
		if err != nil {
			return fmt.Errorf("line %d, column %d: %.40q is not a finite number", c.line, k+1, field)
		}
		dst[k] = v
	}
	return nil
}

// npyRows reads the rows of a NumPy array in C order.
type npyRows struct {
	open   func() (io.Reader, error) // at the header
	r      *bufio.Reader
	raw    []byte
	size   int // of an entry
	rows   int
	left   int
	decode func([]byte) float64
}

// openNPY opens an array in a file of its own.
func (r *Rows) openNPY(path string) error {
	file, err := inputfile.Open(path)
	if err != nil {
		return err
	}
	r.closers = append(r.closers, file.Close)
	return r.array(func() (io.Reader, error) {
		_, err := file.Seek(0, io.SeekStart)
		return file, err
	}, file.Size(), func() (io.ReaderAt, error) { return file, nil })
}

// array prepares the reading of an .npy file. open returns a reader at its beginning, size
// is its length in bytes or −1, and at gives access to any place of it.
func (r *Rows) array(open func() (io.Reader, error), size int64, at func() (io.ReaderAt, error)) error {
	in, err := open()
	if err != nil {
		return err
	}
	br := bufio.NewReader(in)
	header, offset, err := readHeader(br)
	if err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	if err := r.setShape(header); err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	if err := r.checkColumns(); err != nil {
		return err
	}
	width, decode, err := element(header.descr)
	if err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	if r.n < 1 {
		return fmt.Errorf("%s: no rows", r.name)
	}
	if int64(r.n) > math.MaxInt64/2/int64(r.m*width) {
		return fmt.Errorf("%s: %d × %d entries; no file is that large", r.name, r.n, r.m)
	}
	want := int64(r.n) * int64(r.m) * int64(width)
	if size >= 0 && size-offset != want {
		what := "truncated"
		if size-offset > want {
			what = "bytes after the data"
		}
		return fmt.Errorf("%s: %s: %d bytes of data, but %d × %d entries of type %s are %d", r.name, what, size-offset, r.n, r.m, header.descr, want)
	}
	if header.fortran && r.m > 1 && r.n > 1 {
		file, err := at()
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		r.source = newColumns(file, offset, r.n, r.m, width, decode)
		return nil
	}
	r.source = &npyRows{open: open, r: br, raw: make([]byte, r.m*width), size: width, rows: r.n, left: r.n, decode: decode}
	return nil
}

// setShape takes the numbers of rows and columns from a header.
func (r *Rows) setShape(h header) error {
	switch shape := h.shape; {
	case len(shape) == 1:
		r.n, r.m = shape[0], 1
	case len(shape) == 2:
		r.n, r.m = shape[0], shape[1]
	case len(shape) != 3:
		return fmt.Errorf("array of %d dimensions; want 1 to 3, with a row for each sample", len(shape))
	case h.fortran:
		return errors.New("array of 3 dimensions in Fortran order; numpy.ascontiguousarray makes one in C order")
	case shape[1] < 1 || shape[2] < 1 || shape[1] > MaxSide/shape[2]:
		return fmt.Errorf("%d × %d columns; want 1 to %d", shape[1], shape[2], MaxSide)
	default:
		r.n, r.parts, r.m = shape[0], shape[1], shape[1]*shape[2]
	}
	return nil
}

func (a *npyRows) rewind() error {
	in, err := a.open()
	if err != nil {
		return err
	}
	a.r.Reset(in)
	a.left = a.rows
	_, _, err = readHeader(a.r)
	return err
}

func (a *npyRows) next(dst []float64) error {
	if a.left == 0 {
		// A compressed file compares its checksum at its end.
		if _, err := a.r.ReadByte(); err == nil {
			return errors.New("bytes after the data")
		} else if err != io.EOF {
			return err
		}
		return io.EOF
	}
	if _, err := io.ReadFull(a.r, a.raw); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("truncated: %d of %d rows are missing", a.left, a.rows)
		}
		return err
	}
	a.left--
	for k := range dst {
		dst[k] = a.decode(a.raw[k*a.size:])
	}
	return nil
}

// columns reads the rows of an array in Fortran order, many at a time from each
// column.
type columns struct {
	file       io.ReaderAt
	offset     int64
	rows, m    int
	size       int
	decode     func([]byte) float64
	from, to   int // rows that are held
	at         int // the next row
	raw        []byte
	held       []float64 // (to − from) × m
	mostAtOnce int
}

// heldBytes is about how much of an array in Fortran order is held.
const heldBytes = 16 << 20

func newColumns(file io.ReaderAt, offset int64, rows, m, size int, decode func([]byte) float64) *columns {
	most := min(rows, max(1, heldBytes/8/m))
	return &columns{
		file: file, offset: offset, rows: rows, m: m, size: size, decode: decode,
		raw: make([]byte, most*size), held: make([]float64, most*m), mostAtOnce: most,
	}
}

func (c *columns) rewind() error {
	c.at, c.from, c.to = 0, 0, 0
	return nil
}

func (c *columns) next(dst []float64) error {
	if c.at == c.rows {
		return io.EOF
	}
	if c.at == c.to {
		c.from, c.to = c.at, min(c.at+c.mostAtOnce, c.rows)
		n := c.to - c.from
		for k := range c.m {
			raw := c.raw[:n*c.size]
			if got, err := c.file.ReadAt(raw, c.offset+(int64(k)*int64(c.rows)+int64(c.from))*int64(c.size)); got < len(raw) {
				if err == io.EOF {
					err = errors.New("truncated")
				}
				return err
			}
			for i := range n {
				c.held[i*c.m+k] = c.decode(raw[i*c.size:])
			}
		}
	}
	copy(dst, c.held[(c.at-c.from)*c.m:])
	c.at++
	return nil
}

// openNPZ opens an array of an .npz: a zip of .npy files.
func (r *Rows) openNPZ(path, array string, names []string) error {
	f, archive, err := r.entry(path, array, names)
	if err != nil {
		return err
	}
	var entry io.ReadCloser
	r.closers = append(r.closers, func() error {
		if entry == nil {
			return nil
		}
		return entry.Close()
	})
	begin := func() (io.Reader, error) {
		if entry != nil {
			_ = entry.Close() // it is read from the beginning again
		}
		entry, err = f.Open()
		return entry, err
	}
	return r.array(begin, int64(f.UncompressedSize64), func() (io.ReaderAt, error) { return r.anywhere(f, archive) })
}

// entry opens an .npz file, finds an array in it, and makes its name that of the rows.
func (r *Rows) entry(path, array string, names []string) (*zip.File, io.ReaderAt, error) {
	open := inputfile.OpenRegular
	if path == inputfile.Standard {
		open = inputfile.Open
	}
	archive, err := open(path)
	if err != nil {
		return nil, nil, err
	}
	r.closers = append(r.closers, archive.Close)
	path = inputfile.Name(path)
	z, err := zip.NewReader(archive, archive.Size())
	if err != nil {
		return nil, nil, fmt.Errorf("%s: not an .npz file: %w", path, err)
	}
	var has []string
	arrays := map[string]*zip.File{}
	for _, f := range z.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		has = append(has, name)
		arrays[name] = f
	}
	switch {
	case len(has) == 0:
		return nil, nil, fmt.Errorf("%s: no arrays", path)
	case array != "" && arrays[array] == nil:
		return nil, nil, fmt.Errorf("%s: no array %q; it has %s", path, array, someOf(has))
	case array == "" && len(has) == 1:
		array = has[0]
	case array == "":
		at := slices.IndexFunc(names, func(name string) bool { return arrays[name] != nil })
		if at < 0 {
			return nil, nil, fmt.Errorf("%s: which array? Want %s:NAME with one of %s", path, path, someOf(has))
		}
		array = names[at]
	}
	f := arrays[array]
	r.name = path + ":" + array
	if f.Method != zip.Store && f.Method != zip.Deflate {
		return nil, nil, fmt.Errorf("%s is compressed with %s, which belsim cannot read; numpy.savez and numpy.savez_compressed write what it can", r.name, method(f.Method))
	}
	return f, archive, nil
}

// someOf lists a few names, in quotes where they have more than letters, digits and the like:
// names in a file can be any bytes.
func someOf(names []string) string {
	const most = 8
	var shown []string
	for _, name := range names[:min(most, len(names))] {
		plain := name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./ ", r)
		})
		if !plain {
			name = fmt.Sprintf("%.64q", name)
		}
		shown = append(shown, name)
	}
	text := strings.Join(shown, ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// method is the name of a method of compression in a zip.
func method(m uint16) string {
	if name, known := map[uint16]string{12: "bzip2", 14: "lzma", 93: "zstd", 95: "xz"}[m]; known {
		return name
	}
	return fmt.Sprintf("method %d", m)
}

// anywhere gives access to any place of an entry of a zip: in the archive, where the entry
// is not compressed, else in memory.
func (r *Rows) anywhere(f *zip.File, archive io.ReaderAt) (io.ReaderAt, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if f.Method == zip.Store {
		if _, err := io.Copy(io.Discard, in); err != nil { // its end compares the checksum
			return nil, err
		}
		offset, err := f.DataOffset()
		if err != nil {
			return nil, err
		}
		return io.NewSectionReader(archive, offset, int64(f.UncompressedSize64)), nil
	}
	if f.UncompressedSize64 > math.MaxInt64/2 {
		return nil, errors.New("no array is that large")
	}
	if err := memory.Check("a compressed array in Fortran order", 2*int64(f.UncompressedSize64)); err != nil { // it grows as it is read
		return nil, err
	}
	// The archive may claim any size. A later check compares it with the data.
	content, err := io.ReadAll(io.LimitReader(in, int64(f.UncompressedSize64)+1))
	if err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	return bytes.NewReader(content), nil
}
