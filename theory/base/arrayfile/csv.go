package arrayfile

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/matrix"
)

// pandasHint says how pandas writes a table without its names of rows and columns.
const pandasHint = "; the names that pandas gives to rows and columns are no numbers of the table: write it with header=False and index=False"

// namesOfPandas reports whether fields are 0, 1, 2 and so on, as pandas names columns.
func namesOfPandas(fields []string) bool {
	for k, field := range fields {
		if strings.TrimSpace(field) != strconv.Itoa(k) {
			return false
		}
	}
	return len(fields) > 0
}

// newRecords returns a reader of records of numbers. The file may begin with a byte order
// mark. Lines have a largest length: see lineReader.
func newRecords(r io.Reader) *csv.Reader {
	br := bufio.NewReader(r)
	if mark, _ := br.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = br.Discard(len(byteOrderMark)) // it was peeked at
	}
	records := csv.NewReader(&lineReader{r: br})
	records.FieldsPerRecord = -1
	records.ReuseRecord = true
	return records
}

// readRecord reads the next record; its errors say where they are.
func readRecord(records *csv.Reader) ([]string, error) {
	record, err := records.Read()
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return nil, fmt.Errorf("line %d, character %d: %w", parse.Line, parse.Column, parse.Err)
	}
	return record, err
}

// byteOrderMark stands at the beginning of UTF-8 files that some spreadsheets write.
const byteOrderMark = "\ufeff"

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

// lineReader returns an error when a line is longer than the longest row of a matrix, or
// when it ends within quotes. A reader of records above it then never holds a record of
// gigabytes: a quote that is never closed would otherwise include the rest of the file.
type lineReader struct {
	r      io.Reader
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
				return 0, fmt.Errorf("line %d, character %d: the line ends within quotes; want numbers", l.line+1, l.length)
			}
			l.line++
			l.length = 0
		}
		if l.length > maxLine {
			return 0, fmt.Errorf("line %d is longer than %d characters; want at most %d columns", l.line+1, maxLine, MaxSide)
		}
	}
	return n, err
}

// maxPlain is the smallest integer that is written with an exponent. Below it, a float64
// holds every integer, and the digits of an integer are the shortest text that reads back
// as the same number.
const maxPlain = 1e15

// WriteCSV writes a matrix row by row, without a header: integers below 10¹⁵ as
// integers, other numbers in the shortest form that reads back as the same. When ctx ends,
// the error is the context's.
func WriteCSV(ctx context.Context, w io.Writer, m mat.Matrix) error {
	rows, columns := m.Dims()
	var row []float64
	var line []byte
	for i := range rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		row = matrix.Row(row, i, m)
		line = line[:0]
		for k := range columns {
			if k > 0 {
				line = append(line, ',')
			}
			format := byte('g')
			if v := row[k]; v == math.Trunc(v) && math.Abs(v) < maxPlain {
				format = 'f'
			}
			line = strconv.AppendFloat(line, row[k], format, -1, 64)
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}
