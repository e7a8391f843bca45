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
	"belsim/theory/base/position"
)

// pandasHint says how pandas writes a table without its names of rows and columns.
const pandasHint = "; it is a name that pandas gives: write the table with header=False and index=False"

// namesOfPandas reports whether fields are 0, 1, 2 and so on, as pandas names columns.
func namesOfPandas(fields []string) bool {
	from, ok := countsFrom(fields)
	return ok && from == 0
}

// openCSV reads the first lines. column is the name of the one column that is read; "" stands for
// all.
func openCSV(r io.Reader, column string) (source, error) {
	lines := newLines(r)
	first, err := lines.fields()
	if err == nil && slices.Equal(first, []string{"sep=", ""}) { // which tells Excel that commas separate
		first, err = lines.fields()
	}
	switch {
	case err == io.EOF:
		return source{}, errors.New("empty file; want rows of numbers")
	case err != nil:
		return source{}, err
	case strings.HasPrefix(first[0], magic):
		return source{}, errors.New("it is an .npy file: give it a name that ends so")
	case column == "" && len(first) >= 2 && first[0] == "" && namesOfPandas(first[1:]):
		return source{}, errors.New("line 1 has no first number" + pandasHint)
	case len(first) > maxSide:
		return source{}, tooWide(len(first))
	}
	s := source{rows: -1, columns: len(first), parts: 1, line: first}
	from, to := 0, len(first)
	if column != "" {
		from = slices.Index(first, column)
		if to = from + 1; from < 0 {
			return source{}, fmt.Errorf("no column %.40q; line 1 has %s%s", column, someOf(first),
				separatorHint(strings.Join(first, "")))
		}
		if again := slices.Index(first[to:], column); again >= 0 {
			return source{}, fmt.Errorf("columns %s and %s are both called %.40q: want names that differ", position.At(to),
				position.At(to+again+1), column)
		}
		s.columns, s.first = 1, theNames
	} else {
		var below [][]string
		for _, l := range lines.peek() {
			below = append(below, l.fields)
		}
		if err := checkSeparators(append([]line{{first, lines.n, nil}}, lines.ahead...)); err != nil {
			return source{}, err
		}
		if s.first = readingOf(first, below); s.first == theNames {
			if err := notBelow(first, lines.ahead); err != nil {
				return source{}, err
			}
			if k := slices.IndexFunc(first, likeNumber); k >= 0 {
				return source{}, fmt.Errorf("line 1, column %d: %.40q is neither a number nor a name with a letter%s",
					k+1, first[k], separatorHint(first[k]))
			}
		}
	}
	truth, others := make([]bool, to-from), make([]bool, to-from) // by column: it has True, or numbers beyond 0 and 1
	s.next = func(dst []float64) (err error) {
		fields := first // of the first line, where it is no header
		if first = nil; fields == nil {
			if fields, err = lines.fields(); err != nil {
				return err
			}
		}
		if len(fields) != len(s.line) {
			return fmt.Errorf("line %d has %s, but the first has %d%s", lines.n, position.Counted(len(fields), "column"),
				len(s.line), separatorHint(strings.Join(fields, "")))
		}
		for k, field := range fields[from:to] {
			if dst[k], err = parse(field); err != nil {
				return fmt.Errorf("line %d, column %d: %.40q is not a finite number%s", lines.n, from+k+1, field,
					separatorHint(field))
			}
			truth[k], others[k] = truth[k] || isTruth(field), others[k] || dst[k] != 0 && dst[k] != 1
			if truth[k] && others[k] {
				return fmt.Errorf("line %d, column %d: %.40q: a column with True or False has no other numbers than 0 and 1",
					lines.n, from+k+1, field)
			}
		}
		return nil
	}
	s.skip = func() { first = nil }
	return s, nil
}

// isTruth reports whether a field is True or False.
func isTruth(field string) bool {
	return strings.EqualFold(field, "true") || strings.EqualFold(field, "false")
}

