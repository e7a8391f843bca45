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
	"belsim/theory/base/memory"
)

// ReadCSV reads a matrix of numbers (or true and false) without a header, at
// most MaxSide × MaxSide. name is the file's, for errors.
func ReadCSV(r io.Reader, name string) (*mat.Dense, error) {
	records := newRecords(r, name)
	var data []float64
	rows, columns := 0, 0
	for {
		record, err := readRecord(records, name)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		rows++
		if rows == 1 {
			columns = len(record)
		}
		if err := checkSides(name, rows, max(columns, len(record))); err != nil {
			return nil, err
		}
		if rows == 1 && columns >= 3 && namesOfPandas(record) {
			return nil, fmt.Errorf("%s: row 1 is 0, 1, 2 and so on%s", name, pandasHint)
		}
		if len(record) != columns {
			return nil, fmt.Errorf("%s: row %d has %d columns, but row 1 has %d", name, rows, len(record), columns)
		}
		for k, field := range record {
			v, err := parse(strings.TrimSpace(field))
			if err != nil {
				hint := ""
				if rows == 1 {
					hint = "; no header is expected"
					if k == 0 && namesOfPandas(record[1:]) {
						hint = pandasHint
					}
				}
				return nil, fmt.Errorf("%s: row %d, column %d: %.40q is not a finite number%s", name, rows, k+1, field, hint)
			}
			if len(data) == cap(data) { // it grows to at most twice as much, beside the old one
				if err := memory.Check(name, memory.Product(3, cap(data), 8)); err != nil {
					return nil, err
				}
			}
			data = append(data, v)
		}
	}
	if rows == 0 {
		return nil, fmt.Errorf("%s: empty file; want a matrix with a row for each level and a column for each bit", name)
	}
	return mat.NewDense(rows, columns, data), nil
}

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
func newRecords(r io.Reader, name string) *csv.Reader {
	br := bufio.NewReader(r)
	if mark, _ := br.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = br.Discard(len(byteOrderMark)) // it was peeked at
	}
	records := csv.NewReader(&lineReader{r: br, name: name})
	records.FieldsPerRecord = -1
	records.ReuseRecord = true
	return records
}

// readRecord reads the next record; its errors name the file.
func readRecord(records *csv.Reader, name string) ([]string, error) {
	record, err := records.Read()
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return nil, fmt.Errorf("%s: row %d, character %d: %w", name, parse.Line, parse.Column, parse.Err)
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
