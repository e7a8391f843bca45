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
	"unicode"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/matrix"
)

// pandasHint says how pandas writes a table without its names of rows and columns.
const pandasHint = "; it is a name that pandas gives: write the table with header=False and index=False"

// openCSV reads the first lines. column is the name of the one column that is read; "" stands for
// all.
func openCSV(r io.Reader, column string) (source, error) {
	lines := newLines(r)
	first, err := lines.fields()
	switch {
	case err == io.EOF:
		return source{}, errors.New("empty file; want rows of numbers")
	case err != nil:
		return source{}, err
	case strings.HasPrefix(first[0], magic):
		return source{}, errors.New("it is an .npy file: give it a name that ends so")
	case column == "" && len(first) >= 2 && first[0] == "" && first[1] == "0":
		return source{}, errors.New("line 1 has no first number" + pandasHint)
	case len(first) > maxSide:
		return source{}, tooWide(len(first))
	}
	s := source{rows: -1, columns: len(first), parts: 1, line: first}
	from, to := 0, len(first)
	if column != "" {
		from = slices.Index(first, column)
		if to = from + 1; from < 0 {
			return source{}, fmt.Errorf("no column %.40q; line 1 has %s", column, someOf(first))
		}
		s.columns, s.first = 1, theNames
	} else {
		if s.first = readingOf(first, lines.peek()); s.first == theNames {
			if k := slices.IndexFunc(first, likeNumber); k >= 0 {
				return source{}, fmt.Errorf("line 1, column %d: %.40q is neither a number nor a name with a letter%s",
					k+1, first[k], separatorHint(first[k]))
			}
		}
	}
	s.next = func(dst []float64) (err error) {
		fields := first // of the first line, where it is no header
		if first = nil; fields == nil {
			if fields, err = lines.fields(); err != nil {
				return err
			}
		}
		if len(fields) != len(s.line) {
			return fmt.Errorf("line %d has %d columns, but the first has %d%s", lines.n, len(fields), len(s.line),
				separatorHint(strings.Join(fields, "")))
		}
		for k, field := range fields[from:to] {
			if dst[k], err = parse(field); err != nil {
				return fmt.Errorf("line %d, column %d: %.40q is not a finite number%s", lines.n, from+k+1, field,
					separatorHint(field))
			}
		}
		return nil
	}
	s.skip = func() { first = nil }
	return s, nil
}

// likeNumber reports whether a field without a letter has a digit: a number that somebody mistyped.
func likeNumber(field string) bool {
	return strings.ContainsAny(field, "0123456789") && !strings.ContainsFunc(field, unicode.IsLetter)
}

// separatorHint says what separates numbers of a field that is none.
func separatorHint(field string) string {
	for _, other := range [][2]string{{";", "semicolons"}, {"\t", "tabs"}, {"|", "|"}, {" ", "spaces"}} {
		if strings.Contains(field, other[0]) {
			return "; its columns are separated by " + other[1] + ": want commas, and points in numbers"
		}
	}
	return ""
}

// maxLine has room for maxSide numbers of 25 characters.
const maxLine = 25 * maxSide

// lines reads the lines of a file, each of which has a largest length. (A csv.Reader of the whole
// file would hold the rest of it where a quote is not closed.)
type lines struct {
	*bufio.Scanner
	n     int    // of the last line, from 1
	ahead []line // lines that were read to see what the first one is
}

// line is a line that was read, or the error of reading it.
type line struct {
	fields []string
	n      int
	err    error
}

// peek reads some lines, which fields returns again, and returns those with numbers.
func (l *lines) peek() (out [][]string) {
	n := l.n
	for len(l.ahead) < peeked {
		fields, err := l.scan()
		l.ahead = append(l.ahead, line{fields, l.n, err})
		if err != nil {
			break
		}
		out = append(out, fields)
	}
	l.n = n
	return out
}

func newLines(r io.Reader) *lines {
	l := &lines{Scanner: bufio.NewScanner(r)}
	l.Buffer(nil, maxLine)
	return l
}