// checkSeparators refuses lines whose numbers are separated otherwise, perhaps with commas in them, and
// lines that all end with a comma: else their number of columns would be taken for the cause.
func checkSeparators(lines []line) error {
	for _, l := range lines[:min(2, len(lines))] { // names, and numbers
		for _, separator := range ";\t| " {
			numbers := strings.FieldsFunc(strings.Join(l.fields, "."), func(c rune) bool { return c == separator })
			if len(numbers) > 1 && !slices.ContainsFunc(numbers, func(n string) bool {
				_, err := parse(strings.TrimSpace(n))
				return err != nil
			}) {
				return fmt.Errorf("line %d is %.40q%s", l.n, strings.Join(l.fields, ","), separatorHint(string(separator)))
			}
		}
	}
	for _, l := range lines {
		if n := len(l.fields); l.err == nil && (n < 2 || l.fields[n-1] != "") {
			return nil
		}
	}
	return errors.New("each line ends with a comma, as if there were one more column: leave it out")
}

// notBelow refuses a line of one name above a line that is not one number, as the names in a file
// with other separators are: that their number is not the code's comes too late to say why.
func notBelow(first []string, ahead []line) error {
	if len(first) > 1 || len(ahead) == 0 || ahead[0].err != nil {
		return nil
	}
	next, hint := ahead[0].fields, separatorHint(strings.Join(ahead[0].fields, ","))
	if _, err := parse(next[0]); len(next) > 1 || err != nil && hint != "" {
		return fmt.Errorf("line 1 is one name, %.40q, and line %d has more columns%s", first[0], ahead[0].n, hint)
	}
	return nil
}

// likeNumber reports whether a field without a letter has a digit: a number that somebody mistyped.
func likeNumber(field string) bool {
	return strings.ContainsAny(field, "0123456789") && !strings.ContainsFunc(field, unicode.IsLetter)
}

// separatorHint says what separates numbers of a field that is none.
func separatorHint(field string) string {
	switch {
	case strings.Contains(field, ";"):
		return "; its columns are separated by semicolons: want commas, and points in numbers"
	case strings.Contains(field, "\t"):
		return "; its columns are separated by tabs: want commas, and points in numbers"
	case strings.Contains(field, "|"):
		return "; its columns are separated by |: want commas, and points in numbers"
	case strings.Contains(field, " "):
		return "; its columns are separated by spaces: want commas, as numpy.savetxt(..., delimiter=\",\") writes them"
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
	read  int    // the last of them
}

// line is a line that was read, or the error of reading it.
type line struct {
	fields []string
	n      int
	err    error
}

// peek reads some lines, which fields returns again, and returns those with numbers.
func (l *lines) peek() (out []line) {
	n := l.n
	for len(l.ahead) < peeked {
		fields, err := l.scan()
		l.ahead = append(l.ahead, line{fields, l.n, err})
		if err != nil {
			break
		}
		out = l.ahead
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
	if l.read < len(l.ahead) {
		next := l.ahead[l.read]
		l.ahead[l.read] = line{}
		l.read, l.n = l.read+1, next.n
		return next.fields, next.err
	}
	return l.scan()
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
			if fields, err = l.quoted(text); err != nil {
				return nil, err
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

// quoted returns the fields of a line with quotes, and reads on where it ends inside of them.
func (l *lines) quoted(text string) ([]string, error) {
	start, whole := l.n, strings.Builder{}
	whole.WriteString(text)
	for open := strings.Count(text, `"`)%2 == 1; open; open = open == (strings.Count(text, `"`)%2 == 0) {
		if whole.Len() > maxLine || !l.Scan() {
			return nil, fmt.Errorf("line %d: its last quote is not closed", start)
		}
		l.n, text = l.n+1, l.Text()
		whole.WriteString("\n" + text)
	}
	fields, err := csv.NewReader(strings.NewReader(whole.String())).Read()
	if parse := new(csv.ParseError); errors.As(err, &parse) {
		err = fmt.Errorf("line %d, character %d: %w", start-1+parse.Line, parse.Column, parse.Err)
	}
	return fields, err
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
// integers, other numbers in the shortest form that reads back as the same. A first row of 0, 1, 2
// or 1, 2, 3 and so on, a 0 above other numbers, and whole numbers above others, begin with 0.0 or
// 1.0 and so on, so that nobody takes them for the names of columns. When ctx ends, the error is the context's.
func WriteCSV(ctx context.Context, w io.Writer, m mat.Matrix) error {
	first := true
	rows, _ := m.Dims()
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
		if fields := strings.Split(string(line), ","); first && len(row) != 2 {
			_, counts := countsFrom(fields)
			if counts && (len(row) > 2 || rows > 2) || rows > 2 && !anyPointed(fields) && m.At(1, 0) != math.Trunc(m.At(1, 0)) {
				line = append([]byte(fields[0]+".0"), line[len(fields[0]):]...)
			}
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
