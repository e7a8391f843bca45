package arrayfile

import (
	"fmt"
	"math"
	"slices"
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
// name columns so. One or two columns 0, 1 may be bits or labels: they are names where all numbers
// below them have a point, and else doubtful. So are the labels of levels, which are even or of few
// digits, unless other rows are like them; and a number without a point above many that all have one.
func readingOf(first []string, below [][]string) reading {
	var values []float64
	words := 0
	for _, field := range first {
		switch v, err := parse(field); {
		case err == nil:
			values = append(values, v)
		case err == errNotFinite:
			return aRow
		case field != "":
			words++
		}
	}
	from, counts := countsFrom(first)
	// A program writes a point in all of its numbers, or where it is needed: in some of many.
	plain := len(below) >= peeked/2 && !anyPointed(first) && pointed(below)
	switch {
	case len(values) == 0 && words > 0:
		return theNames
	case len(values) < len(first) || len(below) == 0 && len(first) < 3:
		return aRow
	case counts && len(first) >= 3, plain && len(first) >= 3:
		return numberName
	case plain && counts && from == 0:
		return numberName
	case plain:
		return doubtful
	case counts && (from == 0 || len(first) == 2 && pointed(below)):
		return doubtful
	case len(first) >= 3 && likeLabels(first, values, below):
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

// anyPointed reports whether some number of a line has a point or an exponent.
func anyPointed(fields []string) bool {
	return slices.ContainsFunc(fields, func(field string) bool { return strings.ContainsAny(field, ".eE") })
}

// likeLabels reports whether numbers may be the labels of levels, and no row below is like them:
// they ascend, and are even or have less than half the characters.
func likeLabels(first []string, values []float64, below [][]string) bool {
	even, ascending := steps(values)
	if !ascending || len(below) == 0 {
		return false
	}
	short := true
	for _, fields := range below {
		row := make([]float64, len(fields))
		for k, field := range fields {
			row[k], _ = parse(field)
		}
		if e, _ := steps(row); e {
			even = false
		}
		short = short && 2*len(strings.Join(first, "")) < len(strings.Join(fields, ""))
	}
	return even || short
}

// steps reports whether numbers ascend, and whether they do so evenly.
func steps(values []float64) (even, ascending bool) {
	even, ascending = len(values) > 1, true
	for k := 1; k < len(values); k++ {
		step, mean := values[k]-values[k-1], (values[len(values)-1]-values[0])/float64(len(values)-1)
		ascending = ascending && step > 0
		even = even && step > 0 && math.Abs(step-mean) <= 1e-6*mean
	}
	return even, ascending
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
