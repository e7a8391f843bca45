package arrayfile

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/matrix"
)

// pandasHint says how pandas writes a table without its names of rows and columns.
const pandasHint = "; it is a name that pandas gives: write the table with header=False and index=False"

// namesOfPandas reports whether fields are 0, 1, 2 and so on, as pandas names columns.
func namesOfPandas(fields []string) bool {
	for k, field := range fields {
		if field != strconv.Itoa(k) {
			return false
		}
	}
	return len(fields) > 0
}

// openCSV reads the first line. A line without any number is a header. So is a line of three or
// more columns 0, 1, 2 and so on, the names that pandas gives to columns.
func openCSV(r io.Reader) (source, error) {
	lines := newLines(r)
	first, err := lines.fields()
	switch {
	case err == io.EOF:
		return source{}, errors.New("empty file; want rows of numbers")
	case err != nil:
		return source{}, err
	case strings.HasPrefix(first[0], magic):
		return source{}, errors.New("it is an .npy file: give it a name that ends so")
	case len(first) >= 2 && first[0] == "" && namesOfPandas(first[1:]):
		return source{}, errors.New("line 1 has no first number" + pandasHint)
	case len(first) > maxSide:
		return source{}, tooWide(len(first))
	}
	s := source{rows: -1, columns: len(first), parts: 1}
	number := slices.ContainsFunc(first, func(field string) bool {
		_, err := parse(field)
		return err == nil || errors.Is(err, errNotFinite) || field == ""
	})
	if !number || len(first) >= 3 && namesOfPandas(first) {
		s.header, first = first, nil
	}
	s.next = func(dst []float64) (err error) {
		fields := first // of the first line, where it is no header
		if first = nil; fields == nil {
			if fields, err = lines.fields(); err != nil {
				return err
			}
		}
		if len(fields) != len(dst) {
			return fmt.Errorf("line %d has %d columns, but the first has %d", lines.n, len(fields), len(dst))
		}
		for k, field := range fields {
			if dst[k], err = parse(field); err != nil {
				return fmt.Errorf("line %d, column %d: %.40q is not a finite number", lines.n, k+1, field)
			}
		}
		return nil
	}
	return s, nil
}

// maxLine has room for maxSide numbers of 25 characters.
const maxLine = 25 * maxSide

// lines reads the lines of a file, each of which has a largest length. (A csv.Reader of the whole
// file would hold the rest of it where a quote is not closed.)
type lines struct {
	*bufio.Scanner
	n int // of the last line, from 1
}

func newLines(r io.Reader) *lines {
	l := &lines{Scanner: bufio.NewScanner(r)}
	l.Buffer(nil, maxLine)
	return l
}

// fields returns the fields of the next line that is not empty, without spaces around them, and
// io.EOF after the last.
func (l *lines) fields() ([]string, error) {
	for l.Scan() {
		l.n++
		text := l.Text()
		if l.n == 1 {
			text = strings.TrimPrefix(text, "\ufeff") // the byte order mark that some spreadsheets write
		}
		if text == "" {
			continue
		}
		fields := strings.Split(text, ",")
		if strings.Contains(text, `"`) { // a field may hold a comma
			var err error
			fields, err = csv.NewReader(strings.NewReader(text)).Read()
			if parse := new(csv.ParseError); errors.As(err, &parse) {
				return nil, fmt.Errorf("line %d, character %d: %w", l.n, parse.Column, parse.Err)
			}
		}
		for k := range fields {
			fields[k] = strings.TrimSpace(fields[k])
		}
		return fields, nil
	}
	if errors.Is(l.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d is longer than %d characters; want at most %d columns", l.n+1, maxLine, maxSide)
	}
	if l.Err() != nil {
		return nil, l.Err()
	}
	return nil, io.EOF
}

var errNotFinite = errors.New("not finite")

func parse(field string) (float64, error) {
	switch strings.ToLower(field) {
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	}
	v, err := strconv.ParseFloat(field, 64)
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		err = errNotFinite
	}
	return v, err
}

// maxPlain is the smallest integer that is written with an exponent. Below it, a float64
// holds every integer, and the digits of an integer are the shortest text that reads back
// as the same number.
const maxPlain = 1e15

// WriteCSV writes a matrix row by row, without a header: integers below 10¹⁵ as
// integers, other numbers in the shortest form that reads back as the same. A first row of 0, 1, 2
// and so on begins with 0.0, so that nobody takes it for the names of columns. When ctx ends,
// the error is the context's.
func WriteCSV(ctx context.Context, w io.Writer, m mat.Matrix) error {
	first := true
	return eachRow(ctx, w, m, func(row []float64, line []byte) ([]byte, error) {
		for k, v := range row {
			if k > 0 {
				line = append(line, ',')
			}
			format := byte('g')
			if v == math.Trunc(v) && math.Abs(v) < maxPlain {
				format = 'f'
			}
			line = strconv.AppendFloat(line, v, format, -1, 64)
		}
		if first && len(row) >= 3 && namesOfPandas(strings.Split(string(line), ",")) {
			line = append([]byte("0.0"), line[1:]...)
		}
		first = false
		return append(line, '\n'), nil
	})
}

// eachRow writes a matrix row by row, so that memory never holds a large matrix twice. encode
// appends a row to a line.
func eachRow(ctx context.Context, w io.Writer, m mat.Matrix, encode func(row []float64, line []byte) ([]byte,
	error)) error {
	rows, _ := m.Dims()
	var row []float64
	var line []byte
	for i := range rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		row = matrix.Row(row, i, m)
		var err error
		if line, err = encode(row, line[:0]); err != nil {
			return err
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}
