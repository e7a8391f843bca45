package table

import (
	"cmp"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Style is the layout of a table as plain text.
type Style byte

const (
	// Grid aligns all columns to the right.
	Grid Style = iota
	// List aligns all columns to the left, and indents the lines by two spaces: names,
	// their values, and notes.
	List
)

// Table is a table for people: data, which Write prints.
type Table struct {
	Head  []string // headings; nil for a table without
	Rows  [][]string
	Style Style
	// Line is the row above which text has a line; 0 for none.
	Line int
}

// Column is a column whose cells are computed from a row.
type Column[R any] struct {
	field string // it stands in the place of this one, or at the end where there is none of this name
	head  string
	cell  func(R) string
}

// Replace computes the column of a field with a text tag, which says where it stands. An
// empty head leaves the heading as the tag has it. The field is named as in CSV and
// JSON.
func Replace[R any](field, head string, cell func(R) string) Column[R] {
	return Column[R]{field, head, cell}
}

// Append computes a column that stands after the columns of the fields.
func Append[R any](head string, cell func(R) string) Column[R] {
	return Column[R]{"", head, cell}
}

// Of makes a table of rows of type R, a struct: a column for each field with a text tag,
// in order, then those that are appended.
func Of[R any](rows []R, columns ...Column[R]) *Table {
	t := &Table{Head: []string{}}
	fields := slices.DeleteFunc(fieldsOf(reflect.TypeFor[R]()), func(f field) bool { return !f.text })
	cells := make([]func(*R) string, len(fields))
	for i, f := range fields {
		t.Head = append(t.Head, f.head)
		cells[i] = func(row *R) string {
			if v, ok := f.at(reflect.ValueOf(row).Elem()); ok {
				return forPeople(f.verb, v)
			}
			return dash
		}
	}
	for _, c := range columns {
		cell := func(row *R) string { return c.cell(*row) }
		at := slices.IndexFunc(fields, func(f field) bool { return f.name == c.field })
		if at < 0 {
			t.Head, cells = append(t.Head, c.head), append(cells, cell)
			continue
		}
		cells[at], t.Head[at] = cell, cmp.Or(c.head, t.Head[at])
	}
	for r := range rows {
		line := make([]string, len(cells))
		for i, cell := range cells {
			line[i] = cell(&rows[r])
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// grid are the cells as a terminal shows them, the line of the headings first, and the widths of the
// columns. Missing cells are empty.
func (t *Table) grid() (lines [][]string, width []int) {
	n := len(t.Head)
	for _, cells := range t.Rows {
		n = max(n, len(cells))
	}
	width = make([]int, n)
	for _, cells := range append([][]string{t.Head}, t.Rows...) {
		line := make([]string, n)
		for k, cell := range cells {
			line[k] = Visible(cell)
			width[k] = max(width[k], utf8.RuneCountInString(line[k]))
		}
		lines = append(lines, line)
	}
	return lines, width
}

// fill are the spaces that a cell lacks to a width.
func fill(cell string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(cell)))
}

// Write prints the table for people, its columns two spaces apart.
func (t *Table) Write(w io.Writer) error {
	var b strings.Builder
	lines, width := t.grid()
	for i, cells := range lines {
		if i == 0 && t.Head == nil {
			continue
		}
		if t.Line > 0 && i == t.Line+1 {
			for _, n := range width {
				b.WriteString("  " + strings.Repeat("─", n))
			}
			b.WriteByte('\n')
		}
		for k, cell := range cells {
			space := fill(cell, width[k])
			switch {
			case t.Style == Grid:
				cell = space + cell
			case k < len(cells)-1:
				cell += space
			}
			b.WriteString("  " + cell)
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}
