package arrayfile

import (
	"fmt"
	"strconv"
	"strings"
)

// reading is what the first line of a .csv is.
type reading int

const (
	aRow       reading = iota
	theNames           // of the columns
	numberName         // the names of the columns, which are numbers
	doubtful           // a row, or the names of the columns
)

// peeked is how many lines below the first one show what that is.
const peeked = 32

// readingOf reads the first line of a .csv, beside the lines below it. A line without any number is
// names. So is a line of three or more columns 0, 1, 2 or 1, 2, 3 and so on: pandas and others
// name columns so. One or two columns 0, 1 may be bits or labels: they are names where many numbers
// below them all have a point, and else doubtful.
func readingOf(first []string, below [][]string) reading {
	numbers, words := 0, 0
	for _, field := range first {
		switch _, err := parse(field); {
		case err == nil:
			numbers++
		case err == errNotFinite:
			return aRow
		case field != "":
			words++
		}
	}
	from, counts := countsFrom(first)
	switch {
	case numbers == 0 && words > 0:
		return theNames
	case !counts || len(below) == 0 && len(first) < 3:
		return aRow
	case len(first) >= 3, from == 0 && len(below) >= peeked/2 && pointed(below):
		return numberName
	case from == 0 || len(first) == 2 && pointed(below):
		return doubtful
	}
	return aRow
}

// countsFrom reports whether fields are from, from + 1 and so on, and from is 0 or 1.
func countsFrom(fields []string) (from int, ok bool) {
	if fields[0] == "1" {
		from = 1
	}
	for k, field := range fields {
		if field != strconv.Itoa(from+k) {
			return 0, false
		}
	}
	return from, true
}

// pointed reports whether all numbers of some lines have a point or an exponent, as programs write
// floats.
func pointed(lines [][]string) bool {
	for _, fields := range lines {
		for _, field := range fields {
			if !strings.ContainsAny(field, ".eE") {
				return false
			}
		}
	}
	return true
}

// Doubtful reports whether line 1 of a .csv may be the names of its columns or its first row, such
// as 0, which pandas writes above a column without a name. Next fails until Settle says which it is.
func (r *Rows) Doubtful() bool { return r.first == doubtful }

// Numbered reports whether line 1 of a .csv was left out as the names of columns, which are numbers.
func (r *Rows) Numbered() bool { return r.first == numberName }

// Settle says whether line 1, which may be the names of columns or a row, is the names. Nothing was
// read before it.
func (r *Rows) Settle(names bool) {
	r.first = aRow
	if names {
		r.first = numberName
	}
	r.settled = true
}

// Note says that line 1 was left out, where it is numbers; else it is "".
func (r *Rows) Note() string {
	if !r.Numbered() {
		return ""
	}
	return fmt.Sprintf("%s: line 1 (%s) is left out, as the names of the columns", r.name, someOf(r.line))
}

// Doubt is the error of a line 1 that may be names or a row, and what to do.
func (r *Rows) Doubt() error {
	return fmt.Errorf("%s: line 1 (%s) may be the names of columns, as pandas writes them, or the first row: delete "+
		"the line if it is names; else put a line of words above it", r.name, someOf(r.line))
}