// fields returns the fields of the next line that is not empty, without spaces around them, and
// io.EOF after the last.
func (l *lines) fields() ([]string, error) {
	if len(l.ahead) == 0 {
		return l.scan()
	}
	next := l.ahead[0]
	l.ahead, l.n = l.ahead[1:], next.n
	return next.fields, next.err
}

// scan is fields behind the lines that were read ahead.
func (l *lines) scan() ([]string, error) {
	for l.Scan() {
		l.n++
		text := l.Text()
		switch {
		case strings.HasPrefix(text, "\xff\xfe"), strings.HasPrefix(text, "\xfe\xff"),
			strings.IndexByte(text, 0) >= 0 && strings.IndexByte(text, 0) < 2: // each second byte is 0
			return nil, errors.New("the text is in UTF-16, as PowerShell writes it: want UTF-8")
		case l.n == 1 && strings.ContainsFunc(text, func(c rune) bool { return c < ' ' && c != '\t' && c != '\r' }) &&
			!strings.HasPrefix(text, magic):
			return nil, errors.New("it is no text, but perhaps compressed, or of a spreadsheet: want lines of numbers " +
				"with commas, or .npy")
		case strings.Contains(text, "\r"):
			return nil, fmt.Errorf("line %d: a CR alone ends lines: want LF, or CR and LF", l.n)
		case l.n == 1:
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
	if strings.ContainsAny(field, "_xX") { // Go's, and nobody else's
		return 0, strconv.ErrSyntax
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
// integers, other numbers in the shortest form that reads back as the same. A first row that counts from 0 or 1
// begins with 0.0 or 1.0, so that nobody takes it for the names of columns. When ctx ends, the error is the context's.
func WriteCSV(ctx context.Context, w io.Writer, m mat.Matrix) error {
	rows, _ := m.Dims()
	first := true
	return eachRow(ctx, m, &RowWriter{w: w, encode: func(line []byte, row []float64) []byte {
		for _, v := range row {
			format := byte('g')
			if v == math.Trunc(v) && math.Abs(v) < maxPlain {
				format = 'f'
			}
			line = append(strconv.AppendFloat(line, v, format, -1, 64), ',')
		}
		line[len(line)-1] = '\n'
		if first && (rows > 2 && len(row) == 1 || len(row) > 2) {
			if _, counts := countsFrom(strings.Split(string(line[:len(line)-1]), ",")); counts {
				line = slices.Insert(line, 1, '.', '0')
			}
		}
		first = false
		return line
	}})
}

// eachRow writes a matrix row by row, so that memory never holds a large matrix twice.
func eachRow(ctx context.Context, m mat.Matrix, w *RowWriter) error {
	rows, _ := m.Dims()
	var row []float64
	for i := range rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		row = matrix.Row(row, i, m)
		if err := w.Write(row); err != nil {
			return err
		}
	}
	return nil
}

// RowWriter writes rows of numbers one after the other, so that memory need not hold them all.
type RowWriter struct {
	w      io.Writer
	encode func(line []byte, numbers []float64) []byte // appends them
	line   []byte
}

// Write writes the next rows, each beside the one before. The error is the writer's.
func (w *RowWriter) Write(numbers []float64) error {
	w.line = w.encode(w.line[:0], numbers)
	_, err := w.w.Write(w.line)
	return err
}

// NewCSVRows returns a writer of lines of text, each number in the shortest form that reads back as
// the same. It writes a line with the names of columns, where there are several.
func NewCSVRows(w io.Writer, columns ...string) (*RowWriter, error) {
	var err error
	if len(columns) > 1 {
		_, err = io.WriteString(w, strings.Join(columns, ",")+"\n")
	}
	return &RowWriter{w: w, encode: func(line []byte, numbers []float64) []byte {
		for i, v := range numbers {
			line = append(strconv.AppendFloat(line, v, 'g', -1, 64), ',')
			if (i+1)%len(columns) == 0 {
				line[len(line)-1] = '\n'
			}
		}
		return line
	}}, err
}
